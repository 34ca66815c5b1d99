package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

const oneWorld = `
auth: {anonymous: true}
fleet: {probe_interval: 1s}
specialists:
  - name: debug
    tokenizer: %s
    replicas:
      - {name: debug-0, url: "http://debug-0", engine: vllm, blocks: %d}
`

// A field that a door refuses is named as it was sent, and not by another of the door's that a chat completion has
// under this name.
func TestARefusedFieldIsNamedAsItWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, awake("debug-0"))
		b.Serve(fmt.Sprintf(oneWorld, "builtin", 512))
		for path, fields := range map[string][]string{
			"/v1/messages": {"stop", "stream_options", "user", "prompt_cache_key", "response_format",
				"reasoning_effort", "parallel_tool_calls", "max_completion_tokens"},
			"/v1/responses": {"max_tokens", "messages", "response_format", "reasoning_effort", "verbosity", "stop"},
		} {
			for _, field := range fields {
				body := strings.Replace(chat("debug", 8, false, "x"), "{", fmt.Sprintf("{%q:{},", field), 1)
				if path == "/v1/responses" {
					body = fmt.Sprintf(`{"model":"debug","input":"x",%q:{}}`, field)
				}
				got := b.reply(path, body)
				if got.status != 400 || !strings.Contains(got.text, fmt.Sprintf(`"param":%q`, field)) ||
					!strings.Contains(got.text, "unsupported_parameter") {
					t.Errorf("%s, %s: %d %s", path, field, got.status, got.text)
				}
			}
		}
		// what the gateway finds in the chat completion is named by its place in what was sent
		got := b.reply("/v1/responses", `{"model":"debug","input":"x","max_output_tokens":99999}`)
		if got.status != 400 || !strings.Contains(got.text, `"param":"max_output_tokens"`) {
			t.Errorf("%d %s", got.status, got.text)
		}
	})
}

// count_tokens needs a tokenizer, and no cache events.
func TestTokensAreCountedWithoutCacheEvents(t *testing.T) {
	for tokenizer, status := range map[string]int{"builtin": 200, "engine": 200, "auto": 200, "none": 422} {
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, awake("debug-0"))
			b.Serve(fmt.Sprintf(oneWorld, tokenizer, 512))
			time.Sleep(3 * time.Second)
			const body = `{"model":"debug",%s"cache_control":{"type":"ephemeral"},` +
				`"messages":[{"role":"user","content":"how long?"}]}`
			counted := b.reply("/v1/messages/count_tokens", fmt.Sprintf(body, ""))
			whole := b.reply("/v1/messages", fmt.Sprintf(body, `"max_tokens":4,`))
			tokens := regexp.MustCompile(`"input_tokens":\d+`)
			if counted.status != status || whole.status != 200 ||
				status == 200 && tokens.FindString(counted.text) != tokens.FindString(whole.text) {
				t.Errorf("%s: %d %s; %s", tokenizer, counted.status, counted.text, whole.text)
			}
		})
	}
}

// A member that is null is absent, be its name known or not.
func TestANullMemberIsAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, awake("debug-0"))
		b.Serve(fmt.Sprintf(oneWorld, "builtin", 512), "specialists[0].replicas[0].engine=llamacpp")
		asked := chat("debug", 3, false, "x")
		for path, body := range map[string]string{
			"/v1/completions": `{"model":"debug","prompt":"x","max_tokens":3,"tools":null,"store":null,` +
				`"messages":null,"foo":null}`,
			"/v1/chat/completions": strings.Replace(asked, `{`, `{"prompt":null,"previous_response_id":null,`, 1),
		} {
			if got := b.reply(path, body); got.status != 200 {
				t.Errorf("%s: %d %s", path, got.status, got.text)
			}
		}
		got := b.reply("/v1/chat/completions", strings.Replace(asked, `{`, `{"previous_response_id":1,`, 1))
		if got.status != 400 {
			t.Errorf("%d %s", got.status, got.text)
		}
	})
}

// The context of an engine whose pool holds no more than that is what it says it is, and not the default.
func TestAContextAsLongAsItsPoolIsTaken(t *testing.T) {
	for blocks, says := range map[int]string{4096: "65536", 64: "32768"} { // admission judges what a small pool holds
		synctest.Test(t, func(t *testing.T) {
			e := emulator.Config{Name: "debug-0", Model: "debug", Blocks: blocks, MaxModelLen: blocks * 16}
			b := newBubble(t, []emulator.Config{e})
			b.Serve(fmt.Sprintf(oneWorld, "builtin", 0))
			time.Sleep(3 * time.Second)
			if models := b.Read("http://data/v1/models"); !strings.Contains(models, `"max_model_len":`+says) {
				t.Errorf("%d blocks: %s", blocks, models)
			}
		})
	}
}

// A decision that nothing is run by changes no metric but those of the process and of the listeners themselves.
func TestADryRunCountsNoClassification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, choiceEngines())
		b.Serve(strings.NewReplacer("name: systems\n", "name: algo\n", "fallback: systems", "fallback: algo").
			Replace(twoChoices))
		time.Sleep(3 * time.Second)
		const asked = `"messages":[{"role":"user","content":"how do I make this allocator lock free?"}]}`
		count := func() float64 { return b.Metric("http://admin", "octet_classifier_total", `outcome="answered"`) }
		b.post("http://data/v1/route", `{"model":"octet",`+asked)
		if n := count(); n != 0 {
			t.Errorf("%v texts were classified", n)
		}
		if b.reply("/v1/chat/completions", `{"model":"octet","max_tokens":2,`+asked); count() != 1 {
			t.Errorf("%v texts were classified", count())
		}
	})
}

// A body that is not what its head says has an answer, whichever server is in front.
func TestABrokenBodyHasAnAnswer(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		w := newWorld(t, smallWorld, smallEngines(), "front="+front)
		c, err := net.Dial("tcp", strings.TrimPrefix(w.Data, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"+
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n")
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		_, _ = io.Copy(&said, c) // which the server closes
		if !strings.HasPrefix(said.String(), "HTTP/1.1 400 "+http.StatusText(400)) ||
			!strings.Contains(said.String(), `"invalid_request"`) {
			t.Errorf("%s: %q", front, said.String())
		}
		_ = c.Close()
	}
}
