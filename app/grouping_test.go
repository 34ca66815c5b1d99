package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"octet/internal/await"
)

// slowLoras is an engine with two adapters that answers one request after another, each when it is let go on, and knows
// in which order they came.
type slowLoras struct {
	mu    sync.Mutex
	order []string // guarded by mu
	let   chan struct{}
}

//nolint:lll // raw text that cannot be broken
func (e *slowLoras) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"open"},{"id":"a","parent":"open"},{"id":"b","parent":"open"}]}`)
		return
	}
	var asked struct {
		Model    string
		Messages []struct{ Content string }
	}
	if json.NewDecoder(r.Body).Decode(&asked) != nil || len(asked.Messages) != 1 {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	e.order = append(e.order, asked.Messages[0].Content+" of "+asked.Model)
	e.mu.Unlock()
	select {
	case <-e.let:
	case <-r.Context().Done():
	}
	fmt.Fprint(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
}

func (e *slowLoras) came() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.order)
}

const adapterWorld = `
specialists:
  - name: open
    tokenizer: none
    adapters: [{name: a}, {name: b}]
    scheduler: {max_running: 1, max_waiting: 8, speculative_window: %d}
    replicas: [{name: open-0, url: "%s", engine: openai, blocks: 64}]
`

// MEGA-26, MEGA-68: an engine that batches itself is sent the waiting requests of one adapter one behind the other, as
// far as scheduler.adapter_overtakes lets them; with 0 it is sent them as they came.
func TestAnEngineIsSentTheWaitingByAdapter(t *testing.T) {
	for overtakes, want := range map[string][]string{
		"0": {"1 of a", "2 of b", "3 of a", "4 of b", "5 of a"},
		"1": {"1 of a", "3 of a", "2 of b", "4 of b", "5 of a"},
		"4": {"1 of a", "3 of a", "5 of a", "2 of b", "4 of b"},
	} {
		engine := &slowLoras{let: make(chan struct{})}
		server := httptest.NewServer(engine)
		w := newWorld(t, fmt.Sprintf(adapterWorld, 0, server.URL), nil,
			"specialists[0].scheduler.adapter_overtakes="+overtakes)
		var clients sync.WaitGroup
		for i, adapter := range []string{"a", "b", "a", "b", "a"} {
			body := fmt.Sprintf(`{"model":"open:%s","max_tokens":1,"messages":[{"role":"user","content":"%d"}]}`,
				adapter, i+1)
			clients.Go(func() {
				resp := w.Ask(context.Background(), "/v1/chat/completions", body)
				if _, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 {
					t.Errorf("%s: status %d, %v", body, resp.StatusCode, err)
				}
				_ = resp.Body.Close() // it is read
			})
			await.True(t, "the request runs or waits", func() bool {
				s := w.Replica("open-0").Gate.Stats()
				return s.Running+s.Waiting == i+1 && len(engine.came()) == 1
			})
		}
		for i := range 5 {
			engine.let <- struct{}{}
			await.True(t, "the next runs", func() bool { return len(engine.came()) == min(i+2, 5) })
		}
		clients.Wait()
		if got := engine.came(); !slices.Equal(got, want) {
			t.Errorf("%s overtakes: the engine was sent %v, want %v", overtakes, got, want)
		}
		w.Close()
		server.Close()
	}
}

// MEGA-48: of each turn the receipt says whether the whole draft window has its blocks, or one token a step alone: then
// what is speculated is the engine's affair. Without a window it says nothing.
func TestAReceiptSaysHowARequestWasAdmittedToSpeculate(t *testing.T) {
	for window, want := range map[int][]string{0: {"", ""}, 32: {"reserved", "engine"}} {
		engine := &slowLoras{let: make(chan struct{})}
		server := httptest.NewServer(engine)
		w := newWorld(t, fmt.Sprintf(adapterWorld, window, server.URL), nil,
			"specialists[0].scheduler.max_running=2", "specialists[0].replicas[0].blocks=4")
		found := make([]chan string, 2)
		for i := range found {
			found[i] = make(chan string, 1)
			go func() {
				body := `{"model":"open","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`
				resp := w.Ask(context.Background(), "/v1/chat/completions", body)
				_, _ = io.Copy(io.Discard, resp.Body) // the receipt tells of it
				_ = resp.Body.Close()                 // it is read
				found[i] <- w.receiptOf(resp.Header).Attempts[0].Speculation
			}()
			await.True(t, "the engine has it", func() bool { return len(engine.came()) == i+1 })
		}
		for range found {
			engine.let <- struct{}{}
		}
		if got := []string{<-found[0], <-found[1]}; !slices.Equal(got, want) {
			t.Errorf("a window of %d: %q, want %q", window, got, want)
		}
		w.Close()
		server.Close()
	}
}
