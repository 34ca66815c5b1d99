package wire

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

var testFrames = FramesOf(
	func(dst []byte, role string) []byte { return append(append(dst, '<'), role+"\n"...) },
	func(dst []byte) []byte { return append(dst, ">\n"...) },
	Marks{Tools: Pair{"[tools]\n", "\n[/tools]"}, Format: Pair{"[format]\n", "\n[/format]"},
		Call: Pair{"[call]\n", "\n[/call]"}, Name: "name ", Said: " says ", Gap: "\n\n", Break: "\n"})

// slowWording is the wording of a text.
func slowWording(plain string) string {
	quoted := AppendQuoted(nil, plain)
	return string(quoted[1 : len(quoted)-1])
}

// slowPrompt is Wording of what the oracle has read, joined.
func slowPrompt(r *Request, body object, turns []string, messages int) (prompt string) {
	if r.Kind == Chat {
		texts := make([]string, messages)
		for i, turn := range turns[:messages] {
			_, plain, _ := strings.Cut(turn, ": ")
			texts[i] = slowWording(plain)
		}
		return slowChat(r.p.b, texts, Shown{}, true)
	}
	if messages > 0 { // of a list, the first prompt
		_, plain, _ := strings.Cut(turns[0], ": ")
		prompt = slowWording(plain)
		if suffix, ok := body["suffix"].(string); ok {
			prompt += "\n" + slowWording(suffix)
		}
	}
	return prompt
}

func wordingOf(r *Request) string {
	return string(bytes.Join(r.Wording(nil, testFrames, Shown{}), nil))
}

// checkWording holds the wording of raw, if that is the inside of a JSON string, to that of what a decoder makes of it.
func checkWording(t *testing.T, r *Request, raw string) {
	t.Helper()
	body := []byte(`{"prompt":"` + raw + `"}`)
	if Parse(Completion, body, Limits{}, r) != nil || len(r.Raw("prompt")) != len(raw)+2 {
		return
	}
	var plain string
	if err := json.Unmarshal([]byte(`"`+raw+`"`), &plain); err != nil {
		t.Fatalf("%q is accepted: %v", raw, err)
	}
	pieces := r.Wording(nil, testFrames, Shown{})
	got := string(bytes.Join(pieces, nil))
	if got != slowWording(plain) || len(got) > len(raw) {
		t.Fatalf("%q is worded %q, want %q", raw, got, slowWording(plain))
	}
	if len(raw) >= longText && r.prompts[0].text.form&formLoose == 0 && &pieces[0][0] != &body[len(`{"prompt":"`)] {
		t.Fatalf("%q is copied", raw)
	}
	var again string
	if err := json.Unmarshal([]byte(`"`+got+`"`), &again); err != nil || again != plain {
		t.Fatalf("%q is worded %q, which means %q: %v", raw, got, again, err)
	}
	if twice := string(appendWording(nil, []byte(got))); twice != got {
		t.Fatalf("the wording %q is worded %q", got, twice)
	}
	r.Turns(nil)
	if after := wordingOf(r); after != got {
		t.Fatalf("%q is worded %q once it was read, %q before", raw, after, got)
	}
}

func FuzzWording(f *testing.F) {
	for _, piece := range pieces {
		f.Add(piece)
	}
	for _, raw := range []string{`\u0041\/\u002F`, `\u005c\u0022\u000a\u000A`, `\u001f\u001F\u007f`,
		`\ud83d\ude00\uFFFD`, `a\\u0041`, `\\\/`, strings.Repeat(`\n`, 70) + `\/`} {
		f.Add(raw)
	}
	var r Request
	f.Fuzz(func(t *testing.T, raw string) { checkWording(t, &r, raw) })
}

func TestTextsThatMeanTheSameAreWordedAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	spellings := [][]string{{`\n`, `\u000a`, `\u000A`}, {`\"`, `\u0022`}, {`\\`, `\u005c`, `\u005C`},
		{`/`, `\/`, `\u002f`}, {"é", `\u00e9`},
		{"😀", `\ud83d\ude00`, `\uD83D\uDE00`}, {`\u0001`}, {`\u001f`, `\u001F`},
		{"plain text, and more of it", "plain text\\u002c and more of it"}, {"向", `\u5411`}}
	var a, b Request
	byEveryMeans(t, func(t *testing.T) {
		for range 2000 {
			var one, other strings.Builder
			for range rng.IntN(30) {
				ways := spellings[rng.IntN(len(spellings))]
				one.WriteString(ways[rng.IntN(len(ways))])
				other.WriteString(ways[rng.IntN(len(ways))])
			}
			checkWording(t, &a, one.String())
			checkWording(t, &b, other.String())
			if wordingOf(&a) != wordingOf(&b) {
				t.Fatalf("%q is worded %q, %q is %q", one.String(), wordingOf(&a), other.String(), wordingOf(&b))
			}
		}
	})
}

// Long texts are pieces of the body where that spells them as they are worded.
func TestLongTextsAreWordedInTheirPlace(t *testing.T) {
	long := strings.Repeat("a\\n\\\"b\\\"", 200)
	body := []byte(`{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"` +
		long + `"},{"type":"text","text":"\/d"}]},` +
		`{"role":"assistant","content":"` + long + `\/"}]}`)
	var r Request
	if err := Parse(Chat, body, Limits{}, &r); err != nil {
		t.Fatal(err)
	}
	pieces := r.Wording(nil, testFrames, Shown{})
	if got, want := string(bytes.Join(pieces, []byte("|"))),
		"<system\ns>\n<user\n|"+long+`|\n/d`+">\n<assistant\n"+long+"/>\n<assistant\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if at := bytes.Index(body, []byte(long)); len(pieces) != 3 || &pieces[1][0] != &body[at] {
		t.Errorf("a long text is copied, or else %d pieces", len(pieces))
	}
	if n := testing.AllocsPerRun(20, func() {
		_ = Parse(Chat, body, Limits{}, &r)
		pieces = r.Wording(pieces[:0], testFrames, Shown{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What is to come behind the answer is part of the prompt, apart from what comes before it; the answer is not to be
// continued from its text.
func TestASuffixIsPartOfThePrompt(t *testing.T) {
	worded := func(body string) (string, bool) {
		t.Helper()
		var r Request
		if err := Parse(Completion, []byte(body), Limits{}, &r); err != nil {
			t.Fatal(err)
		}
		return string(bytes.Join(r.Wording(nil, nil, Shown{}), nil)), r.Continuable()
	}
	for body, want := range map[string]string{
		`{"prompt":"a","suffix":"b"}`:       "a\nb",
		`{"suffix":"\u0062","prompt":"a"}`:  "a\nb",
		`{"prompt":"ab","suffix":null}`:     "ab",
		`{"prompt":[1,2],"suffix":"b"}`:     "",
		`{"prompt":"a","suffix":"\n\"c\""}`: "a\n\\n\\\"c\\\"",
	} {
		got, continuable := worded(body)
		if whole := !strings.Contains(got, "\n") && got != ""; got != want || continuable != whole && got != "" {
			t.Errorf("%s: %q, continuable %v, want %q", body, got, continuable, want)
		}
	}
}
