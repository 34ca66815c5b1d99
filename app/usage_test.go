package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"octet/gateway/receipt"
)

// boaster is an engine whose usage is nonsense.
//
//nolint:lll // raw text that cannot be broken
func boaster(t *testing.T) string {
	t.Helper()
	const usage = `"usage":{"prompt_tokens":1000000000000000,"completion_tokens":1000000000000000,"total_tokens":2000000000000000,` +
		`"prompt_tokens_details":{"cached_tokens":900000000000000}}`
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case !bytes.Contains(body, []byte("messages")):
		case bytes.Contains(body, []byte(`"stream":true`)):
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(
				w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n")
			fmt.Fprint(w, "data: {\"choices\":[],"+usage+"}\n\ndata: [DONE]\n\n")
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(
				w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],`+
					usage+`}`)
		}
	}))
	t.Cleanup(engine.Close)
	return engine.URL
}

// B12: what an engine says of its usage empties the Gate's model of its cache, and a tenant's rate, no further than
// what can be.
func TestSecAUsageThatIsNonsense(t *testing.T) {
	w := newWorld(t, "auth: {anonymous: true}\nspecialists: [{name: debug, context: 4096, replicas: [{url: '"+
		boaster(t)+"', engine: openai, blocks: 512}]}]\n", nil)
	body := `{"model":"debug","max_tokens":8,"messages":[{"role":"user","content":"hello there"}]}`
	for _, body := range []string{body, streamed(body)} {
		resp, answer := w.Post("/v1/chat/completions", body)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, answer)
		}
		var r receipt.Receipt
		eventually(t, "a receipt", func() bool {
			return w.Get(w.Data+"/v1/receipts/"+resp.Header.Get("X-Receipt-Id"), &r) == http.StatusOK &&
				r.Result.Finish != ""
		})
		if r.Result.PromptTokens > 4096 || r.Result.CompletionTokens > 8 {
			t.Errorf("%+v", r.Result)
		}
	}
}
