package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/apierr"
	"octet/gateway/sse"
)

// wireSeeds are what engines send, well and badly, in pieces that FuzzRelay joins and cuts anew.
func wireSeeds() []string {
	chunk := func(choice string) string {
		return `data: {"id":"one","created":7,"choices":[{"index":0,` + choice + `}]}` + "\n\n"
	}
	text := chunk(`"delta":{"content":"a"}`)
	const done = "data: [DONE]\n\n"
	pieces := []string{
		"", text, strings.Repeat(text, 3), chunk(`"delta":{"role":"assistant","content":""}`),
		chunk(`"delta":{"content":"é\u00e9\""}`),
		chunk(`"delta":{"reasoning_content":"hm"}`), chunk(`"delta":{"tool_calls":[{"index":0}]}`),
		chunk(`"delta":{},"finish_reason":"stop"`),
		chunk(`"text":"x"`), `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n",
		": ping\n\n", "\n\n", "event: error\n\n",
		"data: {\"error\":{\"message\":\"m\",\"code\":500}}\n\n", "data: {\"half\":", "data: oops\n\n", "\x00\xff\xfe",
		"<html>\n\n",
		strings.ReplaceAll(text, "\n", "\r\n"), "data: {\ndata: }\n\n", "data: {} {}\n\n",
		`data: {"id":{},"created":[],"choices":7,"usage":1}` + "\n\n",
		strings.Repeat("x", 5000), "data: " + strings.Repeat("[", 200) + "\n\n",
	}
	var all []string
	for _, p := range pieces {
		all = append(all, p, p+done, text+p+done)
	}
	return all
}

// verdict is all that a client could know of a stream.
type verdict struct {
	Out    string
	Code   apierr.Code // "" is complete
	Tokens int
}

// relayed plays input, cut into pieces of n bytes, to a client; kept streams keep what a continuation needs.
func relayed(t *testing.T, input []byte, n int, kept bool) (v verdict, said string) {
	t.Helper()
	w := &sink{header: http.Header{}, keep: true}
	x := stage(t, w)
	if kept {
		x.cont = new(continuation)
		x.rt.Limits.BodyBytes = 1 << 20
	}
	cont := x.cont
	tape := &tape{end: io.EOF}
	for rest := input; len(rest) > 0; rest = rest[min(n, len(rest)):] {
		tape.pieces = append(tape.pieces, bytes.Clone(rest[:min(n, len(rest))]))
	}
	err := x.play(tape)
	v = verdict{Out: w.body.String(), Tokens: x.handedOut}
	if err != nil {
		v.Code = asError(err).Code
	}
	if kept && cont.pieces >= 0 {
		said = string(cont.said)
	}
	return v, said
}

// However an engine's bytes are cut, a client gets the same: whole events as they came, and one verdict.
func FuzzRelay(f *testing.F) {
	for i, s := range wireSeeds() {
		f.Add([]byte(s), 1+i%40)
	}
	f.Fuzz(func(t *testing.T, input []byte, n int) {
		whole, said := relayed(t, input, max(1, len(input)), true)
		cut, saidCut := relayed(t, input, 1+max(n, -n)%97, true)
		plain, _ := relayed(t, input, max(1, len(input)), false)
		if cut != whole || plain != whole || said != saidCut {
			t.Fatalf("whole %+.300v, cut %+.300v, not kept %+.300v; kept %.300q and %.300q of %.300q", whole, cut,
				plain, said, saidCut, input)
		}
		complete := whole.Code == ""
		events := whole.Out
		if complete {
			events = strings.TrimSuffix(events, string(doneEvent))
		}
		switch {
		case !bytes.HasPrefix(input, []byte(events)):
			t.Fatalf("%q: %q did not come", input, events)
		case complete != strings.HasSuffix("\n"+whole.Out, "\n"+string(doneEvent)):
			t.Fatalf("%q: code %q after %q", input, whole.Code, whole.Out)
		case whole.Code != "" && whole.Code != apierr.UpstreamReset && whole.Code != apierr.UpstreamProtocolError:
			t.Fatalf("%q: code %s", input, whole.Code)
		}
	})
}

// What a later engine says, made to join the first one's, says the same to a reader of streams.
func FuzzJoin(f *testing.F) {
	for i, s := range wireSeeds() {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, input string, base int) {
		c := &continuation{base: 1 + max(base, -(base+1))%1000, later: true, id: []byte(`"first"`), born: []byte("1")}
		heard, events := heardIn([]byte(input))
		joined := bytes.Clone(c.joined(events))
		again, all := heardIn(joined)
		if heard != again || len(all) != len(joined) {
			t.Fatalf("%q, of which %q may go out, became %q: %+v, then %+v", input, events, joined, heard, again)
		}
	})
}

// heardSo is what a Scanner makes of a stream.
type heardSo struct {
	Text, Finish, Err string
	Tokens            int
}

// heardIn reads a stream to its end or first fault, and returns the events that may go out.
func heardIn(input []byte) (h heardSo, events []byte) {
	var s sse.Scanner
	s.Reset(sse.Options{Text: func(raw []byte) { h.Text += string(raw) }})
	out, _ := s.Feed(bytes.Clone(input))
	h.Tokens, h.Finish = s.Tokens(), s.FinishReason()
	return h, append(bytes.Clone(out[0]), out[1]...)
}

// A stream that is given up for its length, or because its text does not say all, keeps nothing more.
func TestAContinuationKeepsNoMoreThanABody(t *testing.T) {
	x := stage(t, &sink{header: http.Header{}})
	x.rt.Limits.BodyBytes = 100
	c := new(continuation)
	x.cont = c
	if err := x.play(&tape{pieces: events(50), end: io.EOF}); err != nil || x.handedOut != 50 {
		t.Fatal(err, x.handedOut)
	}
	if x.cont != nil || c.said != nil {
		t.Errorf("kept %q, continuation %v", c.said, x.cont)
	}
}

// An answer that exceeds what was asked for is cut there, and is a whole answer.
func TestAStreamThatExceedsWhatWasAskedForIsCut(t *testing.T) {
	w := &sink{header: http.Header{}, keep: true}
	x := stage(t, w)
	x.most = 5
	if err := x.play(&tape{pieces: events(9), end: io.ErrUnexpectedEOF}); err != nil || x.handedOut != 5 ||
		x.finish != "length" {
		t.Errorf("%v after %d tokens, finish %q", err, x.handedOut, x.finish)
	}
	end := strings.NewReplacer("token 5", "", `"finish_reason":null`,
		`"finish_reason":"length"`).Replace(string(event(5)))
	if want := fmt.Sprintf("%s%s%s%s%s%s%s", event(0), event(1), event(2), event(3), event(4), end, doneEvent); w.body.String() != want {
		t.Errorf("the client got %s", w.body.String())
	}
}
