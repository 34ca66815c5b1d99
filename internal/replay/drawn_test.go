package replay_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octet/internal/replay"
)

func drawn(t testing.TB, kind string, seed uint64, sessions int) replay.Trace {
	t.Helper()
	trace, err := replay.Drawn{Kind: kind, Seed: seed, Sessions: sessions}.Trace()
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// A seed draws one trace: turns that wait for each other, prompts of thousands of tokens of which a few hundred are
// new, in blocks that fit.
func TestDrawnAgentsAreAtWork(t *testing.T) {
	for _, kind := range replay.DrawnKinds {
		trace := drawn(t, kind, 1, 100)
		if diff := cmp.Diff(trace, drawn(t, kind, 1, 100)); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
		if cmp.Equal(trace, drawn(t, kind, 2, 100)) {
			t.Errorf("%s: another seed draws the same", kind)
		}
		prompts, sessions := 0, map[string]bool{}
		for i, r := range trace.Requests {
			prompts += r.Input
			sessions[r.Session] = true
			blocks := 0
			for _, s := range r.Blocks {
				blocks += s.Count
			}
			if blocks != r.Input/trace.Block || r.Output < 1 || r.After > i || (r.After > 0) != (r.Gap > 0) ||
				r.After > 0 && trace.Requests[r.After-1].Session != r.Session {
				t.Fatalf("%s: request %d: %+v", kind, i, r)
			}
		}
		n, w := len(trace.Requests), trace.Work()
		t.Logf("%s: %d turns of %d tokens, %d new", kind, n, prompts/n, w.Prompt/n)
		if len(sessions) != 100 || prompts/n < 1500 || prompts/n > 8000 || w.Prompt/n < 100 || w.Prompt/n > 700 {
			t.Errorf("%s: %d sessions, %d turns, %d tokens each, %d of them new", kind, len(sessions), n, prompts/n,
				w.Prompt/n)
		}
	}
	for _, d := range []replay.Drawn{{Kind: "poet", Sessions: 1}, {Kind: "team"}, {Kind: "team", Sessions: 1 << 30}} {
		if _, err := d.Trace(); !errors.Is(err, replay.ErrConfig) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// The work of a trace is what one engine does that forgets nothing.
func TestWorkIsWhatIsNew(t *testing.T) {
	trace := of(
		replay.Request{Input: 1100, Output: 5, Blocks: ids(1, 2, 3)},
		replay.Request{Input: 1024, Output: 7, Blocks: ids(1, 2)},
		replay.Request{Input: 1536, Output: 1, Blocks: ids(9, 2, 3)},
	)
	want := replay.Work{Prompt: 1100 + 1 + 1536, Answer: 13, Chunks: 3 + 1 + 3}
	if got := trace.Work(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	timing := replay.Timing{Prefill: 1000, Step: 10 * time.Millisecond, Decode: 2 * time.Millisecond}
	near(t, "seconds", want.Seconds(&timing), 2.637+0.026+0.07)
}

// Until an end, sessions that begin sooner come further.
func TestUntilAnEndSessionsGoOnAsRecorded(t *testing.T) {
	second := time.Second
	trace := of(
		replay.Request{Input: 1, Output: 1},
		replay.Request{At: 3 * second, Input: 2, Output: 1, After: 1, Gap: 2 * second},
		replay.Request{At: 4 * second, Input: 3, Output: 1},
		replay.Request{At: 6 * second, Input: 4, Output: 1, After: 3, Gap: second},
		replay.Request{At: 9 * second, Input: 5, Output: 1, After: 4, Gap: second},
	)
	if n, span, life := trace.Sessions(); n != 2 || span != 4*second || life != 4*second {
		t.Errorf("%d sessions in %v of %v each", n, span, life)
	}
	for _, test := range []struct {
		rate float64
		end  time.Duration
		want []int // tokens
		last int   // After of the last
	}{{1, 5 * second, []int{1, 2, 3}, 0}, {4, 5 * second, []int{1, 2, 3, 4}, 3},
		{4, 6 * second, []int{1, 2, 3, 4, 5}, 4},
		{0.5, 7 * second, []int{1, 2}, 1}} {
		part := trace.Until(test.rate, test.end)
		var got []int
		for _, r := range part.Requests {
			got = append(got, r.Input)
		}
		if !cmp.Equal(got, test.want) || part.Requests[len(got)-1].After != test.last {
			t.Errorf("%+v: %v, %+v", test, got, part.Requests[len(got)-1])
		}
	}
}

// A mix has the smaller blocks, half of the work from each trace, and nothing that both know.
func TestAMixIsHalfOfEach(t *testing.T) {
	agents, talks := drawn(t, "coder", 1, 60), busy.trace(1)
	mix, err := replay.Mix(agents, talks)
	if err != nil || mix.Block != 16 {
		t.Fatal(mix.Block, err)
	}
	holders := map[uint64]byte{}
	work := map[byte]replay.Trace{}
	for i, r := range mix.Requests {
		of := r.Session[0]
		for _, s := range r.Blocks {
			for k := range s.Count {
				if other, known := holders[s.First+uint64(k)]; known && other != of {
					t.Fatalf("both hold block %d", s.First+uint64(k))
				}
				holders[s.First+uint64(k)] = of
			}
		}
		part := work[of]
		part.Block = 16
		part.Requests = append(part.Requests, r)
		work[of] = part
		if r.After > i || i > 0 && mix.Requests[i-1].At > r.At ||
			r.After > 0 && mix.Requests[r.After-1].Session != r.Session {
			t.Fatalf("request %d: %+v", i, r)
		}
	}
	timing := replay.Default().Timing
	a, b := work['a'], work['b']
	if ratio := a.Work().Seconds(&timing) / b.Work().Seconds(&timing); ratio < 0.7 || ratio > 1.4 {
		t.Errorf("the first brings %.2f of the work of the second", ratio)
	}
	same := first(talks, len(b.Requests))
	if got, want := b.Work().Prompt, same.Work().Prompt; float64(got) < 0.9*float64(want) ||
		float64(got) > 1.1*float64(want) {
		t.Errorf("in smaller blocks %d tokens are new, of %d", got, want)
	}
	talks.Block = 24
	if _, err := replay.Mix(agents, talks); !errors.Is(err, replay.ErrConfig) {
		t.Errorf("blocks of 16 and 24: %v", err)
	}
	if _, err := replay.Mix(agents, of(replay.Request{Input: 1, Output: 1})); !errors.Is(err, replay.ErrConfig) {
		t.Errorf("a trace that comes at once: %v", err)
	}
}
