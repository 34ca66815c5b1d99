package sse

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/gateway/wire"
)

//nolint:lll // raw text that cannot be broken
func TestScanUnaryReadsAWholeAnswer(t *testing.T) {
	u, err := ScanUnary(recorded(t, "vllm_like_pd_prefill.json"))
	if err != nil || u.Finish != "remote_decode" || u.Usage != (Usage{70, 70, 0, true}) ||
		!strings.HasPrefix(string(u.Text), "word0 ") {
		t.Errorf("prefill: %+v %v", u, err)
	}
	u, err = ScanUnary(recorded(t, "vllm_like_pd_decode.json"))
	if err != nil || u.Finish != "length" || u.Usage != (Usage{70, 70, 64, true}) {
		t.Errorf("decode: %+v %v", u, err)
	}
	var engine *EngineError
	if _, err := ScanUnary([]byte(`{"error":{"message":"full","type":"RateLimitError","param":null,"code":429}}`)); !errors.As(err, &engine) || *engine != (EngineError{"full", "RateLimitError", "429"}) {
		t.Errorf("error: %v", err)
	}
	for _, body := range []string{"", "null", "[]", "{", "{}{}", "oops", "{}", `{"choices":[]}`,
		`{"choices":null,"usage":{"prompt_tokens":1}}`} {
		if _, err := ScanUnary([]byte(body)); !errors.Is(err, ErrGarbage) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// slowUnary is the stream's oracle on an answer as a stream's only event. ok is false where that has no opinion.
func slowUnary(body string) (u Unary, err string, ok bool) {
	var v verdict
	if strings.TrimSpace(body) == "" {
		return Unary{}, "garbage", true
	}
	_, known := v.read(body, false, true)
	if known && v.Err == "" && !v.Done && !hasChoices(body) {
		v.Err = "garbage"
	}
	u = Unary{Usage: v.Usage, Finish: v.Finish, Text: []byte(v.Text)}
	return u, v.Err, known && !v.Done
}

// hasChoices reports whether an answer has any.
func hasChoices(body string) bool {
	var members map[string]json.RawMessage
	var choices []json.RawMessage
	return json.Unmarshal([]byte(body), &members) == nil && json.Unmarshal(members["choices"], &choices) == nil &&
		len(choices) > 0
}

func checkUnary(t *testing.T, a *Answers, body string) {
	t.Helper()
	got, err := a.Scan([]byte(body))
	walked, err2 := ScanUnary([]byte(body))
	if diff := cmp.Diff(walked, got); diff != "" || errorName(err) != errorName(err2) {
		t.Fatalf("%q: %v, walked %v (-walked +got):\n%s", body, err, err2, diff)
	}
	want, failure, ok := slowUnary(body)
	if !ok {
		return
	}
	got.Text, got.Finish = []byte(valid(string(wire.AppendUnquoted(nil, got.Text)))), valid(got.Finish)
	if diff := cmp.Diff(want, got); failure == "" && diff != "" || failure != valid(errorName(err)) {
		t.Fatalf("%q: %v, the oracle says %q (-oracle +got):\n%s", body, err, failure, diff)
	}
}

// An engine's answers are alike but for their values; and now and then one is not, or is broken.
func TestAnswersLikeTheOnesBeforeAreReadAsIfWalked(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var a Answers
		forms := make([]func() string, 1+rng.IntN(3))
		for i := range forms {
			forms[i] = answerForm(rng)
		}
		for range 80 {
			body := forms[rng.IntN(len(forms))]()
			switch rng.IntN(9) {
			case 2:
				body += pick(rng, "x", "}", " ", "{}", body)
			case 0:
				at := rng.IntN(len(body))
				body = body[:at] + pick(rng, `"`, `\`, "0", "x", "{", "}", ",", "\n", "",
					"null") + body[min(len(body), at+rng.IntN(3)):]
			case 1:
				body = body[:rng.IntN(len(body)+1)]
			}
			checkUnary(t, &a, body)
		}
	}
}

// answerForm returns answers with the same members in the same places.
func answerForm(rng *rand.Rand) func() string {
	text := func() string {
		return pick(rng, "a", "a", "", `\n`, `\"}`, `\u00e9`, "é", `","finish_reason":"length`,
			strings.Repeat("long ", 30), strings.Repeat(`int a;\n`, 20))
	}
	number := func() string {
		return pick(rng, "0", "7", "12", "4096", "-1", "1.5", "2e3", "123456789012345678901", "00")
	}
	members := []string{`"id":"%s"`, `"object":"chat.completion"`, `"created":%d`, `"choices":[%c]`,
		`"usage":` + pick(rng, "null", `{"prompt_tokens":%d,"completion_tokens":%d}`,
			`{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
			`{"completion_tokens":"%s","prompt_tokens":[%d],"prompt_tokens_details":null}`,
			`{"prompt_tokens":%d,"prompt_tokens":%d}`)}
	members = append(members,
		[]string{`"error":null`, `"error":"%s"`, `"timings":{"ms":%d,"index":1}`, `"obj\u0065ct":"%s"`,
			`"object":"error","message":"%s"`, `"pad":[]`, `"usage":{"completion_tokens":%d}`}[rng.IntN(7):][0])
	if rng.IntN(2) == 0 {
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	choices := make([]string, rng.IntN(3))
	for i := range choices {
		choices[i] = fmt.Sprintf(`{"index":%s,`, pick(rng, "0", "0", "1", "%d")) + pick(rng, `"text":"%s"`,
			`"message":{"role":"assistant","content":"%s"}`,
			`"message":{"role":"%s","content":"%s","reasoning_content":"%s"}`,
			`"message":{"content":null,"tool_calls":[{"type":"function","function":{"name":"%s","arguments":"%s"}}]}`) +
			`,"logprobs":null,"finish_reason":` + pick(rng, `"%s"`, `"stop"`, "null", `"%f"`) + "}"
	}
	form := strings.ReplaceAll("{"+strings.Join(members, pick(rng, ",", ", "))+"}"+pick(rng, "", "\n"), "%c",
		strings.Join(choices, ","))
	return func() string {
		var b strings.Builder
		for i, part := range strings.Split(form, "%") {
			if i > 0 {
				b.WriteString(map[byte]func() string{'s': text, 'd': number,
					'f': func() string { return pick(rng, "stop", "length", `st\u006fp`, "") }}[part[0]]())
				part = part[1:]
			}
			b.WriteString(part)
		}
		return b.String()
	}
}

func FuzzAnswersAreReadAsIfWalked(f *testing.F) {
	for seed := range uint64(80) {
		form := answerForm(rand.New(rand.NewPCG(seed, 6)))
		f.Add(form(), form())
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var a Answers
		for _, body := range []string{first, first, second, first, second} {
			checkUnary(t, &a, body)
		}
	})
}

//nolint:lll // raw text that cannot be broken
func TestAnAnswerLikeTheOneBeforeIsNotWalked(t *testing.T) {
	answer := func(text string, tokens int, finish string) []byte {
		return fmt.Appendf(
			nil,
			`{"id":"chatcmpl-%x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"%s","tool_calls":[]},"finish_reason":"%s"}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, tokens, text, finish, tokens)
	}
	var a Answers
	for i := range 10 {
		u, err := a.Scan(answer(strings.Repeat(`text\n`, i+1), 5*i, []string{"stop", "length"}[i%2]))
		if err != nil || u.Usage.CompletionTokens != 5*i || len(u.Text) != 6*(i+1) ||
			u.Finish != []string{"stop", "length"}[i%2] {
			t.Fatalf("%+v, %v", u, err)
		}
	}
	if n := a.walked.Load(); n != 1 {
		t.Errorf("walked %d answers of one outline", n)
	}
	a = Answers{}
	for _, body := range []string{ // the third begins as the second, and ends as the first
		`{"usage":{"prompt_tokens":5},"usage":{"prompt_tokens":null}}`, `{"usage":{"prompt_tokens":5}}`,
		`{"usage":{"prompt_tokens":6},"usage":{"prompt_tokens":null}}`,
	} {
		checkUnary(t, &a, body)
	}
	a = Answers{}
	long := answer("text", 7, "stop")
	if n := testing.AllocsPerRun(100, func() { _, _ = a.Scan(long) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
