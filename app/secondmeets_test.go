package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/slo"
)

// twoChoices has a first choice that takes what may come, and a second one that is fitted out by a test.
const twoChoices = `
auth: {anonymous: true}
fleet: {probe_interval: 1s}
limits: {max_queue_wait: 12s, ttft_timeout: 30s}
router: {detectors: false}
shadow: {max_concurrent: 0}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    fallback: systems
    modalities: [text, image]
    scheduler: {max_running: 1, max_waiting: 8}
    replicas:
      - {name: debug-0, url: "http://debug-0", engine: vllm, blocks: 512}
  - name: systems
    tokenizer: builtin
    context: 4096
    scheduler: {max_running: 4, max_waiting: 64}
    replicas:
      - {name: systems-0, url: "http://systems-0", engine: vllm, blocks: 512}
`

// choiceEngines are those of twoChoices, and one that sleeps, which takes 40 s to wake.
func choiceEngines() []emulator.Config {
	engines := make([]emulator.Config, 3)
	for i, name := range []string{"debug-0", "systems-0", "sleeper-0"} {
		engines[i] = emulator.Config{Name: name, Model: "systems", Blocks: 512, MaxRunning: 4,
			Step: 10 * time.Millisecond, LoadTime: 40 * time.Second, Asleep: name == "sleeper-0"}
	}
	engines[0].Model = "debug"
	return engines
}

// unable are ways in which a second choice cannot answer what the first one can: keys that say so, and a body.
var unable = map[string]struct {
	sets   []string
	body   string
	demote bool
}{
	"its context is smaller than the answer": {[]string{"specialists[1].context=64"}, hesitant(80, "", ""), false},
	"its context is smaller than the prompt": {[]string{"specialists[1].context=64"},
		hesitant(8, "", strings.Repeat(" word", 200)), false},
	"its engines know no such member": {[]string{"specialists[1].replicas[0].engine=llamacpp"},
		hesitant(8, `"guided_regex":"a*",`, ""), false},
	"it takes no images": {nil, `{"model":"octet","max_tokens":8,"messages":[` + withImage("unsure 0.60") + `]}`,
		false},
	"it is dead":    {[]string{"specialists[1].replicas[0].url=http://nowhere"}, hesitant(8, "", ""), false},
	"it is demoted": {nil, hesitant(8, "", ""), true},
	"it sleeps": {[]string{"specialists[1].replicas[0].url=http://sleeper-0", "specialists[1].sleep.hold=60s"},
		hesitant(8, "", ""), false},
}

// withImage is a message with a text and an image.
func withImage(text string) string {
	return `{"role":"user","content":[{"type":"text","text":"` + text + `"},` +
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}`
}

// hesitant is a request of which the router is unsure.
func hesitant(tokens int, member, more string) string {
	return fmt.Sprintf(`{"model":"octet",%s"max_tokens":%d,"messages":[{"role":"user","content":"unsure 0.60%s"}]}`,
		member, tokens, more)
}

// occupy has one request at debug for 5 s, whose length the gateway has learnt.
func (b *bubble) occupy() {
	for range 8 {
		b.reply("/v1/chat/completions", chat("debug", 20, true, "x"))
	}
	go b.reply("/v1/chat/completions", chat("debug", 500, true, "x"))
	time.Sleep(100 * time.Millisecond)
}

func demoteBoard(b *bubble, name string) {
	sp := b.App.Server().Runtime().Specialist(name)
	for range 200 {
		sp.Board.Outcome(slo.Verdict{Answered: time.Now(), Kind: "compile"})
	}
}

// A request goes to its second choice, by load, by a diversion or by a share of probation, only if that can answer it
// now: the first one can, after 5 s at most.
func TestAnotherSpecialistAnswersOnlyWhatItCan(t *testing.T) {
	ways := map[string]func(t *testing.T, b *bubble, sets []string, body string) []reply{
		"busy": func(_ *testing.T, b *bubble, _ []string, body string) []reply {
			b.occupy()
			return []reply{b.reply("/v1/chat/completions", body)}
		},
		"diverted": func(_ *testing.T, b *bubble, _ []string, body string) []reply {
			b.put("escalation.debug", `{"value":1,"why":"x"}`)
			return []reply{b.reply("/v1/chat/completions", body, "X-Intent", "review")}
		},
		"on probation": func(t *testing.T, b *bubble, sets []string, body string) []reply {
			next := b.Config(twoChoices, append(sets, "specialists[0].version=2")...)
			if err := b.App.Apply(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			doubting(t, b.App)
			time.Sleep(2 * time.Second)
			var all []reply
			for range 20 {
				all = append(all, b.reply("/v1/chat/completions", strings.Replace(body, "0.60", "0.90", 1)))
			}
			return all
		},
	}
	for way, ask := range ways {
		for name, c := range unable {
			if strings.HasSuffix(name, "than the prompt") && way != "busy" {
				continue // its length is known where it is routed, which is after this
			}
			t.Run(way+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sets := append([]string{"intents.review.divert_threshold=0.9", "intents.review.shadow_threshold=0"},
						c.sets...)
					b := newBubble(t, choiceEngines())
					b.Serve(twoChoices, sets...)
					doubting(t, b.App)
					time.Sleep(3 * time.Second)
					if c.demote {
						demoteBoard(b, "systems")
					}
					for _, got := range ask(t, b, sets, c.body) {
						if got.status != 200 || got.by != "debug" || got.took > 10*time.Second {
							t.Fatalf("status %d by %q after %v: %.300s", got.status, got.by, got.took, got.text)
						}
					}
					time.Sleep(time.Minute)
				})
			})
		}
	}
}

// Where the second choice can answer it does, in each of these ways.
func TestAnotherSpecialistAnswersWhatItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, choiceEngines())
		b.Serve(twoChoices, "intents.review.divert_threshold=0.9", "intents.review.shadow_threshold=0")
		doubting(t, b.App)
		time.Sleep(3 * time.Second)
		b.occupy()
		if got := b.reply("/v1/chat/completions", hesitant(8, "", "")); got.status != 200 || got.by != "systems" {
			t.Errorf("busy: status %d by %q", got.status, got.by)
		}
		time.Sleep(time.Minute)
		b.put("escalation.debug", `{"value":1,"why":"x"}`)
		if got := b.reply("/v1/chat/completions", hesitant(8, "", ""), "X-Intent", "review"); got.by != "systems" {
			t.Errorf("diverted: status %d by %q", got.status, got.by)
		}
	})
}

// A conversation leaves a specialist that takes text alone when it brings an image.
func TestAConversationGoesWhereItsImageIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, choiceEngines())
		b.Serve(twoChoices)
		doubting(t, b.App)
		time.Sleep(3 * time.Second)
		const first = `{"role":"user","content":"hello unsure 0.10"}`
		turns := func(messages string) reply {
			return b.reply("/v1/chat/completions", `{"model":"octet","max_tokens":4,"messages":[`+messages+`]}`)
		}
		if got := turns(first); got.by != "systems" {
			t.Fatalf("the first turn is answered by %q", got.by)
		}
		got := turns(first + `,{"role":"assistant","content":"said"},` + withImage("look: unsure 0.50"))
		if got.status != 200 || got.by != "debug" {
			t.Errorf("status %d by %q: %.200s", got.status, got.by, got.text)
		}
	})
}

// A reload takes specialists out while a request waits that has two choices, of which the second one wakes: it is
// answered or refused, and nothing is named by the order of another configuration.
func TestAReloadWhileARequestOfTwoChoicesWaits(t *testing.T) {
	const third = `  - name: third
    tokenizer: builtin
    replicas: [{name: third-0, url: "http://sleeper-0", engine: vllm, blocks: 512}]
`
	holding := strings.NewReplacer("max_running: 4, max_waiting: 64}",
		"max_running: 1, max_waiting: 64}\n    sleep: {hold: 60s}", "    fallback: systems\n", "").Replace(twoChoices)
	at := strings.Index(holding, "  - name: debug")
	until := strings.Index(holding, "  - name: systems")
	without := holding[:at] + holding[until:]
	for name, then := range map[string]string{"the last is removed": holding, "the first choice is removed": without,
		"it stays": holding + third, "the order is another": holding[:at] + third + holding[at:]} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				engines := choiceEngines()
				engines[1].LoadTime = 2 * time.Second // sooner than debug has a place
				b := newBubble(t, engines)
				b.Serve(holding + third)
				doubtingAmong(t, b.App, "debug", "systems", "third")
				time.Sleep(3 * time.Second)
				for range 2 { // how long it wakes is measured
					b.reply("/v1/chat/completions", chat("systems", 20, true, "x"))
					b.tell("http://systems-0/sleep?level=1")
					time.Sleep(3 * time.Second)
				}
				b.occupy()
				go b.reply("/v1/chat/completions", chat("systems", 3000, true, "x"), "X-Priority", "10") // goes first
				time.Sleep(100 * time.Millisecond)
				done := make(chan reply, 1)
				go func() { done <- b.reply("/v1/chat/completions", hesitant(8, "", "")) }()
				time.Sleep(time.Second)
				if err := b.App.Apply(context.Background(), b.Config(then)); err != nil {
					t.Fatal(err)
				}
				got := <-done
				if got.status == 500 || got.status == 404 || got.status == 0 {
					t.Errorf("status %d by %q: %.300s", got.status, got.by, got.text)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}
