package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"octet/internal/await"
	"octet/internal/cable"
	"octet/routing/peers"
	"octet/routing/peers/lease"
	"octet/routing/peers/natslink"
	"octet/routing/peers/redislink"
)

const (
	short = time.Second     // a lease that a test waits out
	long  = 6 * time.Second // one that no machine is too slow to renew
)

func named(name string, of time.Duration) lease.Config {
	return lease.Config{Name: name, Lease: of, Timeout: 30 * time.Second, MaxMessage: 4096}
}

func TestGatewaysHearEachOtherInOrderAndNotThemselves(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		at := r.address()
		a := claimed(t, r.link(t, at, named("a", long)))
		b := claimed(t, r.link(t, at, named("b", long)))
		c := claimed(t, r.link(t, at, named("c", long)))
		var all, toAll []string
		for i := range 200 {
			to, message := []string{"", "b"}[i%2], fmt.Sprint("a", i)
			if err := a.Send(to, []byte(message)); err != nil {
				t.Fatal(err)
			}
			if all = append(all, message); to == "" {
				toAll = append(toAll, message)
			}
		}
		b.hears(t, all[199])
		c.hears(t, toAll[99])
		if err := b.Send("a", []byte("from b")); err != nil {
			t.Fatal(err)
		}
		a.hears(t, "from b")
		for g, want := range map[*gateway][]string{a: {"from b"}, b: all, c: toAll} {
			if got := g.all(); !slices.Equal(got, want) {
				t.Errorf("heard %q, want %q", got, want)
			}
			g.tells(t)
		}
	})
}

func TestASecondGatewayOfANameIsRefusedWhileTheFirstLives(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		first := claimed(t, r.link(t, r.address(), named("a", long)))
		second := r.link(t, r.address(), named("a", long))
		if err := second.Claim(t.Context()); !errors.Is(err, peers.ErrTaken) {
			t.Errorf("the second: %v", err)
		}
		// One of a shorter lease waits for the holder's.
		if err := r.link(t, r.address(), named("a", short)).Claim(t.Context()); !errors.Is(err, peers.ErrTaken) {
			t.Errorf("one of a shorter lease: %v", err)
		}
		if err := second.Send("", nil); !errors.Is(err, peers.ErrAway) {
			t.Errorf("it sends: %v", err)
		}
		first.flows(t)
		first.tells(t)
	})
}

func TestANameIsTakenOverFromADeadHolder(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		dead := r.link(t, r.address(), named("a", short)) // it claims, and does no more
		if err := dead.Claim(t.Context()); err != nil {
			t.Fatal(err)
		}
		claimed(t, r.link(t, r.address(), named("a", short)))
	})
}

func TestWhatIsNoGatewaysIsTakenOverAfterALease(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		r.spoil(t, "a")
		claimed(t, r.link(t, r.address(), named("a", short)))
	})
}

func TestAGracefulEndFreesTheNameAtOnce(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second) // less than a lease
		defer cancel()
		for range 3 {
			l := r.link(t, r.address(), named("a", time.Minute))
			if err := l.Claim(ctx); err != nil {
				t.Fatal(err)
			}
			g := run(t, l)
			g.flows(t)
			g.end()
			if err := l.Send("", nil); !errors.Is(err, peers.ErrAway) {
				t.Errorf("one that has ended sends: %v", err)
			}
		}
	})
}

func TestAStoreThatComesBackIsUsedAgain(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		a := claimed(t, r.link(t, r.address(), named("a", long)))
		b := claimed(t, r.link(t, r.address(), named("b", long)))
		for round := range 2 {
			r.stop()
			want := []error{peers.ErrAway, nil, peers.ErrAway, nil}[:2*round+1]
			a.tells(t, want...)
			b.tells(t, want...)
			for range 1000 { // at once each
				if err := a.Send("", nil); !errors.Is(err, peers.ErrAway) {
					t.Fatal(err)
				}
			}
			r.start()
			a.tells(t, append(want, nil)...)
			b.tells(t, append(want, nil)...)
			message := fmt.Sprint("round ", round)
			if err := a.Send("b", []byte(message)); err != nil {
				t.Error(err)
			}
			b.hears(t, message)
		}
	})
}

func TestAGatewayMayComeBeforeItsStore(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		at := r.address()
		r.stop()
		l := r.link(t, at, named("a", long))
		if err := l.Claim(t.Context()); !errors.Is(err, peers.ErrAway) {
			t.Errorf("without a store: %v", err)
		}
		a := run(t, l)
		a.tells(t, peers.ErrAway)
		r.start()
		a.tells(t, peers.ErrAway, nil)
		a.flows(t)
	})
}

// A gateway that cannot reach the store loses its name to the next one that claims it, and has it again once that ends.
func TestANameThatWasLostIsClaimedAgain(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		w := cable.New(t, r.address())
		a := claimed(t, r.link(t, w.Addr().String(), named("a", short)))
		w.Cut()
		a.tells(t, peers.ErrAway)
		b := claimed(t, r.link(t, r.address(), named("a", short)))
		w.Mend()
		a.tells(t, peers.ErrAway, peers.ErrTaken)
		if err := a.Send("", nil); !errors.Is(err, peers.ErrAway) {
			t.Errorf("without a name: %v", err)
		}
		r.shout(t, "to:a", []byte("for the holder"))
		b.hears(t, "for the holder")
		b.tells(t)
		b.end()
		a.tells(t, peers.ErrAway, peers.ErrTaken, nil)
		a.flows(t)
		if got := a.all(); len(got) > 0 {
			t.Errorf("without a name it heard %q", got)
		}
	})
}

// A store that is silent, its connections open, is away as well; no Send waits for it once it is.
func TestASilentStoreIsAway(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		w := cable.New(t, r.address())
		a := claimed(t, r.link(t, w.Addr().String(), named("a", short)))
		w.Freeze()
		await.True(t, "it is away", func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return len(a.told) > 0
		})
		for range 1000 {
			if err := a.Send("", nil); !errors.Is(err, peers.ErrAway) {
				t.Fatal(err)
			}
		}
		w.Thaw()
		a.flows(t)
	})
}

func TestMessagesAreBounded(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		a := claimed(t, r.link(t, r.address(), named("a", long)))
		b := claimed(t, r.link(t, r.address(), named("b", long)))
		longest := strings.Repeat("x", 4096)
		if err := a.Send("b", []byte(longest+"x")); !errors.Is(err, lease.ErrTooLong) {
			t.Errorf("too long: %v", err)
		}
		r.shout(t, "to:b", []byte(longest+"y")) // a stranger sends what a gateway may not
		for _, m := range []string{longest, ""} {
			if err := a.Send("b", []byte(m)); err != nil {
				t.Error(err)
			}
		}
		b.hears(t, "")
		if got := b.all(); len(got) != 2 || got[0] != longest {
			t.Errorf("%d were heard", len(got))
		}
		if sent, got := a.Stats().TooLong, b.Stats().TooLong; sent != 1 || got != 1 {
			t.Errorf("counted %d and %d", sent, got)
		}
		a.tells(t)
		b.tells(t)
	})
}

func TestAStrangersMessageIsHandedOverAsItIs(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		a := claimed(t, r.link(t, r.address(), named("a", long)))
		r.shout(t, "all", []byte("\x00garbage\xff"))
		a.hears(t, "\x00garbage\xff")
		if err := a.Send("b.>", nil); !errors.Is(err, lease.ErrConfig) {
			t.Errorf("to a pattern: %v", err)
		}
	})
}

// NATS alone has buckets, which may be there with another life of values than the lease.
func TestABucketOfAShorterLifeIsRenewedInTime(t *testing.T) {
	r := startNATS(t)
	kv := r.bucket(t, 2*time.Second)
	a := claimed(t, r.link(t, r.address(), named("a", time.Minute)))
	await.True(t, "it is renewed six times", func() bool {
		e, err := kv.Get(t.Context(), "gateways.a")
		return err == nil && strings.HasSuffix(string(e.Value()), " 7")
	})
	a.tells(t)
}

// A bucket that is removed under the gateways is made again.
func TestABucketThatIsGoneIsMadeAgain(t *testing.T) {
	r := startNATS(t)
	a := claimed(t, r.link(t, r.address(), named("a", short)))
	js, err := jetstream.New(r.dial(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteKeyValue(t.Context(), natslink.DefaultBucket); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the bucket is there", func() bool {
		_, err := js.KeyValue(t.Context(), natslink.DefaultBucket)
		return err == nil
	})
	a.flows(t)
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	good := lease.Config{Name: "a"}
	for name, change := range map[string]func(c *lease.Config){
		"no name": func(c *lease.Config) { c.Name = "" }, "a pattern": func(c *lease.Config) { c.Name = "a.>" },
		"a long name":  func(c *lease.Config) { c.Name = strings.Repeat("a", 65) },
		"a short term": func(c *lease.Config) { c.Lease = time.Millisecond },
		"a long term":  func(c *lease.Config) { c.Lease = time.Hour },
		"no time":      func(c *lease.Config) { c.Timeout = -1 },
		"no room":      func(c *lease.Config) { c.MaxMessage = -1 },
	} {
		c := good
		change(&c)
		_, overNATS := natslink.New(natslink.Config{URL: "nats://x", Name: c.Name, Lease: c.Lease, Timeout: c.Timeout,
			MaxMessage: c.MaxMessage})
		_, overRedis := redislink.New(redislink.Config{Addr: "x:1", Name: c.Name, Lease: c.Lease, Timeout: c.Timeout,
			MaxMessage: c.MaxMessage})
		if !errors.Is(overNATS, lease.ErrConfig) || !errors.Is(overRedis, lease.ErrConfig) {
			t.Errorf("%s: %v, %v", name, overNATS, overRedis)
		}
	}
	if _, err := natslink.New(natslink.Config{Name: "a", Bucket: "a.b", URL: "nats://x"}); !errors.Is(err,
		lease.ErrConfig) {
		t.Errorf("a bad bucket: %v", err)
	}
	if _, err := redislink.New(redislink.Config{Name: "a"}); !errors.Is(err, lease.ErrConfig) {
		t.Errorf("no address: %v", err)
	}
}

// Of two that put where nothing is, one is first; what is there is put over by one that has seen it.
func TestWhatIsPutIsThereForAll(t *testing.T) {
	overBoth(t, func(t *testing.T, r rig) {
		a := claimed(t, r.link(t, r.address(), named("a", long)))
		b := claimed(t, r.link(t, r.address(), named("b", long)))
		put := func(g *gateway, key string, seen peers.Held, value string) peers.Held {
			t.Helper()
			there, err := g.Put(t.Context(), key, seen, value)
			if err != nil {
				t.Fatal(err)
			}
			return there
		}
		var firsts atomic.Int32
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				value := fmt.Sprint("v", i)
				if there, err := []*gateway{a, b}[i%2].Put(t.Context(), "many", peers.Held{}, value); err != nil {
					t.Error(err)
				} else if there.Value == value {
					firsts.Add(1)
				}
			})
		}
		all.Wait()
		if n := firsts.Load(); n != 1 {
			t.Errorf("%d are first", n)
		}
		first := put(a, "k", peers.Held{}, "1")
		if seen := put(b, "k", peers.Held{}, "2"); seen != first || first.Value != "1" {
			t.Errorf("%+v was put, and %+v is seen", first, seen)
		}
		second := put(b, "k", first, "3")
		if seen := put(a, "k", first, "4"); seen != second || second.Value != "3" {
			t.Errorf("%+v was put, and %+v is seen by one that has seen the one before", second, seen)
		}
		if other := put(a, "l", peers.Held{}, "5"); other.Value != "5" {
			t.Errorf("another key has %+v", other)
		}
		r.stop()
		if _, err := a.Put(t.Context(), "k", second, "6"); !errors.Is(err, peers.ErrAway) {
			t.Errorf("without the store: %v", err)
		}
	})
}
