package emulator

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine"
	"octet/scheduler/core"
)

func TestAStepTakesWhatItsLoadTakes(t *testing.T) {
	c, err := Config{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		load stepLoad
		want time.Duration
	}{
		{stepLoad{}, 0},
		{stepLoad{prefill: 800}, 100 * time.Millisecond},
		{stepLoad{decodes: 1}, 10 * time.Millisecond},
		{stepLoad{decodes: 11}, 11 * time.Millisecond},
		{stepLoad{prefill: 800, decodes: 11}, 111 * time.Millisecond},
		{stepLoad{swap: true, decodes: 1}, 15 * time.Millisecond},
		{stepLoad{fetch: 100, decodes: 1}, 15 * time.Millisecond},
	} {
		if got := step.load.duration(c); got != step.want {
			t.Errorf("%+v takes %v, not %v", step.load, got, step.want)
		}
	}
}

// spent runs f against an engine in virtual time and returns what each unary answer took.
func spent(t *testing.T, c Config, bodies ...string) (took []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = e.Run(ctx) }()
		for _, body := range bodies {
			began, w := time.Now(), httptest.NewRecorder()
			e.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/v1/completions", strings.NewReader(body)))
			if w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			took = append(took, time.Since(began))
		}
		cancel()
		synctest.Wait()
	})
	return took
}

func TestAnAnswerTakesPrefillAndAStepForEachFurtherToken(t *testing.T) {
	prompt := strings.Repeat("w ", 799) // 800 tokens: 100 ms; the last block is computed anew even when all are cached
	body := fmt.Sprintf(`{"max_tokens":5,"prompt":%q}`, prompt)
	got := spent(t, Config{}, body, body)
	if want := 140 * time.Millisecond; got[0] != want {
		t.Errorf("cold it took %v, not %v", got[0], want)
	}
	if want := 42 * time.Millisecond; got[1] != want { // 16 of 800 tokens: 2 ms
		t.Errorf("cached it took %v, not %v", got[1], want)
	}
}

func TestAnAdapterSwapCostsOnce(t *testing.T) {
	c := Config{Adapters: []string{"a"}, PrefillTPS: 1e12}
	got := spent(t, c, `{"model":"a","max_tokens":3,"prompt":"p"}`, `{"model":"a","max_tokens":3,"prompt":"q"}`,
		`{"max_tokens":3,"prompt":"q"}`)
	for i, want := range []time.Duration{25, 20, 25} {
		if got[i] != want*time.Millisecond {
			t.Errorf("answer %d took %v, not %v ms", i, got[i], int(want))
		}
	}
}

func TestFetchedBlocksCostTheirTransferAndNoPrefill(t *testing.T) {
	prompt := strings.Repeat("w ", 99)
	c := Config{PrefillTPS: 1, KVTransferPerBlock: time.Millisecond}
	c.fetch = func(context.Context, *ask) (*kvTransfer, error) {
		return &kvTransfer{Model: "emulated", Tokens: engine.Tokenize(nil, []byte(prompt))}, nil
	}
	body := fmt.Sprintf(`{"max_tokens":1,"kv_transfer_params":{"do_remote_prefill":true},"prompt":%q}`, prompt)
	if got, want := spent(t, c, body)[0], 7*time.Millisecond; got != want { // 100 tokens are 7 blocks
		t.Errorf("took %v, not %v", got, want)
	}
}

func TestASlowRequestDoesNotSlowItsNeighbours(t *testing.T) {
	c := Config{PrefillTPS: 1e12, Faults: []Fault{{Kind: Slow, Times: 1}}}
	got := spent(t, c, `{"max_tokens":3,"prompt":"p"}`, `{"max_tokens":3,"prompt":"q"}`)
	if got[0] != 210*time.Millisecond || got[1] != 20*time.Millisecond {
		t.Errorf("took %v", got)
	}
}

func TestAStepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &stepper{cfg: Config{Step: time.Hour, PrefillTPS: 1}, sequences: newSequences(),
		model: &scriptedModel{sequences: newSequences()}}
	_, err := m.Step(ctx, core.Batch{Items: []core.Item{{ID: 1, Mode: core.Decode, Samples: true}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestConfigFaultsAreAllReported(t *testing.T) {
	_, err := New(Config{Text: "verse", Blocks: -1, MaxRunning: -1, PrefillTPS: -1, Faults: []Fault{{Kind: "?"}}})
	joined, ok := err.(interface{ Unwrap() []error })
	if !errors.Is(err, ErrConfig) || !ok || len(joined.Unwrap()) != 6 {
		t.Errorf("%v", err)
	}
	for _, c := range []Config{{Text: "verse"}, {Draft: 2}, {Hybrid: true}, {Text: "tiny", Draft: 99},
		{Text: "tiny", Blocks: 1 << 20}, {MaxModelLen: 1 << 20}, {MaxRunning: 10, TokenBudget: 5},
		{Adapters: []string{"a", "a"}}} {
		if _, err := New(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
