package cmd

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"octet/engine/openai"
)

// An engine's own /tokenize gives the exact index its tokens, for chats and completions alike.
func TestTheEnginesTokenizerMeetsItsOwnBlocks(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "specialists[0].tokenizer=engine", "specialists[1].tokenizer=engine")
	for name, body := range shapes(strings.Repeat("std::map<int, int> m; ", 30)) {
		if name == "tool" {
			continue // its null content is tokenized by the same template; line_test has it
		}
		path := "/v1/chat/completions"
		if strings.Contains(body, `"prompt"`) {
			path = "/v1/completions"
		}
		before := w.house.index.Stats().Entries
		w.post(path, body)
		eventually(t, "the index follows", func() bool { return w.house.index.Stats().Entries > before })
		resp, answer := w.post(path, body)
		if got, want := resp.Header.Get("X-Cached-Tokens"), between(string(answer), `"cached_tokens":`, "}"); got != want || got == "0" {
			t.Errorf("%s: predicted %s, delivered %s", name, got, want)
		}
	}
}

func TestATokenizerThatFailsIsLeftAloneForAWhile(t *testing.T) {
	var asked atomic.Int32
	w := newWorld(t, smallWorld, smallEngines(), "specialists[1].tokenizer=engine",
		"specialists[1].tokenizer_timeout=1m")
	broken := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		rw.WriteHeader(http.StatusInternalServerError)
	}))
	defer broken.Close()
	one := (*w.house.tokens.by.Load())["systems"]
	client, err := openai.New(openai.Config{URL: broken.URL})
	if err != nil {
		t.Fatal(err)
	}
	one.replicas = []checkedReplica{{client: client}}
	for range 5 {
		resp, answer := w.post("/v1/chat/completions", systems)
		if resp.StatusCode != 200 {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("a broken tokenizer was asked %d times", n)
	}
	var route struct{ Prompt struct{ Exact bool } }
	_, answer := w.post("/v1/route", systems)
	if err := json.Unmarshal(answer, &route); err != nil || route.Prompt.Exact {
		t.Errorf("%v: the prompt's length is said to be exact: %s", err, answer)
	}
}
