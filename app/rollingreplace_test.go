package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

const foundWorld = `
auth: {anonymous: true}
fleet: {probe_interval: 1s, discovery: {settle: 10ms}}
limits: {max_queue_wait: 30s}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 4, max_waiting: 64}
    discover: {template: {engine: vllm}}
`

// post sends a body and returns the answer's; it must be 2xx.
func (b *bubble) post(url, body string) string {
	b.T.Helper()
	resp, err := b.Ask(context.Background(), http.MethodPost, url, body)
	if err != nil {
		b.T.Fatal(err)
	}
	text := whole(b.T, resp)
	if resp.StatusCode/100 != 2 {
		b.T.Fatalf("%s: %d %s", url, resp.StatusCode, text)
	}
	return text
}

// register has a replica of debug found for so long.
func (b *bubble) register(name, ttl string) {
	b.post("http://admin/admin/replicas",
		fmt.Sprintf(`{"specialist":"debug","name":%q,"url":"http://%s","blocks":512,"ttl":%q}`, name, name, ttl))
}

// reply is what a client gets.
type reply struct {
	status int
	by     string // X-Specialist
	text   string
	took   time.Duration
}

func (b *bubble) reply(path, body string, headers ...string) reply {
	began := time.Now()
	resp, err := b.Ask(context.Background(), http.MethodPost, "http://data"+path, body, headers...)
	if err != nil {
		return reply{text: err.Error(), took: time.Since(began)}
	}
	text := whole(b.T, resp)
	return reply{resp.StatusCode, resp.Header.Get("X-Specialist"), text, time.Since(began)}
}

// chat asks for so many tokens.
func chat(model string, tokens int, stream bool, prompt string) string {
	return fmt.Sprintf(`{"model":%q,"stream":%t,"max_tokens":%d,"messages":[{"role":"user","content":%q}]}`, model,
		stream, tokens, prompt)
}

// Replicas are replaced one by one: what is open at one that goes is answered by one that came after it had begun, be
// it a stream or an answer in one piece.
func TestAReplicaThatCameLaterAnswersForOneThatDied(t *testing.T) {
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprint("stream ", stream), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engines := []emulator.Config{sleeperEngine("debug-a"), sleeperEngine("debug-b")}
				engines[0].Asleep, engines[1].Asleep = false, false
				b := newBubble(t, engines)
				b.Serve(foundWorld)
				b.register("debug-a", "1h")
				time.Sleep(3 * time.Second)
				b.post("http://debug-a/admin/faults", `{"kind":"die_after_tokens","k":1200,"times":1}`) // after 6 s
				answered := make(chan reply)
				go func() { answered <- b.reply("/v1/chat/completions", chat("debug", 2000, stream, "x")) }()
				time.Sleep(2 * time.Second)
				b.register("debug-b", "1h")
				got := <-answered
				if n := strings.Count(got.text, "⟦"); got.status != 200 || n != 2000 ||
					stream && !strings.Contains(got.text, "[DONE]") {
					t.Errorf("status %d, %d tokens: %.300s", got.status, n, got.text[max(0, len(got.text)-300):])
				}
			})
		})
	}
}
