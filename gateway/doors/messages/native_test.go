package messages

import (
	"errors"
	"strings"
	"testing"

	"octet/gateway/doors"
	"octet/gateway/sse"
)

// heardOf feeds a stream in pieces that end at cuts, and returns what is given out, the text, and the scanner.
func heardOf(stream string, most int, cuts ...byte) (out, text string, s *sse.Scanner, err error) {
	var a Answer
	s = new(sse.Scanner)
	s.Reset(sse.Options{Dialect: doors.NativeOf(&a), Most: most, MaxEvent: 1 << 10,
		Text: func(raw []byte) { text += string(raw) }})
	for i := 0; len(stream) > 0 && err == nil && !s.Done(); i++ {
		n := len(stream)
		if i < len(cuts) {
			n = min(n, int(cuts[i])+1)
		}
		piece := []byte(stream[:n])
		var got [2][]byte
		got, err = s.Feed(piece)
		out += string(got[0]) + string(got[1])
		stream = stream[n:]
	}
	return out, text, s, err
}

const (
	startedWell = `event: message_start
data: {"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":3,"output_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

`
	piece1 = `event: content_block_delta
data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"a\"b"},"index":0}

`
	piece2 = `event: content_block_delta
data: {"type":"content_block_delta","delta":{"type":"text_delta","text":" c"},"index":0}

`
	thinks = `event: content_block_delta
data: {"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":" c"},"index":0}

`
	unheardOf = `event: novelty
data: {"type":"novelty","delta":7}

`
	stoppedWell = `event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":3,` +
		`"cache_read_input_tokens":5,"output_tokens":4}}

`
	failing   = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"full\"}}\n\n"
	endedWell = `event: message_stop
data: {"type":"message_stop"}

`
)

func TestNativeStreamsAreRead(t *testing.T) {
	good := startedWell + piece1 + piece2 + thinks + unheardOf + stoppedWell
	out, text, s, err := heardOf(good+endedWell+"data: [DONE]\n\n", 0)
	u, told := s.Usage()
	if out != good || text != `a\"b c` || err != nil || !s.Done() || string(s.Last()) != endedWell || s.Tokens() != 3 ||
		s.FinishReason() != "stop" || !told ||
		u != (sse.Usage{PromptTokens: 8, CompletionTokens: 4, CachedTokens: 5, CachedKnown: true}) {
		t.Errorf("%q\n%q %v %+v, ends with %q, %d tokens, %s", out, text, err, u, s.Last(), s.Tokens(),
			s.FinishReason())
	}
	if out, _, s, err := heardOf(startedWell+endedWell, 0); out != startedWell || err != nil ||
		string(s.Last()) != endedWell {
		t.Errorf("without output: %q, %v, %q", out, err, s.Last())
	}
	if out, _, s, _ := heardOf(good+endedWell, 2); out != startedWell+piece1+piece2 || !s.Cut() ||
		s.FinishReason() != "length" {
		t.Errorf("cut at 2: %q", out)
	}
	if out, _, _, err := heardOf(startedWell+unheardOf, 0); out != "" || err != nil {
		t.Errorf("before any output %q is out, %v", out, err)
	}
	for broken, want := range map[string]error{
		failing: nil,
		"event: content_block_delta\ndata: 7\n\n": sse.ErrGarbage,
		"data: [DONE]\n\n":                        sse.ErrGarbage,
		"event: x\ndata: {\"type\":\"x\",\"y\":\"" + strings.Repeat("y", 2000) + "\"}\n\n": sse.ErrEventTooLarge,
	} {
		out, _, s, err := heardOf(startedWell+piece1+broken+piece2, 0)
		if out != startedWell+piece1 || err == nil || want != nil && !errors.Is(err, want) || s.Done() ||
			want == nil && (s.EngineError() == nil || s.EngineError().Message != "full") {
			t.Errorf("%.40q: %q, %v", broken, out, err)
		}
	}
}

// FuzzNative: in whatever pieces a stream comes, the same goes out, is counted and ends it; and nothing goes out that
// did not come. Of a CRLF the LF may go ahead of an event that was held back.
func FuzzNative(f *testing.F) {
	f.Add(startedWell+piece1+piece2+stoppedWell+endedWell, []byte{3, 200, 1, 0, 40})
	f.Add(startedWell+thinks+thinks+unheardOf+piece1+piece2+endedWell, []byte{0, 0, 0})
	f.Add(": ping\n\n"+strings.ReplaceAll(startedWell+piece1, "\n", "\r\n"), []byte{9})
	f.Fuzz(func(t *testing.T, stream string, cuts []byte) {
		out, text, s, err := heardOf(stream, 0)
		cut, cutText, cutScanner, cutErr := heardOf(stream, 0, cuts...)
		if out != cut || text != cutText || s.Tokens() != cutScanner.Tokens() || s.Done() != cutScanner.Done() ||
			string(s.Last()) != string(cutScanner.Last()) || (err == nil) != (cutErr == nil) {
			t.Errorf("%q in pieces %v: %q %q, not %q %q (%v, %v)", stream, cuts, cut, cutText, out, text, cutErr, err)
		}
		if crlf := strings.Contains(stream, "\r"); !crlf && !isSubsequence(out+string(s.Last()), stream) {
			t.Errorf("%q gave %q and %q", stream, out, s.Last())
		}
	})
}

func isSubsequence(part, whole string) bool {
	for i := range len(whole) {
		if part != "" && part[0] == whole[i] {
			part = part[1:]
		}
	}
	return part == ""
}

func TestNativeMessagesAreRead(t *testing.T) {
	var a Answer
	n := doors.NativeOf(&a)
	u, err := n.ReadWhole([]byte(`{"type":"message","content":[{"type":"thinking","thinking":"t"},{"type":"text",` +
		`"text":"a"},{"type":"tool_use","id":"i","name":"n","input":{"text":"no"}},{"type":"text","text":"b"}],` +
		`"stop_reason":"tool_use","usage":{"input_tokens":2,"output_tokens":3}}`))
	if err != nil || string(u.Text) != "ab" || u.Finish != "tool_calls" || u.Usage.CompletionTokens != 3 {
		t.Errorf("%+v %q, %v", u, u.Text, err)
	}
	var said *sse.EngineError
	if _, err := n.ReadWhole([]byte(`{"type":"error","error":{"type":"api_error","message":"m"}}`)); !errors.As(err,
		&said) || said.Message != "m" {
		t.Error(err)
	}
	for _, bad := range []string{"", "[]", "{}", `{"type":"message"`, `{"id":"c","choices":[]}`} {
		if _, err := n.ReadWhole([]byte(bad)); !errors.Is(err, sse.ErrGarbage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
