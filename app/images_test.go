package app_test

import (
	"fmt"
	"net/http"
	"testing"

	"octet/engine/emulator"
	"octet/gateway/apierr"
)

// pictured is a chat with an image.
const pictured = `{"model":%q,%s"max_tokens":4,"messages":[{"role":"user","content":[{"type":"text",` +
	`"text":"what is it"},` +
	`{"type":"image_url","image_url":{"url":%q}}]}]}`

// Images reach the engines of specialists that take them, unread, and count; others refuse them before anything is
// dialled.
func TestImagesReachSpecialistsThatTakeThem(t *testing.T) {
	w := newWorld(t, `
auth: {anonymous: true}
fleet: {probe_interval: 1h}
specialists:
  - {name: sees, modalities: [text, image], image_tokens: 300, tokenizer: builtin, replicas: [{url: "%s"}]}
  - {name: reads, tokenizer: builtin, replicas: [{url: "%s"}]}
`, []emulator.Config{{Name: "sees-0", Model: "sees"}, {Name: "reads-0", Model: "reads"}})
	for _, stream := range []string{``, `"stream":true,`} {
		for _, url := range []string{"https://example.com/a.png", "data:image/png;base64,eA=="} {
			resp, text := w.Post("/v1/chat/completions", fmt.Sprintf(pictured, "sees", stream, url))
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %s", url, resp.StatusCode, text)
			}
			if r := w.receiptOf(resp.Header); r.Prompt.Tokens < 300 || r.Prompt.Tokens > 400 || r.Prompt.Exact ||
				r.Result.PromptTokens == 0 || r.Result.PromptTokens > 100 {
				t.Errorf("%s: %d tokens were expected, exactly %v, and %d came", url, r.Prompt.Tokens, r.Prompt.Exact,
					r.Result.PromptTokens)
			}
			resp, text = w.Post("/v1/chat/completions", fmt.Sprintf(pictured, "reads", stream, url))
			checkError(t, resp, text, 400, apierr.UnsupportedContent, "messages[0].content[1]")
			if r := w.receiptOf(resp.Header); len(r.Attempts) > 0 {
				t.Errorf("an engine was asked for what it does not take: %+v", r.Attempts)
			}
		}
	}
	resp, text := w.Post("/v1/chat/completions", fmt.Sprintf(pictured, "sees", "", "http://10.0.0.1/latest"))
	checkError(t, resp, text, 400, apierr.UnsupportedContent, "messages[0].content[1]")
}
