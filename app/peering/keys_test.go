package peering

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/gateway/intake"
	"octet/routing/peers"
)

// hub is a store in memory, by which gateways reach each other at once.
type hub struct {
	mu    sync.Mutex
	links map[string]*hubLink
	keys  map[string]peers.Held
	n     uint64
}

type hubLink struct {
	*hub
	name string
	in   chan []byte
	away bool // guarded by hub.mu
}

func (h *hub) link(name string) *hubLink {
	return &hubLink{hub: h, name: name, in: make(chan []byte, 1024)}
}

func (l *hubLink) Claim(context.Context) error { return nil }

func (l *hubLink) Run(ctx context.Context, on peers.Events) {
	l.mu.Lock()
	l.links[l.name] = l
	l.mu.Unlock()
	for {
		select {
		case m := <-l.in:
			on.Message(m, time.Now())
		case <-ctx.Done():
			return
		}
	}
}

func (l *hubLink) Send(to string, message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return peers.ErrAway
	}
	for name, other := range l.links {
		if !other.away && other != l && (to == "" || to == name) {
			other.in <- message
		}
	}
	return nil
}

func (l *hubLink) Put(_ context.Context, key string, seen peers.Held, value string) (peers.Held, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.away:
		return peers.Held{}, peers.ErrAway
	case l.keys[key] != seen:
		return l.keys[key], nil
	}
	l.n++
	l.keys[key] = peers.Held{Value: value, Revision: l.n}
	return l.keys[key], nil
}

// cut has the store be away for a gateway, which others miss after its lease.
func (l *hubLink) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = true
}

// mend ends cut.
func (l *hubLink) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = false
}

// keyed is a gateway of a hub with its keys.
type keyed struct {
	*intake.Idempotency
	link  *hubLink
	group *Group
}

// keyedGateways runs gateways until the test ends, and waits until they know each other.
func keyedGateways(t *testing.T, names ...string) (all []keyed) {
	h := &hub{links: map[string]*hubLink{}, keys: map[string]peers.Held{}}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	for _, name := range names {
		k := keyed{link: h.link(name)}
		k.group = New(Config{Name: name, Lease: 2 * time.Second, Link: k.link, Log: slog.New(slog.DiscardHandler),
			KeyOpen: func(tenant, key string) bool { return k.Open(tenant, key) }, Divided: func(int) {}})
		k.Idempotency = intake.NewIdempotency(10, k.group)
		running.Go(func() { k.group.Run(ctx) })
		all = append(all, k)
	}
	time.Sleep(3 * time.Second) // virtual: longer than a lease
	synctest.Wait()
	return all
}

// claim claims a key and returns what ends it, or what its refusal says.
func (k keyed) claim(tenant, key, body string) (end func(), says string) {
	end, err := k.Claim(context.Background(), tenant, key, []byte(body))
	if err != nil {
		return nil, err.Error()
	}
	return end, ""
}

const answered, another = "still being answered", "another request"

func TestAKeyIsOneAtAllGateways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := keyedGateways(t, "a", "b", "c")
		must := func(at int, tenant, body, want string) (end func()) {
			t.Helper()
			end, says := g[at].claim(tenant, "k", body)
			if (want == "") != (says == "") || !strings.Contains(says, want) {
				t.Fatalf("at %d it says %q, not %q", at, says, want)
			}
			return end
		}
		end := must(0, "acme", "x", "")
		must(1, "acme", "x", answered)
		must(1, "acme", "y", another)
		must(1, "other", "y", "")() // another tenant's
		end()
		must(1, "acme", "y", another)
		end = must(2, "acme", "x", "")
		must(0, "acme", "x", answered) // its own use is over, and is not the latest
		must(1, "acme", "x", answered)
		end()
		must(0, "acme", "x", "")()
		if n := g[0].group.State().Unshared; n != 0 {
			t.Errorf("%d keys are not shared", n)
		}
	})
}

// A refusal elsewhere leaves nothing behind here: the key is as free as before.
func TestWhatIsRefusedElsewhereIsForgottenHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := keyedGateways(t, "a", "b")
		end, _ := g[0].claim("acme", "k", "x")
		if _, says := g[1].claim("acme", "k", "x"); !strings.Contains(says, answered) {
			t.Fatal(says)
		}
		if g[1].Open("acme", "k") {
			t.Error("a refused request is open")
		}
		end()
		if _, says := g[1].claim("acme", "k", "x"); says != "" {
			t.Error(says)
		}
	})
}

// Of many that come at once at all gateways one is first.
func TestOneOfManyIsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := keyedGateways(t, "a", "b", "c")
		for round := range 20 {
			var mu sync.Mutex
			var all sync.WaitGroup
			first := 0
			for i := range 30 {
				all.Go(func() {
					end, _ := g[i%3].claim("acme", "k", "x")
					if end == nil {
						return
					}
					mu.Lock()
					first++
					mu.Unlock()
					time.Sleep(time.Minute) // virtual: the answer takes so long
					end()
				})
			}
			all.Wait()
			if first != 1 {
				t.Fatalf("round %d: %d of 30 run", round, first)
			}
		}
	})
}

// A use of a gateway that is gone holds until its lease is over, and no longer.
func TestAKeyOfAGatewayThatIsGoneIsFreeAfterItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := keyedGateways(t, "a", "b")
		if _, says := g[0].claim("acme", "k", "x"); says != "" {
			t.Fatal(says)
		}
		g[0].link.cut()
		if _, says := g[1].claim("acme", "k", "x"); !strings.Contains(says, answered) {
			t.Errorf("while its lease lasts: %q", says)
		}
		time.Sleep(3 * time.Second) // virtual: longer than its lease
		if _, says := g[1].claim("acme", "k", "y"); !strings.Contains(says, another) {
			t.Errorf("another body: %q", says)
		}
		if _, says := g[1].claim("acme", "k", "x"); says != "" {
			t.Errorf("after its lease: %q", says)
		}
	})
}

// One that has just joined does not know yet who is there: it takes no key from those that it has not heard of.
func TestOneThatJoinsTakesNoKeyFromThoseItHasNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := keyedGateways(t, "a")
		if _, says := g[0].claim("acme", "k", "x"); says != "" {
			t.Fatal(says)
		}
		late := keyed{link: g[0].link.hub.link("b")}
		late.group = New(Config{Name: "b", Lease: 2 * time.Second, Link: late.link,
			Log: slog.New(slog.DiscardHandler)})
		late.Idempotency = intake.NewIdempotency(10, late.group)
		if _, says := late.claim("acme", "k", "x"); !strings.Contains(says, answered) {
			t.Errorf("it says %q", says)
		}
	})
}

// Without the store each gateway goes by its own keys, and says so.
func TestWithoutTheStoreAKeyIsEachGatewaysOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := keyedGateways(t, "a", "b")
		for i := range g {
			g[i].link.cut()
			if _, says := g[i].claim("acme", "k", "x"); says != "" {
				t.Errorf("at %d: %q", i, says)
			}
			if _, says := g[i].claim("acme", "k", "x"); !strings.Contains(says, answered) {
				t.Errorf("at %d again: %q", i, says)
			}
			if n := g[i].group.State().Unshared; n != 1 {
				t.Errorf("at %d: %d keys are not shared", i, n)
			}
		}
	})
}

// What is no use of a key is written over.
func TestWhatTheStoreHasIsReadWithCare(t *testing.T) {
	for _, text := range []string{"", "x", "a z c 1", "a 1 c", "a.b 1 c 2", "a 1 c 2 3"} {
		if u, ok := parseUse(text); ok {
			t.Errorf("%q is read as %+v", text, u)
		}
	}
	want := use{at: "gw-a", life: 1 << 63, body: "00ff", number: 7}
	if got, ok := parseUse(want.String()); !ok || got.at != want.at || got.life != want.life || got.body != want.body {
		t.Errorf("%+v, %v", got, ok)
	}
	if keyName("a", "bc") == keyName("ab", "c") {
		t.Error("two tenants share a key")
	}
}
