package responses

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"octet/gateway/doors"
	"octet/gateway/sse"
)

func nativeLine(of, members string, n int) string {
	return fmt.Sprintf("event: %s\ndata: {%s\"sequence_number\":%d,\"type\":%q}\n\n", of, members, n, of)
}

func nativeDelta(of, text string, n int) string {
	return nativeLine("response."+of+".delta", fmt.Sprintf(`"delta":%q,"item_id":"i","output_index":0,`, text), n)
}

// nativeStream is a stream as vLLM has it, in its parts: before the first output, the output, and the last event.
func nativeStream(texts int) (before, output, last string) {
	before = nativeLine("response.created", `"response":{"id":"resp_1","model":"m","created_at":7,"output":[]},`, 0) +
		nativeLine("response.output_item.added", `"item":{"type":"message","id":"i"},"output_index":0,`, 1)
	for i := range texts {
		output += nativeDelta("output_text", fmt.Sprint(" t", i), 2+i)
	}
	last = nativeLine("response.incomplete", `"response":{"status":"incomplete","incomplete_details":`+
		`{"reason":"max_output_tokens"},"usage":{"input_tokens":3,"output_tokens":4,`+
		`"input_tokens_details":{"cached_tokens":2}}},`, 2+texts)
	return before, output, last
}

func read(stream string, size, most int) (out, text string, a *Answer, s *sse.Scanner, err error) {
	a, s = &Answer{}, new(sse.Scanner)
	n := doors.NativeOf(a)
	s.Reset(sse.Options{Dialect: n, Most: most, Text: func(raw []byte) { text += string(raw) }})
	for len(stream) > 0 && err == nil && !s.Done() {
		piece := stream[:min(size, len(stream))]
		stream = stream[len(piece):]
		var got [2][]byte
		got, err = s.Feed([]byte(piece))
		out += string(got[0]) + string(got[1])
	}
	n.Adopt()
	return out, text, a, s, err
}

func TestNativeStreamsAreRead(t *testing.T) {
	before, output, last := nativeStream(5)
	for size := 1; size < 3000; size = size*3/2 + 1 {
		out, text, _, s, err := read(before+output+last, size, 0)
		u, _ := s.Usage()
		if out != before+output || text != " t0 t1 t2 t3 t4" || err != nil || string(s.Last()) != last ||
			s.Tokens() != 5 || s.FinishReason() != "length" ||
			u != (sse.Usage{PromptTokens: 3, CompletionTokens: 4, CachedTokens: 2, CachedKnown: true}) {
			t.Fatalf("in pieces of %d: %q %q, %v, %+v, %d tokens", size, out, text, err, u, s.Tokens())
		}
	}
	if out, _, _, _, err := read(before, 99, 0); out != "" || err != nil {
		t.Errorf("before any output %q is out, %v", out, err)
	}
	for _, broken := range []string{nativeLine("error", `"code":"c","message":"m",`, 9),
		nativeLine("response.failed", `"response":{"error":{"code":"c","message":"m"}},`, 9)} {
		out, _, a, s, err := read(before+output+broken, 99, 0)
		said := s.EngineError()
		if out != before+output || err == nil || said == nil || said.Message != "m" || said.Code != "c" ||
			a.sequence != 7 {
			t.Errorf("%q: %v, %+v, then number %d", out, err, said, a.sequence)
		}
	}
}

// A stream that is cut ends in words of ours, and as it has begun.
func TestANativeStreamIsAdopted(t *testing.T) {
	before, output, last := nativeStream(5)
	out, _, a, s, _ := read(before+output+last, 99, 3)
	end, err := a.Events([]byte(`data: {"choices":[{"delta":{"content":" more"},"finish_reason":"length"}]}` + "\n\n"))
	whole := out + string(end)
	whole += string(a.Done())
	for _, want := range []string{
		`"type":"response.output_text.delta","sequence_number":5,"output_index":0,"item_id":"i"`,
		`"item_id":"i","content_index":0,"text":" t0 t1 t2 more"`, `"response":{"id":"resp_1","object"`,
		`"created_at":7,"status":"incomplete"`, `"output":[{"id":"i","status":"incomplete","type":"message"`,
	} {
		if !s.Cut() || err != nil || strings.Count(whole, want) != 1 {
			t.Errorf("%d times %s in\n%s", strings.Count(whole, want), want, whole)
		}
	}
}

// FuzzNative: whatever an engine says, reading it in pieces changes nothing.
func FuzzNative(f *testing.F) {
	before, output, last := nativeStream(3)
	f.Add(before+output+last, 7)
	f.Add(before+nativeDelta("reasoning_text", "r", 3)+nativeDelta("function_call_arguments", "{", 4)+last, 100)
	f.Fuzz(func(t *testing.T, stream string, size int) {
		out, text, _, s, err := read(stream, len(stream)+1, 0)
		cut, cutText, _, cutS, cutErr := read(stream, max(size, 1), 0)
		if out != cut || text != cutText || s.Tokens() != cutS.Tokens() || s.Done() != cutS.Done() ||
			string(s.Last()) != string(cutS.Last()) || (err == nil) != (cutErr == nil) {
			t.Errorf("%q in pieces of %d: %q, not %q (%v, %v)", stream, size, cut, out, cutErr, err)
		}
	})
}

func TestNativeResponsesAreRead(t *testing.T) {
	n := doors.NativeOf(&Answer{})
	u, err := n.ReadWhole([]byte(`{"object":"response","status":"completed","error":null,"output":[` +
		`{"type":"reasoning","content":[{"type":"reasoning_text","text":"r"}]},` +
		`{"type":"message","content":[{"text":"a"},{"text":"b"}]},{"type":"function_call","call_id":"c"}],` +
		`"usage":{"input_tokens":2,"output_tokens":3}}`))
	if err != nil || string(u.Text) != "ab" || u.Finish != "tool_calls" || u.Usage.PromptTokens != 2 {
		t.Errorf("%+v %q, %v", u, u.Text, err)
	}
	var said *sse.EngineError
	if _, err := n.ReadWhole([]byte(`{"status":"failed","error":{"message":"m"}}`)); !errors.As(err, &said) ||
		said.Message != "m" {
		t.Error(err)
	}
	for _, bad := range []string{"", "7", "{}", `{"status":"completed"`, `{"status":"in_progress"}`} {
		if _, err := n.ReadWhole([]byte(bad)); !errors.Is(err, sse.ErrGarbage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
