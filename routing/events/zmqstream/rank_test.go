package zmqstream

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tinylib/msgp/msgp"

	"octet/internal/await"
	"octet/routing/events"
)

// The third element of a batch is its rank, whatever comes behind it; what can be none is taken for none.
func TestTheRankOfABatchIsRead(t *testing.T) {
	none := list{}
	upTo := slices.Clip(pack(list{1.5, none, 0}))
	upTo = upTo[: len(upTo)-1 : len(upTo)-1] // without the rank
	for name, row := range map[string]struct {
		payload []byte
		want    int64
	}{
		"a rank":             {pack(list{1755000000.25, none, 3}), 3},
		"rank zero":          {pack(list{1755000000.25, none, 0}), 0},
		"unsigned":           {append(upTo, 0xcc, 200), 200},
		"and more behind it": {pack(list{1755000000.25, none, 7, "later"}), 7},
		"nil":                {pack(list{1755000000.25, none, nil}), noRank},
		"absent":             {pack(list{1755000000.25, none}), noRank},
		"negative":           {pack(list{1755000000.25, none, -1}), noRank},
		"a word":             {pack(list{1755000000.25, none, "0"}), noRank},
		"too large":          {append(upTo, msgp.AppendUint64(nil, 1<<63)...), noRank},
	} {
		var d decoder
		d.rank = 99
		if _, _, err := d.decode(row.payload); err != nil || d.rank != row.want {
			t.Errorf("%s: rank %d, %v", name, d.rank, err)
		}
	}
}

// A batch of another rank changes nothing of the replica's and is counted; one without a rank is the replica's.
func TestABatchOfAnotherRankIsLeftOut(t *testing.T) {
	one := 1
	for name, row := range map[string]struct {
		says  int // that batches say
		wants *int
		took  bool
	}{
		"its own": {1, &one, true}, "another": {0, &one, false}, "any": {5, nil, true},
	} {
		const free = "tcp://127.0.0.1:0"
		p, err := NewPublisher(PublisherConfig{Endpoint: free, Replay: free, Rank: row.says})
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewConsumer(Config{Replica: "debug-0", Endpoint: "tcp://" + p.Addr().String(),
			Replay: "tcp://" + p.ReplayAddr().String(), Rank: row.wants})
		if err != nil {
			t.Fatal(err)
		}
		in := newCell(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Consume(ctx, in.feed) }()
		chain := events.Event{Kind: events.Registered, Root: true, Hashes: []uint64{1, 2}, Tokens: ids(1, 8),
			BlockSize: 4}
		if err := p.Publish(ctx, events.Batch{Replica: "debug-0", Epoch: 1, Seq: 1, At: time.Now(),
			Events: []events.Event{chain}}); err != nil {
			t.Fatal(err)
		}
		await.True(t, name+" is read", func() bool { s := c.Stats(); return s.Messages+s.OtherRank == 1 })
		blocks := 0
		if row.took {
			blocks = 2
		}
		in.at(t, blocks, false)
		if s := c.Stats(); (s.OtherRank == 0) != row.took || s.Bad != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		cancel()
		<-ended
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
