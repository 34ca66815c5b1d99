package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octet/internal/replay"
)

func TestTracesOfAllFormatsAreRead(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		block int
		want  []replay.Request
	}{
		"mooncake": {
			`{"timestamp": 3000, "input_length": 600, "output_length": 0, "hash_ids": [7, 9]}` + "\n\n" +
				`{"timestamp": 1000, "input_length": 512, "output_length": 5, "hash_ids": [7]}` + "\n",
			512, []replay.Request{
				{Input: 512, Output: 5, Blocks: span(7, 1), Session: "0"},
				{At: 2 * time.Second, Input: 600, Output: 1, Blocks: append(span(7, 1), span(9, 1)...), Session: "1"},
			},
		},
		"azure": {
			"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,513,10\n2023-11-16T18:17:04Z,3,8\n",
			512, []replay.Request{
				{Input: 513, Output: 10, Blocks: span(0, 2), Session: "0"},
				{At: 20040 * time.Microsecond, Input: 3, Output: 8, Blocks: span(1<<32, 1), Session: "1"},
			},
		},
		"blocks of 16": {
			`{"timestamp": 0, "input_length": 40, "output_length": 1, "hash_ids": [1, 2, 5]}`,
			16, []replay.Request{{Input: 40, Output: 1, Blocks: append(span(1, 2), span(5, 1)...), Session: "0"}},
		},
		"sessions that wait": {
			`{"session": 4, "t_in_session_ms": 0, "gap_ms": 0, "input_length": 40, "output_length": 3, ` +
				`"hash_id_runs": [[0, 1], [100, 1]]}` + "\n" +
				`{"session": 4, "t_in_session_ms": 900, "gap_ms": 300, "input_length": 64, "output_length": 2, ` +
				`"hash_id_runs": [[0, 1], [100, 3]]}` + "\n" +
				`{"session": "x", "timestamp": 100, "input_length": 16, "output_length": 2, ` +
				`"hash_id_runs": [[0, 1]]}` + "\n" +
				`{"session": "x", "timestamp": 200, "input_length": 16, "output_length": 2, "hash_ids": [0]}`,
			16, []replay.Request{
				{Input: 40, Output: 3, Blocks: append(span(0, 1), span(100, 1)...), Session: "4"},
				{At: 100 * time.Millisecond, Input: 16, Output: 2, Blocks: span(0, 1), Session: "x"},
				{At: 200 * time.Millisecond, Input: 16, Output: 2, Blocks: span(0, 1), Session: "x"},
				{At: 900 * time.Millisecond, Input: 64, Output: 2, Blocks: append(span(0, 1), span(100, 3)...),
					Session: "4", After: 1, Gap: 300 * time.Millisecond},
			},
		},
	} {
		got, err := replay.Read(strings.NewReader(test.text), replay.Reading{})
		if diff := cmp.Diff(replay.Trace{Block: test.block, Requests: test.want}, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// span returns count blocks from first on.
func span(first uint64, count int) []replay.Span { return []replay.Span{{First: first, Count: count}} }

func TestTurnsOfOneConversationShareASession(t *testing.T) {
	got, err := replay.Read(strings.NewReader(
		`{"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 2]}`+"\n"+
			`{"timestamp": 1, "input_length": 1100, "output_length": 5, "hash_ids": [0, 5, 6]}`+"\n"+
			`{"timestamp": 2, "input_length": 2048, "output_length": 5, "hash_ids": [0, 1, 8, 9]}`+"\n"+
			`{"timestamp": 3, "input_length": 2560, "output_length": 5, "hash_ids": [0, 1, 8, 9, 10]}`),
		replay.Reading{})
	var sessions []string
	for _, r := range got.Requests {
		sessions = append(sessions, r.Session)
	}
	if diff := cmp.Diff([]string{"0", "1", "0", "0"}, sessions); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestBadTraceLinesAreNamedByNumber(t *testing.T) {
	const good = `{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": [1]}` + "\n"
	const head = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	for text, line := range map[string]int{
		"":             1,
		head:           1,
		good + "{nope": 2,
		good + "\n" + `{"timestamp": 0, "input_length": 5}`:                                                    3,
		good + `{"timestamp": -1, "input_length": 5, "output_length": 5, "hash_ids": [1]}`:                     2,
		good + `{"timestamp": 1e300, "input_length": 5, "output_length": 5, "hash_ids": [1]}`:                  2,
		good + `{"timestamp": 0, "input_length": 0, "output_length": 5, "hash_ids": []}`:                       2,
		good + `{"timestamp": 0, "input_length": 99999999999, "output_length": 5, "hash_ids": [1]}`:            2,
		good + `{"timestamp": 0, "input_length": 513, "output_length": 5, "hash_ids": [1]}`:                    2,
		good + `{"timestamp": 0, "input_length": 5, "output_length": -5, "hash_ids": [1]}`:                     2,
		good + good + `{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": [-1]}`:              3,
		good + `{"session": 1, "t_in_session_ms": -3, "input_length": 5, "output_length": 5, "hash_ids": [1]}`: 2,
		good + `{"session": 1, "input_length": 5, "output_length": 5, "hash_ids": [1]}`:                        2,
		good + `{"timestamp": 0, "gap_ms": -1, "input_length": 5, "output_length": 5, "hash_ids": [1]}`:        2,
		good + `{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_id_runs": [[1, 99999999]]}`:      2,
		good + `{"session": 1, "timestamp": 5, "input_length": 5, "output_length": 5, "hash_ids": [1]}` + "\n" +
			`{"session": 1, "timestamp": 4, "input_length": 5, "output_length": 5, "hash_ids": [1]}`: 3,
		good + `{"session": 1, "timestamp": 5, "input_length": 5, "output_length": 5, "hash_ids": [1]}` + "\n" +
			`{"session": 1, "t_in_session_ms": 9, "input_length": 5, "output_length": 5, "hash_ids": [1]}`: 3,
		good + strings.Repeat("x", 1<<20+1):                          2,
		head + "yesterday,1,1":                                       2,
		head + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04,many,1": 3,
		head + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04,1,few":  3,
		head + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04,1":      3,
		head + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04,1,\"":   3,
		head + "2023-11-16 18:17:03,0,1":                             2,
	} {
		_, err := replay.Read(strings.NewReader(text), replay.Reading{})
		var bad *replay.TraceError
		if !errors.Is(err, replay.ErrTrace) || !errors.As(err, &bad) || bad.Line != line {
			t.Errorf("%.80q: %v, want line %d", text, err, line)
		}
	}
}

func TestPartsOfATraceBeginAtZero(t *testing.T) {
	trace := replay.Trace{Block: 16, Requests: make([]replay.Request, 10)}
	for i := range trace.Requests {
		trace.Requests[i].At = time.Duration(i) * time.Second
	}
	// of these a part has the turn and not the one before
	trace.Requests[6].After, trace.Requests[6].Gap = 5, time.Second
	trace.Requests[8].After, trace.Requests[8].Gap = 7, time.Second
	part, err := trace.Part(0.5, 1)
	if err != nil || len(part.Requests) != 5 {
		t.Fatalf("%v, %v", part, err)
	}
	got := part.Requests
	if got[0].At != 0 || got[4].At != 4*time.Second || trace.Requests[5].At != 5*time.Second {
		t.Errorf("times: %v", got)
	}
	if got[1].After != 0 || got[1].Gap != 0 || got[3].After != 2 || got[3].Gap != time.Second {
		t.Errorf("turns: %v", got)
	}
	for _, bounds := range [][2]float64{{0.5, 0.5}, {-1, 1}, {0, 2}, {0.01, 0.02}} {
		if _, err := trace.Part(bounds[0], bounds[1]); !errors.Is(err, replay.ErrConfig) {
			t.Errorf("%v: %v", bounds, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": [1]}`)
	f.Add("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,513,10\n")
	f.Add(`{"session": 4, "t_in_session_ms": 0, "gap_ms": 0, "input_length": 40, "output_length": 3, ` +
		`"hash_id_runs": [[0, 1], [100, 1]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := replay.Read(strings.NewReader(text), replay.Reading{})
		if err != nil && !errors.Is(err, replay.ErrTrace) {
			t.Fatal(err)
		}
		for i, r := range trace.Requests {
			blocks := 0
			for _, s := range r.Blocks {
				blocks += s.Count
			}
			if most := (r.Input + trace.Block - 1) / trace.Block; r.At < 0 || i > 0 && r.At < trace.Requests[i-1].At ||
				r.Output < 1 || blocks > most || blocks < most-1 || r.After > i || r.Gap < 0 {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// A turn comes its gap after the answer to the turn before, however late that is, and whatever the rate.
func TestTurnsWaitForTheAnswerBefore(t *testing.T) {
	c := replay.Default()
	c.Replicas, c.BlockSize, c.Rate = 1, 16, 2
	c.Timing = replay.Timing{Prefill: 1000, Step: 10 * time.Millisecond, Decode: 5 * time.Millisecond}
	trace, err := replay.Read(strings.NewReader(
		`{"session": 1, "t_in_session_ms": 0, "gap_ms": 0, "input_length": 400, "output_length": 2, `+
			`"hash_id_runs": [[0, 25]]}`+"\n"+
			`{"session": 1, "t_in_session_ms": 5, "gap_ms": 1000, "input_length": 420, "output_length": 1, `+
			`"hash_id_runs": [[0, 25], [50, 1]]}`), replay.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, c, trace, preset(t, "round-robin"))
	first, second := 0.4+0.010, 0.020+0.010
	near(t, "makespan", r.Makespan, first+0.015+1+second)
	near(t, "TTFT", r.TTFT.Mean, (first+second)/2)
	near(t, "hit rate", r.HitRate, 400.0/820)
}

// A refused turn does not hold back the next one of its session.
func TestARefusedTurnIsFollowed(t *testing.T) {
	c := replay.Default()
	c.Blocks = 4
	trace := of(replay.Request{Input: 5000, Output: 1, Blocks: ids(make([]uint64, 10)...)},
		replay.Request{At: time.Second, Input: 100, Output: 2, Blocks: ids(3), After: 1, Gap: 3 * time.Second})
	if r := run(t, c, trace, preset(t, "default")); r.Refused != 1 || r.Makespan < 3 {
		t.Errorf("%+v", r)
	}
}

func TestSessionsWithoutATimeBeginAtTimesThatTheSeedDraws(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, `{"session": %d, "t_in_session_ms": 0, "input_length": 16, "output_length": 1, `+
			`"hash_id_runs": [[%[1]d, 1]]}`+"\n", i)
	}
	read := func(how replay.Reading) replay.Trace {
		trace, err := replay.Read(strings.NewReader(text.String()), how)
		if err != nil {
			t.Fatal(err)
		}
		return trace
	}
	a, b := read(replay.Reading{Seed: 1, SessionRate: 1}), read(replay.Reading{Seed: 2, SessionRate: 1. / 60})
	if diff := cmp.Diff(a, read(replay.Reading{Seed: 1, SessionRate: 1})); diff != "" {
		t.Error(diff)
	}
	for name, mean := range map[string]float64{
		"a second": a.Requests[199].At.Seconds() / 199, "a minute": b.Requests[199].At.Minutes() / 199,
	} {
		if mean < 0.7 || mean > 1.3 {
			t.Errorf("%s: the mean gap is %v of it", name, mean)
		}
	}
}

// A turn without a gap of its own comes as long after the answer before as it was recorded: the time between the turns,
// less what that answer took.
func TestTurnsWithoutAGapKeepTheirRecordedPace(t *testing.T) {
	line := func(at, took int) string {
		duration := ""
		if took > 0 {
			duration = fmt.Sprintf(`"duration_ms": %d, `, took)
		}
		return fmt.Sprintf(`{"session": 1, "t_in_session_ms": %d, %s"input_length": 16, "output_length": 2, `+
			`"hash_id_runs": [[0, 1]]}`+"\n", at, duration)
	}
	trace, err := replay.Read(strings.NewReader(line(0, 0)+line(1000, 300)+line(3000, 5000)+line(4000, 0)),
		replay.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{0, 1000, 1700, 0} {
		if r := trace.Requests[i]; r.After != i || r.Gap != want*time.Millisecond {
			t.Errorf("turn %d comes %v after turn %d, want %v ms", i, r.Gap, r.After-1, int(want))
		}
	}
}

// Copies come one after the other, name other blocks and other sessions, and wait for their own turns only.
func TestCopiesShareNothing(t *testing.T) {
	for name, text := range map[string]string{
		"sessions": `{"session": 1, "t_in_session_ms": 0, "input_length": 32, "output_length": 2, ` +
			`"hash_id_runs": [[7, 2]]}` + "\n" +
			`{"session": 1, "t_in_session_ms": 5, "gap_ms": 1, "input_length": 48, "output_length": 2, ` +
			`"hash_id_runs": [[7, 2], [100, 1]]}`,
		"mooncake": `{"timestamp": 0, "input_length": 600, "output_length": 2, "hash_ids": [7, 9]}` + "\n" +
			`{"timestamp": 800, "input_length": 512, "output_length": 5, "hash_ids": [7]}`,
		"azure": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,513,10\n2023-11-16 18:17:04,3,8\n",
	} {
		once, err := replay.Read(strings.NewReader(text), replay.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		thrice, err := replay.Read(strings.NewReader(text), replay.Reading{Copies: 3})
		if err != nil || len(thrice.Requests) != 3*len(once.Requests) {
			t.Fatalf("%s: %d requests, %v", name, len(thrice.Requests), err)
		}
		blocks, sessions := map[uint64]int{}, map[string]bool{}
		for i, r := range thrice.Requests {
			sessions[r.Session] = true
			for _, s := range r.Blocks {
				for k := range s.Count {
					blocks[s.First+uint64(k)]++
				}
			}
			if r.After > 0 && thrice.Requests[r.After-1].Session != r.Session {
				t.Errorf("%s: request %d waits for another session's", name, i)
			}
		}
		for id, n := range blocks {
			if n > 2 { // twice within a copy
				t.Errorf("%s: block %d comes %d times", name, id, n)
			}
		}
		alone := map[string]bool{}
		for _, r := range once.Requests {
			alone[r.Session] = true
		}
		if len(sessions) != 3*len(alone) {
			t.Errorf("%s: %d sessions of %d", name, len(sessions), len(alone))
		}
	}
}
