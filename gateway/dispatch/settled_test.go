package dispatch

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/receipt"
	"octet/routing/fleet"
)

// rides is an engine's response that a loop may play, in memory of its own, which is void afterwards.
type rides struct {
	tape
	rng    *rand.Rand
	carrys int
	void   chan struct{} // closed when its memory is
	to     *carriage
	breaks error // of a ride, at random; nil is none
}

func (r *rides) Carry(sink engine.Sink, end func(error)) bool {
	r.carrys++
	r.void = make(chan struct{})
	r.to.void = r.void
	whole := make([]byte, 64<<10)
	page := whole
	ride := func() error {
		for len(r.pieces) > 0 {
			for range 1 + r.rng.IntN(3) { // pieces of one read
				if len(r.pieces) == 0 {
					break
				}
				n := copy(page, r.pieces[0])
				r.pieces[0] = r.pieces[0][n:]
				if len(r.pieces[0]) == 0 {
					r.pieces = r.pieces[1:]
				}
				if more, err := sink.Take(page[:n:n]); !more || err != nil {
					return err
				}
				page = page[n:]
			}
			if more, err := sink.Pause(); !more || err != nil {
				return err
			}
			clear(whole)
			page = whole
			switch r.rng.IntN(8) {
			case 0:
				return nil // a burst
			case 1:
				if r.breaks != nil {
					return r.breaks
				}
			}
		}
		return r.end
	}
	go func() {
		err := ride()
		end(err)
		clear(whole)
		close(r.void)
	}()
	return true
}

// carriage is a client whose socket is full now and then.
type carriage struct {
	conn.Conn // over sink
	sink      sink
	rng       *rand.Rand
	owed      []byte
	void      chan struct{} // nil, or closed when the loop's memory is void
}

func (c *carriage) CanPark() bool { return c.owed == nil }

func (c *carriage) TrySend(p []byte) error {
	if c.owed != nil {
		panic("what is owed comes first")
	}
	if n := len(p); n > 0 && c.rng.IntN(5) == 0 {
		n = c.rng.IntN(n)
		_, _ = c.Write(p[:n])
		c.owed = bytes.Clone(p[n:])
		return conn.ErrFull
	}
	_, err := c.Write(p)
	return err
}

func (c *carriage) Send(p []byte) error {
	_, _ = c.Write(c.owed)
	c.owed = nil
	_, err := c.Write(p)
	return err
}

func (c *carriage) Resume(f func() (over bool)) {
	go func() {
		if c.void != nil {
			<-c.void
		}
		f()
	}()
}

type contained struct{ error }

func (contained) Panicked() any { return "oh" }

// ride plays a stream whose client and engine have loops, and reports whether it came to a proper end.
func ride(t *testing.T, seed uint64, pieces [][]byte, breaks error) (w *carriage, carrys int, proper bool) {
	rng := rand.New(rand.NewPCG(seed, 7))
	w = &carriage{sink: sink{header: http.Header{}, keep: true}, rng: rng}
	w.Conn = connOf(&w.sink)
	x := stage(t, w)
	member, err := fleet.New().Put(fleet.Spec{Name: "debug-0", Specialist: "debug", URL: "http://10.1.2.3:30000",
		Role: fleet.RoleDecode, BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	x.turn.rep.Fleet = member
	x.turn.place.Release()
	x.holds(t)
	r := &rides{tape: tape{pieces: pieces, end: io.EOF}, rng: rng, breaks: breaks, to: w}
	x.turn.resp = r
	x.turn.place.Watch(x.ctx)
	x.turn.at = new(receipt.Attempt)
	if err := x.Relay.Open(attempt{x.Dispatch}.source()); err != nil {
		t.Fatal(err)
	}
	x.Relay.Detach(x.w, x.w)
	w.Resume(x.Carry)
	return w, r.carrys, <-x.ended
}

// A settled stream is the same stream: however often it settles, and is unsettled by a burst or by a slow client.
func TestASettledStreamPassesEveryByte(t *testing.T) {
	settled := 0
	for seed := range uint64(100) {
		pieces, want := events(200), bytes.Join(events(200), nil)
		rng := rand.New(rand.NewPCG(seed, 3))
		switch seed % 3 {
		case 0: // the end comes with the last event
			pieces = append(pieces[:199], bytes.Join(pieces[199:], nil))
		case 1: // events cut anywhere
			pieces = nil
			for rest := want; len(rest) > 0; {
				n := min(1+rng.IntN(1500), len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
		}
		w, carrys, proper := ride(t, seed, pieces, nil)
		settled += carrys
		if !proper || !bytes.Equal(w.sink.body.Bytes(), want) {
			t.Fatalf("seed %d: proper %v, got\n%s", seed, proper, w.sink.body.Bytes())
		}
	}
	if settled < 200 {
		t.Errorf("only %d times settled", settled)
	}
}

// What breaks a settled stream, or panics while it is, ends it in one typed error behind whole events.
//
//nolint:lll // raw text that cannot be broken
func TestASettledStreamThatBreaksSaysSo(t *testing.T) {
	for code, breaks := range map[apierr.Code]error{apierr.Internal: contained{errors.New("oh")}, apierr.UpstreamReset: io.EOF} {
		for seed := range uint64(50) {
			w, _, proper := ride(t, seed, events(2000), breaks)
			got := w.sink.body.Bytes()
			last := got[bytes.LastIndex(got, []byte("data: ")):]
			want := bytes.Join(events(2000), nil)
			if proper || !bytes.Contains(last, []byte(code)) || !bytes.HasPrefix(want, bytes.TrimSuffix(got, last)) ||
				bytes.Count(got, []byte(`"error"`)) != 1 {
				t.Fatalf("%s, seed %d: proper %v, ends in %s", code, seed, proper, last)
			}
		}
	}
}
