package app_test

import (
	"fmt"
	"strings"
	"testing"

	"octet/engine/emulator"
	"octet/routing/events"
)

// What is foretold of engines whose blocks are two of the configured size is what they serve, once their events or
// their metrics have told.
func TestOfLargeBlocksWholeOnesAreForetold(t *testing.T) {
	for by, start := range map[string]func(*testing.T) *world{
		"events": func(t *testing.T) *world {
			return newWorld(t, smallWorld, largeBlocks(), "fleet.scrape_interval=1h")
		},
		"metrics": func(t *testing.T) *world {
			engines := largeBlocks()
			for i := range engines {
				engines[i].Publisher = events.NewLocal(1 << 12) // which is not heard
			}
			return newWorld(t, smallWorld, engines, "fleet.scrape_interval=100ms")
		},
	} {
		t.Run(by, func(t *testing.T) {
			w, n := start(t), 0
			foretold := func(words int) bool {
				n++
				body := chatOf(fmt.Sprint(n, strings.Repeat(" word", words)))
				w.Post("/v1/chat/completions", body)
				resp, answer := w.Post("/v1/chat/completions", body)
				delivered := between(string(answer), `"cached_tokens":`, "}")
				return delivered != "0" && resp.Header.Get("X-Cached-Tokens") == delivered
			}
			eventually(t, "prompts of any length are foretold", func() bool {
				for words := range 16 {
					if !foretold(64 + 2*words) {
						return false
					}
				}
				return true
			})
		})
	}
}

func largeBlocks() []emulator.Config {
	all := smallEngines()
	for i := range all {
		all[i].BlockSize = 32
	}
	return all
}
