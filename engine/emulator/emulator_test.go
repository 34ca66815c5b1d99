package emulator_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
)

// fast is an engine whose steps take next to nothing.
func fast() emulator.Config {
	return emulator.Config{
		Name: "debug-0", Model: "debug", Blocks: 64, BlockSize: 4, MaxRunning: 8, MaxWaiting: 16,
		PrefillTPS: 1e9, Step: 50 * time.Microsecond, StepPerSeq: -1, AdapterSwap: -1, Epoch: 7,
		Adapters: []string{"gdb-v2", "asan"},
	}
}

// rig is a running engine with a real listener.
type rig struct {
	t   testing.TB
	e   *emulator.Emulator
	url string
}

func start(t testing.TB, c emulator.Config) *rig {
	t.Helper()
	e, err := emulator.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		_ = e.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return &rig{t, e, startServer(t, e)}
}

func startServer(t testing.TB, e *emulator.Emulator) (url string) {
	s := httptest.NewServer(e.Handler())
	t.Cleanup(s.Close)
	return s.URL
}

// post returns the response to a JSON body; fields are name, value, …
func (r *rig) post(ctx context.Context, path, id, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if id != "" {
		req.Header.Set("X-Request-Id", id)
	}
	return http.DefaultClient.Do(req)
}

// ask posts and returns status and body.
func (r *rig) ask(path, id, body string) (int, string) {
	r.t.Helper()
	resp, err := r.post(r.t.Context(), path, id, body)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// spoken is a message, or a part of one.
type spoken struct {
	Role, Content string
	Reasoning     string `json:"reasoning_content"`
	Calls         []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// reply is what both routes answer, whole or as one chunk.
type reply struct {
	ID      string
	Object  string
	Model   string
	Choices []struct {
		Index        int
		Text         string
		Message      spoken
		Delta        spoken
		FinishReason *string `json:"finish_reason"`
		IDs          []int   `json:"token_ids"`
		Prompt       []int   `json:"prompt_token_ids"`
	}
	Prompt []int `json:"prompt_token_ids"`
	Usage  *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
		Details          struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Transfer map[string]any `json:"kv_transfer_params"`
	Error    *struct {
		Message, Type string
		Code          int
	}
}

// whole asks for an answer in one piece.
func (r *rig) whole(path, id, body string) reply {
	r.t.Helper()
	status, text := r.ask(path, id, body)
	if status != http.StatusOK {
		r.t.Fatalf("%d %s", status, text)
	}
	return decode(r.t, text)
}

func decode(t testing.TB, text string) (out reply) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return out
}

// readEvents reads a stream to its end; done says whether [DONE] came.
func readEvents(t testing.TB, body io.Reader) (chunks []reply, done bool, err error) {
	t.Helper()
	s := bufio.NewScanner(body)
	for s.Scan() {
		switch data, ok := strings.CutPrefix(s.Text(), "data: "); {
		case data == "[DONE]":
			done = true
		case ok:
			chunks = append(chunks, decode(t, data))
		}
	}
	return chunks, done, s.Err()
}

func (r *rig) stream(path, id, body string) []reply {
	r.t.Helper()
	resp, err := r.post(r.t.Context(), path, id, body)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	chunks, done, err := readEvents(r.t, resp.Body)
	if err != nil || !done || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("status %d, done %v, %v", resp.StatusCode, done, err)
	}
	return chunks
}

// texts puts the streamed text of each choice together.
func texts(chunks []reply) map[int]string {
	out := map[int]string{}
	for _, c := range chunks {
		for _, ch := range c.Choices {
			out[ch.Index] += ch.Text + ch.Delta.Content
		}
	}
	return out
}

// marks is the text of tokens from … to-1 of request id in index mode.
func marks(id string, from, to int) (s string) {
	for i := from; i < to; i++ {
		s += fmt.Sprintf("⟦%s:%d⟧", id, i)
	}
	return s
}

// eventually waits for what the engine's own goroutines are about to do.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	// real time: the engine's own goroutines
	for deadline := time.Now().Add(5 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("never came: %s; %+v", what, r.e.State())
		}
	}
}

// quiet waits until no block is in use and nothing is left of any request.
func (r *rig) quiet() {
	r.t.Helper()
	r.eventually("all blocks back", func() bool {
		s := r.e.State()
		return s.Free == s.Total && s.Used+s.Reserved+s.Waiting+s.Running+s.Live == 0
	})
}
