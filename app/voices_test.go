package app_test

import (
	"fmt"
	"strings"
	"testing"

	"octet/internal/redistest"
	"octet/routing/events"
	"octet/routing/events/redisstream"
)

func redisAs(t *testing.T, c redisstream.Config) events.Publisher {
	t.Helper()
	p, err := redisstream.NewPublisher(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// forged is what an impostor would have a gateway believe of a replica.
func forged(replica string, epoch uint64) events.Batch {
	return events.Batch{Replica: replica, Epoch: epoch, Seq: 1, Events: []events.Event{{Kind: events.Cleared}}}
}

// voices is what the admin listener shows of the publishers of a replica.
func (w *world) voices(replica string) (bound, rivals []string) {
	w.T.Helper()
	var seen struct {
		Sources struct {
			Feed struct {
				Voices map[string]struct{ Bound, Rivals []string }
			}
		}
	}
	w.Get(w.Admin+"/admin/index", &seen)
	v := seen.Sources.Feed.Voices[replica]
	return v.Bound, v.Rivals
}

// By default the first publisher on a shared stream is heard, and no other, until its engine is gone.
func TestAnImpostorOnTheSharedStreamIsNotHeard(t *testing.T) {
	server := redistest.Start(t)
	p := redisAs(t, redisstream.Config{Addr: server.Addr, Publisher: "host-a"})
	thief := redisAs(t, redisstream.Config{Addr: server.Addr, Publisher: "host-b"})
	w := newWiredWorld(t, fmt.Sprintf(pair, "", ""), pairOf(p, p), "events.redis.addr="+server.Addr)
	w.follows("a use after free")
	w.exact() // the events of its last answer are here, too
	before := w.App.Fabric().Index().Digest()
	if err := thief.Publish(t.Context(), forged("debug-0", 1<<62)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is refused", func() bool { return w.App.Fabric().Feed().Stats().Foreign == 1 })
	w.exact()
	if w.App.Fabric().Index().Digest() != before {
		t.Error("the impostor was heard")
	}
	if bound, rivals := w.voices("debug-0"); strings.Join(bound, " ") != "redis/host-a" ||
		strings.Join(rivals, " ") != "redis/host-b" {
		t.Errorf("bound %v, rivals %v", bound, rivals)
	}
	w.follows("a use after free, again")
	w.Engines["debug-0"].Kill()
	eventually(t, "the next one is heard",
		func() bool { bound, _ := w.voices("debug-0"); return strings.Join(bound, " ") == "redis/host-b" })
}

// With a secret, what is not sealed with the replica's own key is not read at all; which publisher is bound does not
// matter then.
func TestSealedEventsAreReadAndOthersAreNot(t *testing.T) {
	server := redistest.Start(t)
	secret := events.Secret("sesame")
	own := func(replica string) events.Publisher {
		return redisAs(t, redisstream.Config{Addr: server.Addr, Key: secret.Key(replica)})
	}
	for _, p := range []events.Publisher{own("debug-1"), redisAs(t, redisstream.Config{Addr: server.Addr})} {
		if err := p.Publish(t.Context(), forged("debug-0", 1<<62)); err != nil { // before any is bound
			t.Fatal(err)
		}
	}
	w := newWiredWorld(t, fmt.Sprintf(pair, "", ""), pairOf(own("debug-0"), own("debug-1")),
		"events.redis.addr="+server.Addr, "events.redis.key=sesame")
	w.follows("a missing virtual destructor")
	var seen struct {
		Sources map[string]map[string]any
	}
	w.Get(w.Admin+"/admin/index", &seen)
	if got := seen.Sources["redis"]["refused"]; got != 2.0 {
		t.Errorf("%v are refused: %v", got, seen.Sources["redis"])
	}
}

func TestWhereAnyMaySpeakEverybodyIsHeard(t *testing.T) {
	server := redistest.Start(t)
	p, other := redisAs(t, redisstream.Config{Addr: server.Addr, Publisher: "host-a"}),
		redisAs(t, redisstream.Config{Addr: server.Addr, Publisher: "host-b"})
	anySource := ", events: {source: any}"
	w := newWiredWorld(t, fmt.Sprintf(pair, anySource, anySource), pairOf(p, p), "events.redis.addr="+server.Addr)
	w.follows("a narrowing conversion")
	if err := other.Publish(t.Context(), forged("debug-0", 1<<62)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is heard",
		func() bool { return w.App.Fabric().Index().Host(w.Replica("debug-0").Host).Epoch == 1<<62 })
}
