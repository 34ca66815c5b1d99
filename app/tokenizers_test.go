package app_test

import (
	"strings"
	"testing"
)

// An engine's own /tokenize gives the exact index its tokens, for chats and completions alike.
//
//nolint:lll // raw text that cannot be broken
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
		w.Post(path, body)
		w.heard()
		resp, answer := w.Post(path, body)
		if got, want := resp.Header.Get("X-Cached-Tokens"), between(string(answer), `"cached_tokens":`, "}"); got != want || got == "0" {
			t.Errorf("%s: predicted %s, delivered %s", name, got, want)
		}
	}
}
