package sse

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"octet/gateway/wire"
)

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestARecordedVLLMStreamIsCountedAndEndsAtDone(t *testing.T) {
	stream := recorded(t, "vllm_like_chat_stream.txt")
	var s Scanner
	v := fed(&s, 0, stream)
	want := verdict{
		Out: strings.TrimSuffix(string(stream), "data: [DONE]\n\n"), Tokens: 8,
		Text: "one two three four five six seven eight", Finish: "length",
		Usage: Usage{PromptTokens: 13, CompletionTokens: 8, CachedKnown: true}, HasUsage: true, Done: true,
	}
	if v != want {
		t.Errorf("got %+v", v)
	}
}

func TestARecordedLlamaCppStreamHasItsUsageOnTheLastChunk(t *testing.T) {
	var s Scanner
	v := fed(&s, 0, recorded(t, "llamacpp_chat_stream.txt"))
	if v.Tokens != 4 || v.Usage != (Usage{PromptTokens: 51, CompletionTokens: 6}) || v.Finish != "length" || !v.Done ||
		v.Err != "" {
		t.Errorf("got %+v", v)
	}
	if !strings.HasPrefix(v.Text, "to7token") {
		t.Errorf("text %q", v.Text)
	}
}

func TestNothingIsGivenOutBeforeItsEventIsWhole(t *testing.T) {
	var s Scanner
	s.Reset(Options{})
	event := chunkOf(`"delta":{"content":"é"}`)
	for i := range len(event) - 1 {
		out, err := s.Feed([]byte(event[i : i+1]))
		if err != nil || len(out[0])+len(out[1]) != 0 || s.FirstToken() || s.Pending() != i+1 {
			t.Fatalf("after %d bytes: gave %q, pending %d, %v", i+1, out, s.Pending(), err)
		}
	}
	out, _ := s.Feed([]byte(event[len(event)-1:]))
	if string(out[0]) != event || !s.FirstToken() || s.Pending() != 0 {
		t.Errorf("gave %q, pending %d", out, s.Pending())
	}
}

func TestALoneEventOfAnyLineEndGoesOutAtOnce(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		var s Scanner
		event := strings.ReplaceAll(chunkOf(`"delta":{"content":"a"}`), "\n", end)
		for range 3 {
			out, err := s.Feed([]byte(event))
			if string(out[0])+string(out[1]) != event || err != nil {
				t.Errorf("%q: gave %q, %v", end, out, err)
			}
		}
	}
}

func TestWholeEventsAliasThePiece(t *testing.T) {
	var s Scanner
	event := chunkOf(`"delta":{"content":"a"}`)
	piece := []byte(event + event + "data: {")
	out, _ := s.Feed(piece)
	if out[0] != nil || &out[1][0] != &piece[0] || len(out[1]) != 2*len(event) {
		t.Errorf("gave %d and %d bytes", len(out[0]), len(out[1]))
	}
	out, _ = s.Feed([]byte("}\n\n" + event + "data"))
	if string(out[0]) != "data: {}\n\n" || string(out[1]) != event || s.Pending() != 4 {
		t.Errorf("gave %q, pending %d", out, s.Pending())
	}
}

func TestAnErrorObjectIsKeptFromTheClientAndTold(t *testing.T) {
	good := chunkOf(`"delta":{"content":"a"}`)
	for _, bad := range []string{
		`data: {"error":{"message":"no \"memory\"","type":"oom","code":500}}`,
		`data: {"object":"error","message":"no \"memory\"","type":"oom","code":"500"}`,
		"event: error\ndata: {\"message\":\"no \\\"memory\\\"\",\"type\":\"oom\",\"code\":500}",
		`error: {"code":500,"message":"no \"memory\"","type":"oom"}`,
	} {
		var s Scanner
		out, err := s.Feed([]byte(good + bad + "\n\ndata: [DONE]\n\n"))
		var engine *EngineError
		if string(out[1]) != good || !errors.As(err, &engine) || s.Done() || s.Pending() != 0 {
			t.Fatalf("%s: gave %q, %v", bad, out, err)
		}
		if *engine != (EngineError{`no "memory"`, "oom", "500"}) || s.EngineError() != engine {
			t.Errorf("%s: %+v", bad, engine)
		}
		if out, again := s.Feed([]byte(good)); again != err || out[0] != nil || out[1] != nil {
			t.Errorf("after the end: gave %q, %v", out, again)
		}
	}
}

func TestGarbageEndsTheStreamAfterWhatWasGood(t *testing.T) {
	good := chunkOf(`"delta":{"content":"a"}`)
	for _, bad := range []string{"data: oops", "data: 7", "data: [1]", `data: {"choices":[`, `data: {"a":1}}`,
		"<html>no</html>", "\x00\x01", `data: {"a":"` + "\x01" + `"}`, "data: {}\ndata: {}"} {
		var s Scanner
		out, err := s.Feed([]byte(good + bad + "\n\n" + good))
		if string(out[1]) != good || !errors.Is(err, ErrGarbage) || s.Tokens() != 1 {
			t.Errorf("%q: gave %q, %v", bad, out, err)
		}
	}
}

func TestAnEventOverTheLimitIsRefusedBeforeItIsHeld(t *testing.T) {
	const most = 1000
	event := chunkOf(`"delta":{"content":"` + strings.Repeat("x", 2*most) + `"}`)
	var s Scanner
	s.Reset(Options{MaxEvent: most})
	for i := range event {
		if _, err := s.Feed([]byte(event[i : i+1])); err != nil {
			if !errors.Is(err, ErrEventTooLarge) || i != most {
				t.Errorf("after %d bytes: %v", i+1, err)
			}
			return
		}
		if cap(s.carry) > 2*most {
			t.Fatalf("holds %d bytes", cap(s.carry))
		}
	}
	t.Error("the event was taken")
}

func TestAMegabyteEventPassesHoweverCut(t *testing.T) {
	const head, tail = `data: {"choices":[{"text":"`, `"}]}`
	event := []byte(head + strings.Repeat("x", 1<<20-len(head)-len(tail)-2) + tail + "\n\n")
	for _, n := range []int{1 << 20, 4096, 999} {
		var s Scanner
		given := 0
		for rest := event; len(rest) > 0; rest = rest[min(n, len(rest)):] {
			out, err := s.Feed(rest[:min(n, len(rest))])
			if err != nil {
				t.Fatal(err)
			}
			given += len(out[0]) + len(out[1])
		}
		if given != len(event) || s.Tokens() != 1 {
			t.Errorf("pieces of %d: %d bytes given, %d tokens", n, given, s.Tokens())
		}
	}
}

func TestTextIsThatOfTheFirstChoiceAndStaysJSON(t *testing.T) {
	stream := chunkOf(`"delta":{"content":"say \"hi\"\n"}`) + chunkOf(`"delta":{"reasoning_content":"hm"}`) +
		`data: {"choices":[{"index":1,"text":"other"}]}` + "\n\n" + chunkOf(`"delta":{"content":"\ud83d\ude00"}`) +
		chunkOf(`"delta":{"content":"`+"\x7f"+`"}`)
	var raw []byte
	var s Scanner
	s.Reset(Options{Text: func(p []byte) { raw = append(raw, p...) }})
	if _, err := s.Feed([]byte(stream)); err != nil {
		t.Fatal(err)
	}
	if got := string(wire.AppendUnquoted(nil, raw)); got != "say \"hi\"\n😀\x7f" || !s.Reasoned() || s.Tokens() != 5 {
		t.Errorf("text %q, %d tokens", got, s.Tokens())
	}
}

func TestAResetScannerRemembersNothing(t *testing.T) {
	var s Scanner
	for _, stream := range seeds(t) {
		s.Reset(Options{})
		s.Feed([]byte(stream))
		s.Reset(Options{})
		if s.Tokens() != 0 || s.Done() || s.Pending() != 0 || s.FinishReason() != "" || s.EngineError() != nil ||
			s.Reasoned() || cap(s.carry) > keepCarry {
			t.Fatalf("%q left %+v", stream, s)
		}
		if out, err := s.Feed([]byte("data: {}\n\n")); err != nil || string(out[1]) != "data: {}\n\n" {
			t.Fatalf("%q: then gave %q, %v", stream, out, err)
		}
	}
}

func TestFeedAllocatesNothing(t *testing.T) {
	plain := chunkOf(`"delta":{"content":"token "}`)
	for name, stream := range map[string]string{
		"alike": strings.Repeat(plain, 40),
		"unlike": strings.Repeat(chunkOf(`"delta":{"content":"a"},"x":1`)+plain+
			chunkOf(`"delta":{},"finish_reason":"stop"`), 15),
		"told":  strings.Repeat(told(0, "a", "null", 1)+told(0, "b", "null", 2), 20),
		"usage": strings.Repeat(`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`+"\n\n", 30),
	} {
		for _, n := range []int{1 << 20, 100} {
			s := Scanner{}
			n = min(n, len(stream))
			s.Reset(Options{Text: func([]byte) {}, Told: true, HideUsage: true})
			feed := func() {
				for rest := []byte(stream); len(rest) > 0; rest = rest[min(n, len(rest)):] {
					if _, err := s.Feed(rest[:min(n, len(rest))]); err != nil {
						t.Fatal(err)
					}
				}
			}
			feed()
			if got := testing.AllocsPerRun(20, feed); got > 1 { // the copy of the stream
				t.Errorf("%s in pieces of %d: %v allocations", name, n, got)
			}
		}
	}
}

func TestAChunkLikeTheOneBeforeIsNotWalkedAgain(t *testing.T) {
	var s Scanner
	for _, text := range []string{"a", "some longer text", `\"`} {
		event := chunkOf(`"delta":{"content":"` + text + `"}`)
		m := s.shape.data([]byte(strings.TrimSpace(event[len("data: "):])))
		if s.Tokens() > 0 && (m.size == 0 || string(m.text) != text) {
			t.Errorf("%s: matched %+v", text, m)
		}
		if _, err := s.Feed([]byte(event)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyTinyLinesAreReadOnce(t *testing.T) {
	// Quadratic work here would be 10^10 steps and more, which no test run survives.
	for _, line := range []string{"\r", "\n", ":\r", ":\n", "a\n"} {
		var s Scanner
		stream := bytes.Repeat([]byte(line), 1<<19/len(line))
		if _, err := s.Feed(stream); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}
