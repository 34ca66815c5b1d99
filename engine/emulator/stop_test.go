package emulator

import (
	"strings"
	"testing"

	"octet/kvpool"
	"octet/routing/events"
	"octet/scheduler/core"
)

// slowStop looks at the whole text at once.
func slowStop(text string, stops []string) (string, bool) {
	first := -1
	for _, s := range stops {
		if at := strings.Index(text, s); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	if first < 0 {
		return text, false
	}
	return text[:first], true
}

func FuzzStopper(f *testing.F) {
	f.Add("abcabcabd", "abd", "cc", 2)
	f.Add("aaaaaaab", "aab", "ab", 1)
	f.Fuzz(func(t *testing.T, text, stop1, stop2 string, size int) {
		if stop1 == "" || stop2 == "" || size < 1 || text == "" || len(text) > 1000 {
			return
		}
		s := stopper{words: [][]byte{[]byte(stop1), []byte(stop2)}}
		var got strings.Builder
		stopped := false
		for rest := text; rest != "" && !stopped; {
			n := min(size, len(rest))
			var out []byte
			out, stopped = s.feed([]byte(rest[:n]), n == len(rest))
			got.Write(out)
			if tail := len(s.held); !stopped && tail >= max(len(stop1), len(stop2)) {
				t.Fatalf("%d bytes are held back", tail)
			}
			rest = rest[n:]
		}
		// Token by token a stop string may end before one that begins earlier has; that one is looked for up to there
		// only.
		want, _ := slowStop(text, []string{stop1, stop2})
		if got.String() != want && !(stopped && strings.HasPrefix(got.String(), want)) {
			t.Fatalf("%q until %q or %q: got %q, want %q", text, stop1, stop2, got.String(), want)
		}
	})
}

func TestGroupingKeepsChainsTogetherAndOrder(t *testing.T) {
	stored := func(h, parent kvpool.BlockHash, root bool, adapter string) core.BlockEvent {
		return core.BlockEvent{Stored: true, Hash: h, Parent: parent, IsRoot: root, Tokens: []uint32{uint32(h), 0},
			Adapter: adapter}
	}
	o := newOutbox(Config{Name: "r", BlockSize: 2})
	got := o.group([]core.BlockEvent{
		stored(1, 99, true, ""), stored(2, 1, false, ""), // one chain
		stored(7, 2, false, "a"), // another adapter
		stored(1, 99, true, ""),  // a chain of its own
		stored(3, 9, false, ""),  // goes on elsewhere
		{Hash: 5}, {Hash: 6},
		stored(6, 3, false, ""),
	})
	want := []struct {
		kind   events.Kind
		hashes []uint64
		parent uint64
		root   bool
	}{
		{events.Registered, []uint64{1, 2}, 99, true}, {events.Registered, []uint64{7}, 2, false},
		{events.Registered, []uint64{1}, 99, true},
		{events.Registered, []uint64{3}, 9, false}, {events.Evicted, []uint64{5, 6}, 0, false},
		{events.Registered, []uint64{6}, 3, false},
	}
	if len(got) != len(want) {
		t.Fatalf("%d events: %+v", len(got), got)
	}
	for i, w := range want {
		e := got[i]
		if e.Kind != w.kind || len(e.Hashes) != len(w.hashes) || e.Hashes[0] != w.hashes[0] || e.Parent != w.parent ||
			e.Root != w.root {
			t.Errorf("event %d: %+v, want %+v", i, e, w)
		}
		if e.Kind == events.Registered && len(e.Tokens) != 2*len(e.Hashes) {
			t.Errorf("event %d has %d tokens", i, len(e.Tokens))
		}
	}
}

func TestAFullOutboxDropsBatchesAndTheirNumbersShowIt(t *testing.T) {
	o := newOutbox(Config{Name: "r", Publisher: blackHole{}})
	for range outboxSize + 3 {
		o.post(events.Event{Kind: events.Cleared})
	}
	if o.lost.Load() != 3 || o.posted() != outboxSize+3 || len(o.queue) != outboxSize {
		t.Errorf("lost %d, posted %d, queued %d", o.lost.Load(), o.posted(), len(o.queue))
	}
}

type blackHole struct{ events.Publisher }
