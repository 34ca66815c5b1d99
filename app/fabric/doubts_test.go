package fabric_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"octet/app/fabric"
	"octet/config"
	"octet/routing/events"
	"octet/routing/index"
)

// A replica that is joined late, or of which batches are lost, is told of once, with why and with what is known; and
// once when it is exact again. Its name alone is not it: one that takes its place begins anew.
func TestTheLogTellsOnceOfAReplicaThatIsScoredApproximately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := config.Parse("test.yaml", []byte("specialists: [{name: debug, discover: {}}]"), config.Options{})
		if err != nil {
			t.Fatal(err)
		}
		log := new(lines)
		f, err := fabric.New(fabric.Config{Log: slog.New(slog.NewTextHandler(log, nil)), Events: c.Events,
			Differ: func() (none index.HostBitmap) { return none }, Cleared: func(index.HostID) {}})
		if err != nil {
			t.Fatal(err)
		}
		host, err := f.Admit()
		if err != nil {
			t.Fatal(err)
		}
		commit := func(name string, host index.HostID) {
			f.Commit(fabric.Generation{GuessFor: time.Minute, Replicas: map[string]fabric.Replica{name: {Name: name,
				Specialist: "debug", URL: "http://engine.test:1", Host: host, BlockSize: 4}}})
		}
		commit("debug-0", host)
		c.Events.ResyncPath = ""
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := f.Start(ctx, c.Events)
		if err != nil {
			cancel()
			t.Fatal(err)
		}
		defer func() {
			cancel()
			wait()
		}()
		told := func(moment string, approximately, exact int) {
			t.Helper()
			time.Sleep(2 * time.Second) // in a bubble: some looks
			if n, m := log.count("scored approximately"), log.count("exact again"); n != approximately || m != exact {
				t.Errorf("%s: told %d times that it is approximate and %d times that it is exact, want %d and %d:\n%s",
					moment, n, m, approximately, exact, log.text.String())
			}
		}
		carrier := f.Feed().Open() // it keeps the order, so that a gap shows at once
		batch := func(seq uint64, all ...events.Event) {
			carrier.Deliver(events.Batch{Replica: "debug-0", Epoch: 1, Seq: seq, Events: all})
		}
		stored := events.Event{Kind: events.Registered, Hashes: []uint64{7}, Root: true, Tokens: []uint32{1, 2, 3, 4},
			BlockSize: 4}
		told("nothing is heard", 0, 0)
		batch(40, stored)
		batch(41)
		told("joined late", 1, 0)
		if log.count("from_seq=40") != 1 || log.count("had published before the gateway listened") != 1 {
			t.Error(log.text.String())
		}
		batch(42)
		told("more is heard", 1, 0)
		batch(43, events.Event{Kind: events.Cleared})
		told("its cache is empty", 1, 1)
		batch(44, stored)
		told("all is known", 1, 1)
		batch(50)
		time.Sleep(time.Minute) // in a bubble: no replay comes
		told("batches are lost", 2, 1)
		if log.count("batches of its events are lost") != 1 {
			t.Error(log.text.String())
		}
		second, err := f.Admit()
		if err != nil {
			t.Fatal(err)
		}
		commit("debug-0", second)
		told("another is in its place", 2, 1)
	})
}
