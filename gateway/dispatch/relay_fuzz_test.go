package dispatch

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/apierr"
	"octet/gateway/fault"
	"octet/gateway/stream"
	"octet/gateway/stream/streamtest"
)

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
		x.Relay.Cont = new(stream.Continuation)
		x.Relay.TextBytes = 1 << 20
	}
	cont := x.Relay.Cont
	tape := &tape{end: io.EOF}
	for rest := input; len(rest) > 0; rest = rest[min(n, len(rest)):] {
		tape.pieces = append(tape.pieces, bytes.Clone(rest[:min(n, len(rest))]))
	}
	err := x.play(tape)
	v = verdict{Out: w.body.String(), Tokens: x.Relay.Delivered()}
	if err != nil {
		v.Code = fault.Of(err).Code
	}
	if kept && cont.Usable() {
		said = string(cont.Text())
	}
	return v, said
}

// However an engine's bytes are cut, a client gets the same: whole events as they came, and one verdict.
func FuzzRelay(f *testing.F) {
	for i, s := range streamtest.Seeds() {
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
			events = strings.TrimSuffix(events, string(stream.DoneEvent))
		}
		switch {
		case !bytes.HasPrefix(input, []byte(events)):
			t.Fatalf("%q: %q did not come", input, events)
		case complete != strings.HasSuffix("\n"+whole.Out, "\n"+string(stream.DoneEvent)):
			t.Fatalf("%q: code %q after %q", input, whole.Code, whole.Out)
		case whole.Code != "" && whole.Code != apierr.UpstreamReset && whole.Code != apierr.UpstreamProtocolError:
			t.Fatalf("%q: code %s", input, whole.Code)
		}
	})
}

// A stream that is given up for its length, or because its text does not say all, keeps nothing more.
func TestAContinuationKeepsNoMoreThanABody(t *testing.T) {
	x := stage(t, &sink{header: http.Header{}})
	x.Relay.TextBytes = 100
	c := new(stream.Continuation)
	x.Relay.Cont = c
	if err := x.play(&tape{pieces: events(50), end: io.EOF}); err != nil || x.Relay.Delivered() != 50 {
		t.Fatal(err, x.Relay.Delivered())
	}
	if x.Relay.Cont != nil || c.Text() != nil {
		t.Errorf("kept %q, continuation %v", c.Text(), x.Relay.Cont)
	}
}

// An answer that exceeds what was asked for is cut there, and is a whole answer.
//
//nolint:lll // raw text that cannot be broken
func TestAStreamThatExceedsWhatWasAskedForIsCut(t *testing.T) {
	w := &sink{header: http.Header{}, keep: true}
	x := stage(t, w)
	x.Relay.Most = 5
	if err := x.play(&tape{pieces: events(9), end: io.ErrUnexpectedEOF}); err != nil || x.Relay.Delivered() != 5 ||
		x.Relay.Finish() != "length" {
		t.Errorf("%v after %d tokens, finish %q", err, x.Relay.Delivered(), x.Relay.Finish())
	}
	end := strings.NewReplacer("token 5", "", `"finish_reason":null`,
		`"finish_reason":"length"`).Replace(string(event(5)))
	if want := fmt.Sprintf("%s%s%s%s%s%s%s", event(0), event(1), event(2), event(3), event(4), end, stream.DoneEvent); w.body.String() != want {
		t.Errorf("the client got %s", w.body.String())
	}
}
