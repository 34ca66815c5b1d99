package events

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/routing/index"
)

var long = strings.Repeat("s", MaxNameBytes+1)

func TestARefusedEventCostsNoOther(t *testing.T) {
	good := stored(true, 0, tokens(1, 4), 1)
	salted := good
	salted.Salt = long
	adapted := good
	adapted.Adapter = long
	short := good
	short.BlockSize = 16
	huge := Event{Kind: Registered, Hashes: []uint64{7}, BlockSize: MaxBlockSize + 1}
	for name, bad := range map[string]Event{
		"a long salt": salted, "a long adapter": adapted, "too few tokens": short, "a huge block": huge,
		"an unknown tier": {Kind: Registered, Tier: 9, Hashes: []uint64{1}}, "nothing registered": {Kind: Registered},
		"nothing evicted": {Kind: Evicted}, "evicted from nowhere": {Kind: Evicted, Tier: 9, Hashes: []uint64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.send(bad, good)
			b.send(stored(false, 1, tokens(5, 4), 2), bad)
			b.holds(gpu(chain("", "", tokens(1, 8))...)...)
			if st := b.feed.Stats(); st.Applied != 2 || st.Invalid != 0 || st.Gaps != 0 || st.RefusedEvents != 2 {
				t.Errorf("%+v", st)
			}
			if n := b.feed.RefusedEvents("debug-0"); n != 2 || b.x.Host(debug0.Host).Stale {
				t.Errorf("%d refused, stale %t", n, b.x.Host(debug0.Host).Stale)
			}
		})
	}
}

// What takes blocks away counts whatever it says besides: left out, it would leave the index with more than the engine
// holds.
func TestWhatTakesBlocksAwayIsNeverLeftOut(t *testing.T) {
	for name, end := range map[string]Event{
		"an eviction with a long salt":   {Kind: Evicted, Hashes: []uint64{1}, Salt: long},
		"an eviction of huge blocks":     {Kind: Evicted, Hashes: []uint64{1}, BlockSize: MaxBlockSize + 1},
		"a clearing with a long adapter": {Kind: Cleared, Adapter: long},
		"a clearing of an unknown tier":  {Kind: Cleared, Tier: 9},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.send(stored(true, 0, tokens(1, 4), 1))
			b.send(end)
			b.holds()
			if st := b.feed.Stats(); st.Applied != 2 || st.RefusedEvents != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestSingleEventsOfAMessageAreLeftOut(t *testing.T) {
	for name, row := range map[string]struct {
		event   string
		refused int
		kept    []Event
	}{
		"tier of later":   {`{"kind":"CLEARED","tier":9}`, 0, []Event{{Kind: Cleared}}},
		"negative tier":   {`{"kind":"CLEARED","tier":-1}`, 0, []Event{{Kind: Cleared}}},
		"no hashes":       {`{"kind":"REGISTERED"}`, 1, nil},
		"nothing evicted": {`{"kind":"EVICTED"}`, 1, nil},
		"no block size":   {`{"kind":"REGISTERED","hashes":[1],"tokens":[1]}`, 1, nil},
		"too few tokens":  {`{"kind":"REGISTERED","hashes":[1],"tokens":[1],"blockSize":2}`, 1, nil},
		"huge block size": {`{"kind":"REGISTERED","hashes":[1],"blockSize":4294967295}`, 1, nil},
		"long adapter":    {`{"kind":"REGISTERED","hashes":[1],"adapter":"` + long + `"}`, 1, nil},
		"on disk, later":  {`{"kind":"REGISTERED","hashes":[1],"tier":9}`, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := Unmarshal([]byte(`{"replica":"r","events":[` + row.event + `,{"kind":"EVICTED","hashes":[2]}]}`))
			want := append(row.kept, Event{Kind: Evicted, Hashes: []uint64{2}})
			if err != nil || b.Refused != row.refused || !cmp.Equal(b.Events, want) {
				t.Errorf("%d refused, %+v, %v", b.Refused, b.Events, err)
			}
		})
	}
}

func TestSiftingLeavesTheSliceThatItWasGiven(t *testing.T) {
	all := []Event{{Kind: Cleared, Adapter: long}, {Kind: Registered}, {Kind: Evicted, Hashes: []uint64{1}}}
	was := slices.Clone(all)
	b := Batch{Replica: "r", Events: all}
	b.Sift()
	if b.Refused != 1 || len(b.Events) != 2 || !cmp.Equal(all, was) {
		t.Errorf("%d refused, %+v of %+v", b.Refused, b.Events, all)
	}
}

func TestEventsThatGoOnAreOne(t *testing.T) {
	a := stored(true, 0, tokens(1, 8), 1, 2)
	next := stored(false, 2, tokens(9, 4), 3)
	offloaded := next
	offloaded.Tier = index.CPU
	other := next
	other.Adapter = "gdb"
	for name, row := range map[string]struct {
		second Event
		joined bool
	}{
		"the next block": {next, true}, "another tier": {offloaded, false}, "another adapter": {other, false},
		"another parent":          {stored(false, 1, tokens(9, 4), 3), false},
		"another chain":           {stored(true, 0, tokens(9, 4), 3), false},
		"no tokens":               {Event{Kind: Registered, Hashes: []uint64{3}, Parent: 2, BlockSize: 4}, false},
		"a removal":               {evicted(3), false},
		"a block of another size": {stored(false, 2, tokens(9, 8), 3), false},
	} {
		t.Run(name, func(t *testing.T) {
			first := a
			first.Hashes, first.Tokens = slices.Clone(a.Hashes), slices.Clone(a.Tokens)
			got := Append([]Event{first}, row.second)
			if len(got) == 1 != row.joined {
				t.Errorf("%+v", got)
			}
			one, two := newBench(t), newBench(t)
			one.send(got...)
			two.send(a, row.second)
			if !cmp.Equal(one.seen.held, two.seen.held, cmp.AllowUnexported(fact{})) {
				t.Errorf("%v, in two %v", one.seen.held, two.seen.held)
			}
		})
	}
}
