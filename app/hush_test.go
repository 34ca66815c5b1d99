package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/routing/belief"
)

// knowing is what /admin/index says of a replica.
type knowing struct{ Trust, Misfit string }

func (b *bubble) knowing(replica string) knowing {
	b.T.Helper()
	var said struct{ Replicas map[string]knowing }
	if err := json.Unmarshal([]byte(b.Read("http://admin/admin/index")), &said); err != nil {
		b.T.Fatal(err)
	}
	return said.Replicas[replica]
}

// foretells asks about a subject, and returns how many tokens are foretold to be in the cache.
func (b *bubble) foretells(about string) (foretold int) {
	b.T.Helper()
	resp, err := b.Ask(context.Background(), http.MethodPost, "http://data/v1/chat/completions", lengthy(about))
	if err != nil {
		b.T.Fatal(err)
	}
	_ = whole(b.T, resp)
	_, _ = fmt.Sscan(resp.Header.Get("X-Cached-Tokens"), &foretold)
	return foretold
}

// A publisher that used to speak falls silent while its engine goes on: no socket says so, for none was lost. Trust
// falls, which is shown with its reason, and the replica is scored by what is routed there. It comes back with what it
// says next.
func TestAPublisherThatFallsSilentIsTrustedNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := sleeperEngine("debug-0")
		engine.Asleep, engine.Blocks = false, 8192
		b := newBubble(t, []emulator.Config{engine})
		var silent atomic.Bool
		b.Lose(func(string) bool { return silent.Load() })
		b.Serve(strings.Replace(sleeperWorld, "blocks: 512", "blocks: 8192", 1), "events.trust_for=20s")
		ask := func(what string, n int) {
			for i := range n {
				b.foretells(fmt.Sprint(what, " ", i))
				time.Sleep(2 * time.Second)
			}
		}
		ask("at first", 4)
		before := b.knowing("debug-0")
		if before.Trust != belief.Exact || before.Misfit != "" {
			t.Errorf("while it speaks: %+v", before)
		}
		time.Sleep(10 * time.Minute) // an idle engine says nothing, and that means nothing
		if now := b.knowing("debug-0"); now != before {
			t.Errorf("idle: %+v", now)
		}
		silent.Store(true)
		ask("in silence", 40)
		now := b.knowing("debug-0")
		if now.Trust != belief.Approximate || !strings.Contains(now.Misfit, "have stopped") {
			t.Errorf("silent: %+v", now)
		}
		if n := b.foretells("in silence 39"); n == 0 {
			t.Error("what was routed there is not believed to be there")
		}
		silent.Store(false)
		ask("again", 4)
		if now := b.knowing("debug-0"); now.Misfit != "" {
			t.Errorf("it speaks: %+v", now)
		}
		b.tell("http://debug-0/reset_prefix_cache") // what was said in the silence is lost: its cache is told anew
		ask("and again", 4)
		if now := b.knowing("debug-0"); now != before {
			t.Errorf("all is known: %+v, before %+v", now, before)
		}
		if n := b.foretells("and again 2"); n == 0 {
			t.Error("what it tells is not believed")
		}
	})
}
