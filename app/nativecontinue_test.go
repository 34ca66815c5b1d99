package app_test

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"octet/engine/emulator"
	"octet/gateway/ensemble"
)

const (
	askedLong = "explain the iterator"
	chatLong  = `{"model":"debug","max_tokens":1500,"messages":[{"role":"user","content":"` + askedLong + `"}]}`
)

// nativeProse speak prose, and serve the doors: debug-0 alone, or both.
func nativeProse(both bool) []emulator.Config {
	engines := nativeEngines()
	for i := range engines {
		engines[i].Text = emulator.TextProse
		if i > 0 && !both {
			engines[i].Doors = nil
		}
	}
	return engines
}

// A native stream of Messages whose engine dies goes on at another replica, translated, and is one stream: one
// beginning, the text of an engine that lived, one usage and one end. The SDK puts it together.
func TestANativeStreamOfMessagesGoesOnElsewhere(t *testing.T) {
	w := newWorld(t, smallWorld, nativeProse(true), "limits.retry_budget=1", "fleet.breaker.failures=100",
		"limits.idle_timeout=300ms")
	p := anthropic.MessageNewParams{Model: "debug", MaxTokens: 1500,
		Messages: []anthropic.MessageParam{{Role: "user", Content: []anthropic.ContentBlockParamUnion{
			anthropic.NewTextBlock(askedLong)}}}}
	whole, err := streamedMessage(t, messagesClient(w), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, death := range deaths {
		for _, k := range []int{1, 9, 40} {
			w.diesOnce(chatLong, death, k)
			got, err := streamedMessage(t, messagesClient(w), p)
			if err != nil || len(got.Content) != 1 || got.Content[0].Text != whole.Content[0].Text ||
				got.Usage.OutputTokens != whole.Usage.OutputTokens || got.StopReason != whole.StopReason {
				t.Fatalf("%s after %d: %v\n%s\nwant\n%s", death, k, err, got.RawJSON(), whole.RawJSON())
			}
		}
	}
	w.diesOnce(chatLong, emulator.DieAfterTokens, 5)
	resp, raw := w.Post("/v1/messages", `{"model":"debug","stream":true,"max_tokens":1500,"messages":[{"role":"user",`+
		`"content":"`+askedLong+`"}]}`)
	r := w.receiptOf(resp.Header)
	if resp.Header.Get("X-Door") != "native" || r.Result.Continued != 1 || !r.Result.Done ||
		strings.Count(string(raw), "event: message_start") != 1 || r.Result.CompletionTokens !=
		int(whole.Usage.OutputTokens) {
		t.Errorf("%v\n%+v\n%s", resp.Header, r.Result, raw)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// Likewise of Responses: the numbers of its events go on, and its last event repeats all of the text.
func TestANativeStreamOfResponsesGoesOnElsewhere(t *testing.T) {
	w := newWorld(t, smallWorld, nativeProse(true), "limits.retry_budget=1", "fleet.breaker.failures=100",
		"limits.idle_timeout=300ms")
	c := responsesClient(w, option.WithHeader("X-Request-Id", "one"))
	p := responses.ResponseNewParams{Model: "debug", MaxOutputTokens: openai.Int(1500),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(askedLong)}}
	whole, _ := streamedResponse(t, c, p)
	for _, death := range deaths {
		w.diesOnce(chatLong, death, 9)
		stream, next, ids := c.Responses.NewStreaming(t.Context(), p), int64(0), map[string]bool{}
		var last responses.Response
		for stream.Next() {
			e := stream.Current()
			if e.SequenceNumber != next {
				t.Fatalf("%s: %s has number %d, not %d", death, e.Type, e.SequenceNumber, next)
			}
			if next++; e.ItemID != "" {
				ids[e.ItemID] = true
			}
			last = e.Response
		}
		if stream.Err() != nil || last.OutputText() != whole.OutputText() || last.Status != "completed" ||
			len(ids) != 1 || !ids[last.Output[0].ID] || last.Usage.OutputTokens != whole.Usage.OutputTokens {
			t.Fatalf("%s: %v, items %v\n%s\nwant\n%s", death, stream.Err(), ids, last.RawJSON(), whole.RawJSON())
		}
	}
}

// From the first call of a tool on, and where the tokens so far may be most of what was asked for, a native stream
// whose engine dies ends with one typed error.
func TestANativeStreamThatCannotGoOnEndsWithOneError(t *testing.T) {
	engines := nativeProse(true)
	for i := range engines {
		engines[i].Text = emulator.TextTools
	}
	w := newWorld(t, smallWorld, engines, "limits.retry_budget=1", "fleet.breaker.failures=100")
	for name, body := range map[string]string{
		"a call": `{"model":"debug","stream":true,"max_tokens":1500,"messages":[{"role":"user",` +
			`"content":"go [[text=0 calls=1 args=40]]"}],"tools":[{"name":"f","input_schema":{"type":"object",` +
			`"properties":{"a":{"type":"string"}}}}]}`,
		"few tokens": `{"model":"debug","stream":true,"max_tokens":40,"messages":[{"role":"user",` +
			`"content":"go [[text=39]]"}]}`,
	} {
		for _, replica := range []string{"debug-0", "debug-1"} {
			w.Fault(replica, `{"kind":"die_after_tokens","k":25,"times":1}`)
		}
		resp, raw := w.Post("/v1/messages", body)
		if resp.Header.Get("X-Door") != "native" || strings.Count(string(raw), "event: error\n") != 1 ||
			strings.Contains(string(raw), "message_stop") || !strings.Contains(string(raw), "upstream_reset") {
			t.Errorf("%s: %v\n%s", name, resp.Header, raw)
		}
	}
}

// A native stream gives its place up and goes on where it was. Its engine did not tell its tokens, of which an event
// may bring several: it may end before max_tokens, by as many as its text had bytes, and never behind.
func TestAPreemptedNativeStreamGoesOnWhereItWas(t *testing.T) {
	const most = 400
	engines := slowEngines()
	for i := range engines {
		engines[i].Doors, engines[i].StreamInterval = []string{emulator.DoorMessages}, 3
	}
	w := newWorld(t, smallWorld, engines, "specialists[1].scheduler.max_running=1")
	resp := w.Ask(t.Context(), "/v1/messages", fmt.Sprintf(`{"model":"systems","stream":true,"max_tokens":%d,`+
		`"messages":[{"role":"user","content":"x"}]}`, most), "X-Priority", "-5", "X-Request-Id", "low")
	got := until(t, resp.Body, "⟦low:9⟧")
	if high, answer := w.Post("/v1/chat/completions", streamed(systems), "X-Priority", "5"); high.StatusCode != 200 {
		t.Errorf("the urgent one: status %d: %s", high.StatusCode, answer)
	}
	rest, err := io.ReadAll(resp.Body)
	got += string(rest)
	n := strings.Count(got, "⟦low:")
	if err != nil || n > most || n < most/2 || strings.Count(got, "event: message_stop") != 1 ||
		strings.Count(got, "event: content_block_start") != 1 || !strings.Contains(got, `"stop_reason":"max_tokens"`) {
		t.Errorf("%v, %d tokens of %d:\n%s", err, n, most, got)
	}
	for i := range n {
		if strings.Count(got, fmt.Sprintf("⟦low:%d⟧", i)) != 1 {
			t.Fatalf("token %d of %d is there %d times", i, n, strings.Count(got, fmt.Sprintf("⟦low:%d⟧", i)))
		}
	}
	if n := w.gate("systems-0").Stats().Preemptions; n != 1 || resp.Header.Get("X-Door") != "native" {
		t.Errorf("%d preemptions, %v", n, resp.Header)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// Within and behind reasoning a native stream goes on where engines were seen to show it to their model, as its own
// tokens are not told. Where none was, it ends in one typed error, and of the replica nothing is concluded.
func TestANativeStreamGoesOnFromReasoningThatIsSeen(t *testing.T) {
	engines := nativeProse(true)
	for i := range engines {
		engines[i].Text = emulator.TextTools
	}
	w := newWorld(t, smallWorld, engines, "limits.retry_budget=1", "fleet.breaker.failures=100")
	const i = 2 // reasoning and text
	chat := toldAt(chatPath, "debug", i)
	both := []string{"debug-0", "debug-1"}
	for _, path := range []string{messagesPath, responsesPath} {
		_, want := w.Post(path, toldAt(path, "debug", i), "X-Request-Id", "cut")
		for _, known := range []uint32{ensemble.ReasoningUntried, ensemble.ReasoningShown} {
			for _, k := range []int{5, 9, 16} {
				for _, name := range both {
					w.Replica(name).Reasoning.Store(known)
				}
				w.diesOnce(chat, emulator.DieAfterTokens, k)
				resp, got := w.Post(path, toldAt(path, "debug", i), "X-Request-Id", "cut")
				r := w.receiptOf(resp.Header)
				goes := known == ensemble.ReasoningShown
				if goes != r.Result.Done || resp.Header.Get("X-Door") != "native" {
					t.Errorf("%s, known %d, after %d: %v %+v", path, known, k, resp.Header, r.Result)
				}
				if a, b := saidAt(string(want)), saidAt(string(got)); goes && a != b || !strings.HasPrefix(a, b) {
					t.Errorf("%s, known %d, after %d: %s\nalone %s", path, known, k, b, a)
				}
				for _, name := range both {
					if now := w.Replica(name).Reasoning.Load(); now != known {
						t.Errorf("%s, known %d, after %d: of %s is known %d", path, known, k, name, now)
					}
				}
			}
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// pieces are what the deltas of a door's stream say.
var pieces = regexp.MustCompile(`"(thinking|text|delta)":("(?:[^"\\]|\\.)*")`)

// saidAt puts what a stream of a door said in deltas together.
func saidAt(stream string) (said string) {
	for _, event := range strings.Split(stream, "\n\n") {
		if !strings.Contains(event, "delta\n") {
			continue
		}
		for _, m := range pieces.FindAllStringSubmatch(event, -1) {
			said += strings.Trim(m[2], `"`)
		}
	}
	return said
}
