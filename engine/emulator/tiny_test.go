package emulator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/engine"
	"octet/engine/emulator"
	"octet/engine/emulator/tiny"
)

// think is a fast engine in tiny mode.
func think(draft int, hybrid bool) emulator.Config {
	c := fast()
	c.Text, c.Draft, c.Hybrid = emulator.TextTiny, draft, hybrid
	return c
}

// alone answers a prompt with a model of its own, as text.
func alone(c emulator.Config, vocabulary []string, adapter, prompt string, maxNew int) (text string) {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(c.Model))
	ids, pieces := []uint32{}, map[uint32]string{}
	for _, p := range vocabulary {
		id := engine.TokenID([]byte(p))
		ids = append(ids, id)
		pieces[id] = p
	}
	tokens, _ := tiny.NewModel(seed.Sum64(), ids, c.Hybrid).Answer(adapter, engine.Tokenize(nil, []byte(prompt)),
		maxNew)
	for _, t := range tokens {
		text += pieces[t]
	}
	return text
}

// MEGA-23, MEGA-30, MEGA-35, MEGA-68, MEGA-69: over HTTP, under pressure, beside other adapters, with drafts and shared
// prefixes, every client reads what its request is answered alone.
func TestTinyAnswersAreThoseOfEachRequestAlone(t *testing.T) {
	cross := think(3, true)
	cross.CrossAdapter = true
	for _, c := range []emulator.Config{think(0, false), think(3, false), think(3, true), cross} {
		t.Run(fmt.Sprintf("draft %d hybrid %t cross-adapter %t", c.Draft, c.Hybrid, c.CrossAdapter),
			func(t *testing.T) {
				r := start(t, c)
				var asks sync.WaitGroup
				for i := range 12 {
					asks.Go(func() {
						model := []string{"debug", "gdb-v2", "asan"}[i%3]
						prompt := strings.Repeat("int main() {", 1+i%4*4) + fmt.Sprint(i/6)
						body, err := json.Marshal(map[string]any{"model": model, "prompt": prompt, "max_tokens": 60,
							"stream": true})
						if err != nil {
							t.Error(err)
							return
						}
						want := alone(c, emulator.Vocabulary(), strings.TrimPrefix(model, "debug"), prompt, 60)
						if got := texts(r.stream("/v1/completions", "", string(body)))[0]; got != want {
							t.Errorf("%s %q said\n%q, alone\n%q", model, prompt, got, want)
						}
					})
				}
				asks.Wait()
				r.quiet()
				if s := r.e.State(); s.Preemptions == 0 {
					t.Errorf("nobody gave way: %+v", s)
				}
			})
	}
}

// MEGA-23: a conversation that comes back with its answer is found in the cache, answer and all.
func TestTinyAnswersComeBackAsTheTokensThatTheyWere(t *testing.T) {
	c := think(2, false)
	r := start(t, c)
	first := r.whole("/v1/chat/completions", "", `{"messages":[{"role":"user","content":"hello"}],"max_tokens":40}`)
	answer := first.Choices[0].Message.Content
	body, err := json.Marshal(map[string]any{"max_tokens": 4, "messages": []map[string]string{
		{"role": "user", "content": "hello"}, {"role": "assistant", "content": answer},
		{"role": "user", "content": "and then?"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	second := r.whole("/v1/chat/completions", "", string(body))
	whole := first.Usage.TotalTokens - 1 // the last token of an answer is not computed
	if want := whole / c.BlockSize * c.BlockSize; second.Usage.Details.CachedTokens != want {
		t.Errorf("%d tokens were cached, not %d of %d", second.Usage.Details.CachedTokens, want, whole)
	}
}

// MEGA-23, MEGA-30: clients that leave in the middle of a step leave no block behind that was never computed: requests
// that share their prompts read what they are answered alone.
func TestTinyClientsWhoLeaveSpoilNobodysPrefix(t *testing.T) {
	c := think(0, false)
	c.TokenBudget = 16
	r := start(t, c)
	for round := range 10 {
		var asks sync.WaitGroup
		prompt := fmt.Sprint("round ", round, strings.Repeat(" of a long prompt", 8))
		body := fmt.Sprintf(`{"prompt":%q,"max_tokens":6,"stream":true}`, prompt)
		for i := range 4 {
			asks.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(100*(round+1)*(i+1))*time.Microsecond)
				defer cancel()
				if resp, err := r.post(ctx, "/v1/completions", "", body); err == nil {
					_ = resp.Body.Close()
				}
			})
		}
		want := alone(c, emulator.Vocabulary(), "", prompt, 6)
		if got := texts(r.stream("/v1/completions", "", body))[0]; got != want {
			t.Errorf("round %d said %q, alone %q", round, got, want)
		}
		asks.Wait()
	}
	r.quiet()
}

// Another replica of the model goes on with an answer where the first one stopped.
func TestTinyReplicasGoOnWithEachOthersAnswers(t *testing.T) {
	c := think(0, false)
	a := start(t, c)
	c.Name, c.Seed, c.Draft = "debug-1", 9, 3
	b := start(t, c)
	whole := a.whole("/v1/completions", "", `{"prompt":"a b c","max_tokens":30}`).Choices[0].Text
	half := a.whole("/v1/completions", "", `{"prompt":"a b c","max_tokens":12}`).Choices[0].Text
	rest := b.whole("/v1/completions", "",
		fmt.Sprintf(`{"prompt":"a b c%s","max_tokens":18,"continue_from":12}`, half)).Choices[0].Text
	if half+rest != whole {
		t.Errorf("%q and %q, not %q", half, rest, whole)
	}
}

// BenchmarkTiny measures tokens a second of a tiny model through HTTP, without any model time.
func BenchmarkTiny(b *testing.B) {
	for _, clients := range []int{1, 8} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			c := think(0, false)
			c.Blocks, c.BlockSize, c.Step = 4096, 16, -1
			r := start(b, c)
			const each = 100
			tokens := 0
			for b.Loop() {
				var asks sync.WaitGroup
				said := make([]int, clients)
				for i := range clients {
					asks.Go(func() {
						reply := r.whole("/v1/completions", "",
							fmt.Sprintf(`{"prompt":"p%d","max_tokens":%d}`, i, each))
						said[i] = reply.Usage.CompletionTokens
					})
				}
				asks.Wait()
				for _, n := range said {
					tokens += n
				}
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
