package zmqstream

import (
	"strings"
	"testing"

	"octet/routing/events"
)

// follow returns a follower that delivers to c.
func (c *cell) follow(t *testing.T) *follower {
	t.Helper()
	consumer, err := NewConsumer(Config{Replica: "debug-0", Endpoint: "tcp://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	return newFollower(consumer, c.feed.Open())
}

// An engine's batch holds what one step did for many requests: one of them with a salt that no event may have leaves
// the others'.
func TestALongSaltCostsNoOtherEvent(t *testing.T) {
	c := newCell(t)
	f := c.follow(t)
	block := func(hash, parent any, from uint32, extras any) list {
		return list{"BlockStored", list{hash}, parent, raws(from, 4), 4, nil, "GPU", nil, extras}
	}
	f.put(message{1, batch(block(11, nil, 1, nil),
		block(90, nil, 50, list{list{strings.Repeat("s", events.MaxNameBytes+1)}}), block(12, 11, 5, nil))})
	f.put(message{2, batch(block(13, 12, 9, nil))})
	c.at(t, 3, false)
	if st := c.feed.Stats(); st.RefusedEvents != 1 || st.Gaps != 0 || st.Applied != 2 {
		t.Errorf("%+v", st)
	}
}

func TestABlockThatCannotBeReadCostsNoOther(t *testing.T) {
	c := newCell(t)
	f := c.follow(t)
	f.put(message{1, batch(list{"BlockStored", list{"name"}, nil, raws(1, 4), 4, nil},
		list{"BlockStored", list{11}, nil, raws(1, 4), 4, nil})})
	c.at(t, 1, false)
	if st := c.feed.Stats(); st.RefusedEvents != 1 {
		t.Errorf("%+v", st)
	}
	f.put(message{2, batch(list{"BlockRemoved", list{"name"}})}) // it cannot be told what went
	f.put(message{3, batch(list{"BlockStored", list{12}, 11, raws(5, 4), 4, nil})})
	if h := c.x.Host(0); !h.Stale || h.Blocks != 1 || c.feed.Stats().Orphans != 0 {
		t.Errorf("%+v, %+v", h, c.feed.Stats()) // 11 may be what went; what follows it came after
	}
	f.put(message{4, batch(list{"BlockStored", list{11}, nil, raws(1, 4), 4, nil})})
	c.at(t, 2, true)
}

// SGLang with pages of one token tells of each page by itself.
func TestAStepOfManyPagesIsOneBatch(t *testing.T) {
	const pages = 20_000
	all := make([]any, pages)
	for i := range all {
		var parent any
		if i > 0 {
			parent = i
		}
		all[i] = list{"BlockStored", list{i + 1}, parent, list{i % 50_000}, 1, nil, "GPU"}
	}
	var d decoder
	_, got, err := d.decode(batch(all...))
	if err != nil || len(got) != 1 || len(got[0].Hashes) != pages || len(got[0].Tokens) != pages {
		t.Fatalf("%d events, %v", len(got), err)
	}
	for i := range all {
		all[i] = list{"BlockRemoved", list{i + 1}, "GPU"}
	}
	_, got, err = d.decode(batch(all...))
	if err != nil || len(got) != 1 || len(got[0].Hashes) != pages {
		t.Fatalf("%d events, %v", len(got), err)
	}
	for i := range all {
		all[i] = list{"BlockStored", list{i + 1}, nil, list{i % 50_000}, 1, nil, "GPU"}
	}
	_, got, err = d.decode(batch(all...))
	b := events.Batch{Replica: "r", Events: got}
	if err != nil || len(got) != pages || b.Check() != nil {
		t.Fatalf("%d events, %v, %v", len(got), err, b.Check())
	}
}
