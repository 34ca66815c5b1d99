package sse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// told is a chunk of a choice as vLLM sends it where the usage so far was asked for.
//
//nolint:lll // raw text that cannot be broken
func told(index int, text, finish string, tokens int) string {
	if finish != "null" {
		finish = `"` + finish + `"`
	}
	return fmt.Sprintf(
		`data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":%d,"delta":{"content":%q},"logprobs":null,"finish_reason":%s,"token_ids":null}],`+
			`"usage":{"prompt_tokens":8,"total_tokens":%d,"completion_tokens":%d,"completion_tokens_details":null}}`+
			"\n\n",
		index, text, finish, 8+tokens, tokens)
}

// untold is the same chunk where it was not asked for.
func untold(index int, text, finish string) string {
	event := told(index, text, finish, 0)
	return event[:strings.Index(event, `,"usage"`)] + "}\n\n"
}

//nolint:lll // raw text that cannot be broken
const totals = `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":8,"total_tokens":20,"completion_tokens":12}}` + "\n\n"

// inPieces feeds a stream in pieces of at most n bytes; 0 is at random.
func inPieces(t *testing.T, o Options, stream string, n int) (out string, s *Scanner) {
	t.Helper()
	s = new(Scanner)
	s.Reset(o)
	for rest := []byte(stream); len(rest) > 0; {
		size := min(len(rest), n)
		if n == 0 {
			size = 1 + rand.IntN(len(rest))
		}
		got, err := s.Feed(rest[:size])
		if err != nil {
			t.Fatal(err)
		}
		out += string(got[0]) + string(got[1])
		rest = rest[size:]
	}
	return out, s
}

var cuts = []int{1 << 20, 1, 7, 100, 300, 0, 0, 0}

func TestTokensAreCountedAsTheEngineTells(t *testing.T) {
	stream := told(0, "a", "null", 1) + told(0, "", "null", 2) + told(0, "bc", "null", 3) + told(0, "d e f", "null",
		7) + told(0, "g", "null", 8) + told(0, "", "null", 9)
	for _, n := range cuts {
		_, s := inPieces(t, Options{Told: true}, stream, n)
		if s.Tokens() != 8 || s.Events() != 4 || !s.Told() { // the ninth's text is not there yet
			t.Errorf("in pieces of %d: %d tokens, %d events, told %v", n, s.Tokens(), s.Events(), s.Told())
		}
		if _, s = inPieces(t, Options{}, stream, n); s.Tokens() != 4 || s.Told() {
			t.Errorf("in pieces of %d: %d tokens that nobody asked for, told %v", n, s.Tokens(), s.Told())
		}
	}
}

//nolint:lll // raw text that cannot be broken
func TestTheTimingsOfLlamaCppTellTheTokens(t *testing.T) {
	event := func(text string, n int) string {
		return fmt.Sprintf(
			`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":%q}}],"id":"a","timings":{"prompt_n":5,"predicted_n":%d,"predicted_ms":1.5}}`+"\n\n", text, n)
	}
	stream := event("a", 1) + event("b", 2) + event("cd", 5)
	out, s := inPieces(t, Options{Told: true, HideTimings: true}, stream, 50)
	if s.Tokens() != 5 || !s.Told() || strings.Contains(out, "timings") || strings.Count(out, "content") != 3 {
		t.Errorf("%d tokens, told %v, gave %s", s.Tokens(), s.Told(), out)
	}
}

//nolint:lll // raw text that cannot be broken
func TestWhatTheClientDidNotAskForIsNotGivenOut(t *testing.T) {
	var stream, want strings.Builder
	for i := range 40 {
		text := strings.Repeat("x", i%5)
		stream.WriteString(told(0, text, "null", i+1))
		want.WriteString(untold(0, text, "null"))
	}
	stream.WriteString(told(0, "", "stop", 41))
	want.WriteString(untold(0, "", "stop"))
	for _, n := range cuts {
		out, s := inPieces(t, Options{Told: true, HideUsage: true}, stream.String()+totals, n)
		if out != want.String()+totals {
			t.Fatalf("in pieces of %d gave\n%s", n, out)
		}
		if u, ok := s.Usage(); !ok || u.CompletionTokens != 12 {
			t.Errorf("usage %+v", u)
		}
		if out, _ = inPieces(t, Options{Told: true, HideUsage: true, HideLast: true, HideTotals: true},
			stream.String()+totals, n); out != want.String() {
			t.Fatalf("in pieces of %d gave\n%s", n, out)
		}
		if out, _ = inPieces(t, Options{Told: true}, stream.String()+totals, n); out != stream.String()+totals {
			t.Fatalf("in pieces of %d gave\n%s", n, out)
		}
	}
	last := untold(0, "a", "null") + told(0, "", "stop", 1) // of an engine that tells at the end only
	if out, _ := inPieces(t, Options{Told: true, HideUsage: true}, last, 90); out != last {
		t.Errorf("gave %s", out)
	}
	first := `data: {"usage":{"completion_tokens":1}, "choices":[{"index":0,"text":"a"}]}` + "\n\n"
	if out, _ := inPieces(t, Options{Told: true, HideUsage: true}, first, 9); out != `data: { "choices":[{"index":0,"text":"a"}]}`+"\n\n" {
		t.Errorf("gave %s", out)
	}
}

// A client that asked for the usage at the end has a usage in every event before, which is null, as OpenAI has it.
func TestAUsageOnTheWayIsNullWhereOneIsAwaited(t *testing.T) {
	var stream, want strings.Builder
	null := func(index int, text, finish string) string {
		return strings.TrimSuffix(untold(index, text, finish), "}\n\n") + `,"usage":null}` + "\n\n"
	}
	for i := range 40 {
		text := strings.Repeat("x", i%5)
		stream.WriteString(told(0, text, "null", i+1))
		want.WriteString(null(0, text, "null"))
	}
	stream.WriteString(told(0, "", "stop", 41) + totals)
	want.WriteString(null(0, "", "stop") + totals)
	for _, n := range cuts {
		out, s := inPieces(t, Options{Told: true, HideUsage: true, NullUsage: true, Totals: true}, stream.String(), n)
		if out != want.String() {
			t.Fatalf("in pieces of %d gave\n%s", n, out)
		}
		if u, ok := s.Usage(); !ok || u.CompletionTokens != 12 {
			t.Errorf("usage %+v", u)
		}
	}
	last := null(0, "a", "null") + told(0, "", "stop", 1) // of an engine that tells at the end only
	if out, _ := inPieces(t, Options{Told: true, HideUsage: true, NullUsage: true}, last, 90); out != last {
		t.Errorf("gave %s", out)
	}
}

//nolint:lll // raw text that cannot be broken
func TestAnAnswerIsCutAtTheTokenThatWasAskedFor(t *testing.T) {
	var stream, want strings.Builder
	for i := range 12 {
		stream.WriteString(told(0, fmt.Sprint("t", i), "null", i+1))
		if i < 5 {
			want.WriteString(untold(0, fmt.Sprint("t", i), "null"))
		}
	}
	whole := want.String() + untold(0, "", "length")
	usage :=
		`data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":8,"completion_tokens":5,"total_tokens":13}}` + "\n\n"
	for _, n := range cuts {
		o := Options{Told: true, Most: 5, HideUsage: true, HideLast: true, HideTotals: true}
		out, s := inPieces(t, o, stream.String()+totals+"data: [DONE]\n\n", n)
		if out != whole || !s.Done() || !s.Cut() || s.Tokens() != 5 || s.FinishReason() != "length" {
			t.Fatalf("in pieces of %d: %d tokens, gave\n%s", n, s.Tokens(), out)
		}
		o.HideTotals, o.Totals = false, true
		if out, _ = inPieces(t, o, stream.String(), n); out != whole+usage {
			t.Fatalf("in pieces of %d gave\n%s", n, out)
		}
	}
	out, _ := inPieces(t, Options{Told: true, Most: 1}, told(0, "a", "null", 1)+told(0, "b", "null", 2), 1000)
	if want := told(0, "a", "null", 1) + told(0, "", "length", 1); out != want {
		t.Errorf("a client that asked for the usage so far got\n%s", out)
	}
}

func TestAnEventThatGoesBeyondIsLeftOutWhole(t *testing.T) {
	stream := told(0, "a", "null", 1) + told(0, "bcdef", "null", 6) + told(0, "ghijk", "length", 11)
	out, s := inPieces(t, Options{Told: true, Most: 8, HideUsage: true}, stream, 200)
	if want := untold(0, "a", "null") + untold(0, "bcdef", "null") + untold(0, "", "length"); out != want ||
		s.Tokens() != 6 {
		t.Errorf("%d tokens in\n%s", s.Tokens(), out)
	}
}

func TestEachChoiceIsCutByItself(t *testing.T) {
	var stream, want strings.Builder
	for i := range 6 {
		stream.WriteString(told(1, "x", "null", i+1))
		if i < 3 {
			stream.WriteString(told(0, "y", "null", i+1))
		}
	}
	stream.WriteString(told(0, "", "stop", 4) + told(1, "x", "length", 7) + totals)
	for i := range 4 {
		want.WriteString(untold(1, "x", "null"))
		if i < 3 {
			want.WriteString(untold(0, "y", "null"))
		}
	}
	want.WriteString(untold(1, "", "length") + untold(0, "", "stop"))
	for _, n := range cuts {
		out, s := inPieces(t, Options{Told: true, Choices: 2, Most: 4, HideUsage: true, HideLast: true,
			HideTotals: true}, stream.String(), n)
		if out != want.String() || s.Tokens() != 7 || !s.Cut() { // no choice goes on
			t.Fatalf("in pieces of %d: %d tokens, cut %v, gave\n%s", n, s.Tokens(), s.Cut(), out)
		}
	}
}

func TestACountThatCannotBeRightIsNotBelieved(t *testing.T) {
	_, s := inPieces(t, Options{Told: true},
		told(0, "a", "null", 1)+told(0, "b", "null", 1e15)+told(0, "c", "null", -4), 1000)
	if s.Tokens() != 3 || s.Told() {
		t.Errorf("%d tokens, told %v", s.Tokens(), s.Told())
	}
}

// identified is a completion's chunk as vLLM sends it where token ids were asked for as well.
//
//nolint:lll // raw text that cannot be broken
func identified(text string, tokens int, ids ...int) string {
	list := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(ids), "[]")), ",")
	prompt := "null"
	if tokens == len(ids) {
		prompt = "[353,311]"
	}
	return fmt.Sprintf(
		`data: {"id":"a","choices":[{"index":0,"text":%q,"logprobs":null,"finish_reason":null,"prompt_token_ids":%s,"token_ids":[%s]}],`+
			`"usage":{"prompt_tokens":2,"total_tokens":%d,"completion_tokens":%d}}`+"\n\n", text, prompt, list,
		2+tokens,
		tokens)
}

func TestTokenIDsAreHandedOnAndNotGivenOut(t *testing.T) {
	var stream, want strings.Builder
	for i := range 30 {
		text := strings.Repeat("x", i%4)
		event := identified(text, 2*i+2, 10*i, 11*i)
		stream.WriteString(event)
		at, end := strings.Index(event, `"prompt_token_ids"`), strings.Index(event, `}],"usage"`)
		want.WriteString(event[:at] + `"prompt_token_ids":null,"token_ids":null}]}` + "\n\n")
		if end < at {
			t.Fatal(event)
		}
	}
	for _, n := range cuts {
		var prompts, ids []string
		spoken := 0
		o := Options{Told: true, HideUsage: true, HideIDs: true, HidePrompt: true, IDs: func(p, i []byte, s bool) {
			if prompts, ids = append(prompts, string(p)), append(ids, string(i)); s {
				spoken++
			}
		}}
		out, s := inPieces(t, o, stream.String(), n)
		if out != want.String() || s.Tokens() != 60 {
			t.Fatalf("in pieces of %d: %d tokens, gave\n%s", n, s.Tokens(), out)
		}
		if len(ids) != 30 || ids[7] != "70,77" || prompts[0] != "353,311" || prompts[1] != "" || spoken != 22 {
			t.Errorf("in pieces of %d: ids %q of prompts %q, %d with text", n, ids, prompts, spoken)
		}
		if out, _ = inPieces(t, Options{Told: true}, stream.String(), n); out != stream.String() {
			t.Fatalf("in pieces of %d gave\n%s", n, out)
		}
	}
}

// Where the usage was asked for on the way, and not by the client, neither the last chunk's nor that of the others,
// which is null, is given out: whatever stands around it, and however the stream is cut.
func TestAUsageThatIsNullIsHidden(t *testing.T) {
	o := Options{HideUsage: true, HideLast: true, HideTotals: true}
	for _, form := range []string{
		`{"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}],"usage":null}`,
		`{"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}],"usage":null,"x":1}`,
		`{"usage":null,"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}`,
		`{"choices":[{"index":0,"delta":{"content":"%s"},"token_ids":[1,2],"finish_reason":null}],"usage":null}`,
	} {
		stream, want := "", ""
		for _, text := range []string{"a", "bc", "d\\n", "e"} {
			chunk := fmt.Sprintf(form, text)
			stream += "data: " + chunk + "\n\n"
			chunk = strings.Replace(strings.Replace(chunk, `,"usage":null`, "", 1), `"usage":null,`, "", 1)
			want += "data: " + chunk + "\n\n"
		}
		for _, n := range cuts {
			if got, s := inPieces(t, o, stream+totals, n); got != want || s.Events() != 4 || s.usage.PromptTokens != 8 {
				t.Errorf("in pieces of %d: %s, want %s", n, got, want)
			}
		}
	}
}
