package replay_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octet/internal/replay"
)

func TestTracesOfBothFormatsAreRead(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []replay.Request
	}{
		"mooncake": {
			`{"timestamp": 3000, "input_length": 600, "output_length": 0, "hash_ids": [7, 9]}` + "\n\n" +
				`{"timestamp": 1000, "input_length": 512, "output_length": 5, "hash_ids": [7]}` + "\n",
			[]replay.Request{
				{Input: 512, Output: 5, Blocks: []uint64{7}, Session: "0"},
				{At: 2 * time.Second, Input: 600, Output: 1, Blocks: []uint64{7, 9}, Session: "1"},
			},
		},
		"azure": {
			"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,513,10\n2023-11-16T18:17:04Z,3,8\n",
			[]replay.Request{
				{Input: 513, Output: 10, Blocks: []uint64{0, 1}, Session: "0"},
				{At: 20040 * time.Microsecond, Input: 3, Output: 8, Blocks: []uint64{1 << 16}, Session: "1"},
			},
		},
	} {
		got, err := replay.Read(strings.NewReader(test.text))
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestTurnsOfOneConversationShareASession(t *testing.T) {
	got, err := replay.Read(strings.NewReader(
		`{"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 2]}` + "\n" +
			`{"timestamp": 1, "input_length": 1100, "output_length": 5, "hash_ids": [0, 5, 6]}` + "\n" +
			`{"timestamp": 2, "input_length": 2048, "output_length": 5, "hash_ids": [0, 1, 8, 9]}` + "\n" +
			`{"timestamp": 3, "input_length": 2560, "output_length": 5, "hash_ids": [0, 1, 8, 9, 10]}`))
	var sessions []string
	for _, r := range got {
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
		good + "\n" + `{"timestamp": 0, "input_length": 5}`:                                         3,
		good + `{"timestamp": -1, "input_length": 5, "output_length": 5, "hash_ids": [1]}`:          2,
		good + `{"timestamp": 1e300, "input_length": 5, "output_length": 5, "hash_ids": [1]}`:       2,
		good + `{"timestamp": 0, "input_length": 0, "output_length": 5, "hash_ids": []}`:            2,
		good + `{"timestamp": 0, "input_length": 99999999999, "output_length": 5, "hash_ids": [1]}`: 2,
		good + `{"timestamp": 0, "input_length": 513, "output_length": 5, "hash_ids": [1]}`:         2,
		good + `{"timestamp": 0, "input_length": 5, "output_length": -5, "hash_ids": [1]}`:          2,
		good + good + `{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": [-1]}`:   3,
		good + strings.Repeat("x", 1<<20+1):                                                         2,
		head + "yesterday,1,1":                                                                      2,
		head + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04,many,1":                                3,
		head + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04,1,few":                                 3,
		head + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04,1":                                     3,
		head + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04,1,\"":                                  3,
		head + "2023-11-16 18:17:03,0,1":                                                            2,
	} {
		_, err := replay.Read(strings.NewReader(text))
		var bad *replay.TraceError
		if !errors.Is(err, replay.ErrTrace) || !errors.As(err, &bad) || bad.Line != line {
			t.Errorf("%.80q: %v, want line %d", text, err, line)
		}
	}
}

func TestPartsOfATraceBeginAtZero(t *testing.T) {
	trace := make([]replay.Request, 10)
	for i := range trace {
		trace[i].At = time.Duration(i) * time.Second
	}
	part, err := replay.Part(trace, 0.5, 1)
	if err != nil || len(part) != 5 || part[0].At != 0 || part[4].At != 4*time.Second || trace[5].At != 5*time.Second {
		t.Errorf("%v, %v", part, err)
	}
	for _, bounds := range [][2]float64{{0.5, 0.5}, {-1, 1}, {0, 2}, {0.01, 0.02}} {
		if _, err := replay.Part(trace, bounds[0], bounds[1]); !errors.Is(err, replay.ErrConfig) {
			t.Errorf("%v: %v", bounds, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"timestamp": 0, "input_length": 5, "output_length": 5, "hash_ids": [1]}`)
	f.Add("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,513,10\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := replay.Read(strings.NewReader(text))
		if err != nil && !errors.Is(err, replay.ErrTrace) {
			t.Fatal(err)
		}
		for i, r := range all {
			if r.At < 0 || i > 0 && r.At < all[i-1].At || r.Output < 1 ||
				len(r.Blocks) != (r.Input+replay.TraceBlock-1)/replay.TraceBlock {
				t.Fatalf("%+v", r)
			}
		}
	})
}
