package app_test

import (
	"fmt"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/internal/apptest"
	"octet/routing/events/enginehash"
	"octet/routing/events/zmqstream"
)

// An engine tells no tokens and replays nothing, and tells the names of all that it holds, as SGLang does: a gateway
// that comes beside it later is exact at once, and foretells what was asked long ago.
func TestALateGatewayIsToldTheNamesOfAllBlocks(t *testing.T) {
	const local = "tcp://127.0.0.1:0"
	p, err := zmqstream.NewPublisher(zmqstream.PublisherConfig{Endpoint: local, Snapshot: local})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	names, err := enginehash.New(enginehash.SGLang, "")
	if err != nil {
		t.Fatal(err)
	}
	keys := fmt.Sprintf(`zmq: "tcp://%s", snapshot: "tcp://%s"`, p.Addr(), p.SnapshotAddr())
	sets := []string{"events.resync_path=/none", "specialists[0].hash_scheme=sglang"}
	first := &world{apptest.NewWired(t, fmt.Sprintf(lonely, "%s", keys), []emulator.Config{{Name: "debug-0",
		Model: "debug", Blocks: 4096, Step: time.Millisecond, PrefillTPS: 200000, Publisher: p, Namer: names,
		Tokenless: true}}, sets...)}
	first.connected()
	for i := range 20 {
		first.hit(fmt.Sprint("long ago ", i))
	}
	first.exact()
	w := first.beside(keys, sets...)
	w.exact()
	for i := range 20 {
		if foretold, delivered := w.hit(fmt.Sprint("long ago ", i)); foretold != delivered || delivered == 0 {
			t.Errorf("%d: %d tokens are foretold and %d delivered", i, foretold, delivered)
		}
	}
	if n := w.App.Fabric().SourceStats()["zmq/debug-0"].Snapshots; n == 0 {
		t.Error("no snapshot was taken in")
	}
}
