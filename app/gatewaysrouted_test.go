package app_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"octet/routing/events"
)

// routedWorld has replicas of whose caches no events tell.
const routedWorld = `
hash_seed: 7
auth: {anonymous: true}
specialists:
  - name: debug
    tokenizer: builtin
    replicas:
      - {name: one, url: "%s", blocks: 512}
      - {name: two, url: "%s", blocks: 512}
      - {name: three, url: "%s", blocks: 512}
`

// mute publishes no cache events.
type mute struct{}

func (mute) Publish(context.Context, events.Batch) error { return nil }
func (mute) Close() error                                { return nil }

// foretold is where a gateway would send a prompt, and how many of its tokens are thought to be cached there.
type foretold struct {
	Replica string `json:"replica"`
	Tokens  int    `json:"predicted_cached_tokens"`
}

func (w *world) foretells(salt string) (f foretold) {
	w.T.Helper()
	_, body := w.Post("/v1/route", long("debug", salt, ""))
	if err := json.Unmarshal(body, &f); err != nil {
		w.T.Fatal(err)
	}
	return f
}

// What one gateway sends to a replica without cache events counts at the others: the next turn of a conversation goes
// where its beginning is, whichever gateway it comes in at. A gateway that hashes by another seed is of no use for it.
func TestWhatIsRoutedWhereIsKnownAtAllGateways(t *testing.T) {
	engines := lossEngines(time.Millisecond)
	for i := range engines {
		engines[i].Publisher = mute{}
	}
	eachStoreOver(t, routedWorld, engines, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		g.store = append(g.store, "hash_seed=8")
		c := g.another("gw-c")
		for _, salt := range []string{"first", "second", "third", "fourth"} {
			if f := b.foretells(salt); f.Tokens != 0 {
				t.Errorf("%s: of a new prompt %+v", salt, f)
			}
			sent := g.first.receipt(g.first.Ask(t.Context(), "/v1/chat/completions", long("debug", salt, "")))
			var f foretold
			eventually(t, "the other has heard", func() bool { f = b.foretells(salt); return f.Tokens > 0 })
			if want := g.first.foretells(salt); f != want || f.Replica != sent.Attempts[0].Replica {
				t.Errorf("%s: %+v, and %+v at the gateway that sent it to %s", salt, f, want, sent.Attempts[0].Replica)
			}
		}
		if f := c.foretells("first"); f.Tokens != 0 {
			t.Errorf("by hashes of another seed %+v", f)
		}
	})
}
