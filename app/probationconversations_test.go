package app_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A conversation stays with one of the two specialists that share what would go to a fresh one, whether it has a
// session or is known by its messages, and whether its intent is declared or found; and both have some.
func TestAConversationStaysOnItsSideOfAProbation(t *testing.T) {
	for name, headers := range map[string]func(conversation int) []string{
		"session":  func(c int) []string { return []string{"X-Session-Id", fmt.Sprint("s", c)} },
		"messages": func(int) []string { return nil },
		"declared": func(int) []string { return []string{"X-Intent", "debug"} },
	} {
		for _, path := range []string{"/v1/chat/completions", "/v1/messages"} {
			t.Run(name+path, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBubble(t, choiceEngines())
					sets := []string{"router.stickiness.margin=1", "intents.debug.specialist=debug"}
					b.Serve(twoChoices, sets...)
					next := b.Config(twoChoices, append(sets, "specialists[0].version=2")...)
					if err := b.App.Apply(t.Context(), next); err != nil {
						t.Fatal(err)
					}
					doubting(t, b.App)
					time.Sleep(2 * time.Second)
					began := map[string]int{}
					for c := range 30 {
						began[b.converse(path, c, headers(c))]++
					}
					if began["debug"] < 5 || began["systems"] < 5 {
						t.Errorf("conversations by specialist: %v", began)
					}
				})
			})
		}
	}
}

// converse has a conversation of six turns, and returns the specialist that answers all of them.
func (b *bubble) converse(path string, number int, headers []string) (specialist string) {
	b.T.Helper()
	var messages []map[string]string
	for turn := range 6 {
		messages = append(messages, map[string]string{"role": "user",
			"content": fmt.Sprint("conversation ", number, " turn ", turn, " unsure 0.90")})
		body, err := json.Marshal(map[string]any{"model": "octet", "max_tokens": 4, "messages": messages})
		if err != nil {
			b.T.Fatal(err)
		}
		got := b.reply(path, string(body), headers...)
		if got.status != 200 || turn > 0 && got.by != specialist {
			b.T.Fatalf("turn %d of %d: %d by %s after %s: %s", turn, number, got.status, got.by, specialist, got.text)
		}
		specialist = got.by
		messages = append(messages, map[string]string{"role": "assistant", "content": "said"})
	}
	return specialist
}
