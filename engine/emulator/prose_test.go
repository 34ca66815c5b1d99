package emulator

import (
	"fmt"
	"strings"
	"testing"

	"octet/engine"
)

var specialists = []string{"template", "stl", "algo", "memory", "concurrency", "systems", "build", "debug", "generic"}

func said(v script) (text string) {
	for i := range v.Len() {
		text += string(v.Text(nil, i))
	}
	return text
}

func TestEveryProseAnswerHas40To160Tokens(t *testing.T) {
	for _, name := range specialists {
		a, least, most := newAnswerWriter(name), 1000, 0
		for i := range 400 {
			v := a.answer(builtinCodec{},
				textPrompt(fmt.Appendf(nil, "fix my_%s_number_%d", strings.Repeat("x", i%12), i)), 0,
				0)
			least, most = min(least, v.Len()), max(most, v.Len())
			if text := said(v); strings.ContainsAny(text, "\x00\t") || strings.Contains(text, "{topic}") ||
				strings.Count(text, "```") != 2 {
				t.Fatalf("%s: malformed answer %q", name, text)
			}
		}
		if least < 40 || most > 160 {
			t.Errorf("%s: answers of %d to %d tokens", name, least, most)
		}
	}
}

func TestProseLeavesNoSlotOpen(t *testing.T) {
	for _, name := range specialists {
		a := newAnswerWriter(name)
		for _, w := range a.words {
			if !strings.Contains(strings.Join(append(append(a.open, a.code...), a.close...), " "), w.slot) {
				t.Errorf("%s: %s is never used", name, w.slot)
			}
		}
	}
}

func TestProseVariesWithPromptAndVariantAndNothingElse(t *testing.T) {
	a, b := newAnswerWriter("memory-7b"), newAnswerWriter("memory-7b")
	p := textPrompt([]byte("why does my arena leak?"))
	if said(a.answer(builtinCodec{}, p, 0, 0)) != said(b.answer(builtinCodec{}, p, 0, 0)) {
		t.Error("two replicas answer differently")
	}
	answers := map[string]bool{}
	for i := range 20 {
		answers[said(a.answer(builtinCodec{}, p, uint64(i), 0))] = true
		answers[said(a.answer(builtinCodec{}, textPrompt(fmt.Append(nil, "question ", i)), 0, 0))] = true
	}
	if len(answers) < 25 {
		t.Errorf("%d answers to 40 questions", len(answers))
	}
}

// An answer that was cut off after k tokens goes on with token k when its beginning comes back as the prompt's end.
func TestContinuedProseIsTheRestOfTheAnswer(t *testing.T) {
	a := newAnswerWriter("debug")
	question := "<|user|>\nwho frees conn_state?<|end|>\n<|assistant|>\n"
	all := a.answer(builtinCodec{}, textPrompt([]byte(question)), 7, 0)
	for k := range all.Len() {
		text := question
		for i := range k {
			text = string(all.Text([]byte(text), i))
		}
		p := textPrompt([]byte(text))
		if want := len(engine.Tokenize(nil, []byte(question))) + k; len(p.tokens) != want {
			t.Fatalf("after %d tokens the prompt has %d, not %d", k, len(p.tokens), want)
		}
		if got, want := said(a.answer(builtinCodec{}, p.earlier(builtinCodec{}, k), 7, k)),
			said(all)[len(text)-len(question):]; got != want {
			t.Fatalf("after %d tokens: %q, not %q", k, got, want)
		}
	}
}

func TestTopicIsTheLikeliestWordOfTheLastQuestion(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Please explain how std::move_only_function works", "std::move_only_function"},
		{
			"<|user|>\nfirst_thing<|end|>\n<|assistant|>\nok<|end|>\n<|user|>\nand the " +
				"RingBuffer?<|end|>\n<|assistant|>\n", "RingBuffer"},
		{"how do I reverse a linked list?", "reverse"},
		{"??", noTopic},
		{"", noTopic},
	} {
		if got := topic([]byte(c.text)); got != c.want {
			t.Errorf("%q is about %q, not %q", c.text, got, c.want)
		}
	}
}

func TestIndexVoiceSaysMarksThatTokenizeToThemselves(t *testing.T) {
	v := indexScript{request: strings.Repeat("~", maxRequestID), from: 41}
	var text []byte
	var ids []uint32
	for i := range 1100 {
		text = v.Text(text, i)
		ids = append(ids, engine.TokenID(v.Text(nil, i)))
	}
	got := engine.Tokenize(nil, text)
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("1100 tokens came back as %d", len(got))
	}
}
