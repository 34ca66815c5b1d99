package peers

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"octet/routing/peers/peerspb"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

const lease = time.Second

// heard has a Roll hear a message, which must be fine.
func heard(t testing.TB, r *Roll, message []byte, at time.Time) Heard {
	t.Helper()
	h, err := r.Hear(message, at)
	if err != nil {
		t.Fatal(err)
	}
	r.Changes(func(uint64, Work) {})
	return h
}

func TestWhatAGatewayToldCountsUntilItsLeaseIsOver(t *testing.T) {
	a, roll := NewTeller("a", 1, lease), NewRoll("b", 2)
	work := map[uint64]Work{7: {Running: 3, Blocks: 30}}
	h := heard(t, roll, a.Tell(work, nil, noon), noon)
	if !h.Joins || h.From != "a" || roll.Beside(7) != (work[7]) || roll.Peers() != 1 {
		t.Errorf("%+v, %+v", h, roll.Beside(7))
	}
	if gone := roll.Expire(noon.Add(lease - 1)); gone != nil {
		t.Errorf("%v is gone within its lease", gone)
	}
	gone := roll.Expire(noon.Add(lease))
	changed := map[uint64]Work{}
	roll.Changes(func(replica uint64, w Work) { changed[replica] = w })
	if len(gone) != 1 || !maps.Equal(changed, map[uint64]Work{7: {}}) || roll.Beside(7) != (Work{}) {
		t.Errorf("%v is gone, and changes %v", gone, changed)
	}
}

func TestAGatewayThatLeavesCountsNoMoreAtOnce(t *testing.T) {
	a, roll := NewTeller("a", 1, lease), NewRoll("b", 2)
	heard(t, roll, a.Tell(map[uint64]Work{7: {Running: 3}}, nil, noon), noon)
	if h := heard(t, roll, a.Leave(), noon); !h.Left || roll.Peers() != 0 || roll.Beside(7) != (Work{}) {
		t.Errorf("%+v, %d peers", h, roll.Peers())
	}
	if h := heard(t, roll, a.Leave(), noon); h.Left || roll.Peers() != 0 {
		t.Error("it leaves twice")
	}
}

func TestANewLifeBeginsWithNothing(t *testing.T) {
	roll := NewRoll("b", 2)
	heard(t, roll, NewTeller("a", 1, lease).Tell(map[uint64]Work{7: {Running: 3}, 8: {Running: 1}}, nil, noon), noon)
	h := heard(t, roll, NewTeller("a", 3, lease).Tell(map[uint64]Work{8: {Running: 2}}, nil, noon), noon)
	if !h.Joins || roll.Beside(7) != (Work{}) || roll.Beside(8).Running != 2 || roll.Peers() != 1 {
		t.Errorf("%+v, %+v, %+v", h, roll.Beside(7), roll.Beside(8))
	}
}

// What an earlier life sends comes late: it ends nothing of the next one.
func TestAnEarlierLifeEndsNothing(t *testing.T) {
	roll, earlier := NewRoll("b", 2), NewTeller("a", 1, lease)
	heard(t, roll, earlier.Tell(nil, nil, noon), noon)
	heard(t, roll, NewTeller("a", 3, lease).Tell(map[uint64]Work{7: {Running: 2}}, nil, noon), noon)
	if h := heard(t, roll, earlier.Leave(), noon); h.Left || roll.Beside(7).Running != 2 || roll.Peers() != 1 {
		t.Errorf("%+v, %+v, %d peers", h, roll.Beside(7), roll.Peers())
	}
}

func TestALateMessageChangesNothing(t *testing.T) {
	a, roll := NewTeller("a", 1, lease), NewRoll("b", 2)
	first := a.Tell(map[uint64]Work{7: {Running: 1}}, nil, noon)
	heard(t, roll, first, noon)
	heard(t, roll, a.Tell(map[uint64]Work{7: {Running: 2}, 8: {Running: 3}}, nil, noon), noon)
	if h := heard(t, roll, first, noon); h.Fresh || roll.Beside(7).Running != 2 || roll.Beside(8).Running != 3 {
		t.Errorf("%+v, %+v, %+v", h, roll.Beside(7), roll.Beside(8))
	}
}

func TestOwnMessagesDoNotCount(t *testing.T) {
	roll := NewRoll("a", 1)
	heard(t, roll, NewTeller("a", 1, lease).Tell(map[uint64]Work{7: {Running: 3}}, nil, noon), noon)
	if roll.Peers() != 0 {
		t.Error("a gateway is its own peer")
	}
}

func TestOnlyChangesAreToldInBetween(t *testing.T) {
	a, work := NewTeller("a", 1, lease), map[uint64]Work{7: {Running: 3}, 8: {Running: 1}, 9: {}}
	read := func(text []byte) (*peerspb.Message, []uint64) {
		if text == nil {
			return nil, nil
		}
		m := new(peerspb.Message)
		if err := proto.Unmarshal(text, m); err != nil {
			t.Fatal(err)
		}
		var of []uint64
		for _, w := range m.GetWork() {
			of = append(of, w.GetReplica())
		}
		return m, of
	}
	if m, of := read(a.Tell(work, nil, noon)); !m.GetWhole() || len(of) != 2 {
		t.Errorf("the first message tells of %v", of)
	}
	if a.Tell(work, nil, noon.Add(time.Millisecond)) != nil {
		t.Error("nothing has changed, and is told")
	}
	work[8] = Work{Running: 2}
	if m, of := read(a.Tell(work, nil, noon.Add(2*time.Millisecond))); m.GetWhole() || len(of) != 1 || of[0] != 8 {
		t.Errorf("a change of 8 tells of %v", of)
	}
	for _, step := range []struct{ left, told int }{{800, 1}, {701, 0}, {700, 1}, {613, 0}, {0, 1}, {0, 0}} {
		work[8] = Work{Running: 2, Backlog: 800, Left: step.left}
		if _, of := read(a.Tell(work, nil, noon.Add(2*time.Millisecond))); len(of) != step.told {
			t.Errorf("with %d of 800 tokens left it tells of %v", step.left, of)
		}
	}
	delete(work, 7)
	if _, of := read(a.Tell(work, nil, noon.Add(3*time.Millisecond))); len(of) != 1 || of[0] != 7 {
		t.Errorf("the end of 7 tells of %v", of)
	}
	if m, of := read(a.Tell(work, nil, noon.Add(lease/3))); !m.GetWhole() || len(of) != 1 {
		t.Errorf("what is due tells of %v", of)
	}
}

func TestBadMessagesAreRefusedAndChangeNothing(t *testing.T) {
	good := func(change func(*peerspb.Message)) []byte {
		m := &peerspb.Message{Version: Version, From: "a", Life: 1, Seq: 9, LeaseMs: 1000,
			Work: []*peerspb.Work{{Replica: 7, Running: 1}}}
		change(m)
		text, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, text := range map[string][]byte{
		"no protobuf": []byte("\xff\xff\xff"), "nothing": nil, "a long one": make([]byte, MaxMessage+1),
		"no version":    good(func(m *peerspb.Message) { m.Version = 0 }),
		"a far version": good(func(m *peerspb.Message) { m.Version = Version + 2 }),
		"no name":       good(func(m *peerspb.Message) { m.From = "" }),
		"a bad name":    good(func(m *peerspb.Message) { m.From = "a.b" }),
		"no lease":      good(func(m *peerspb.Message) { m.LeaseMs = 0 }),
		"an old lease":  good(func(m *peerspb.Message) { m.LeaseMs = 1 << 31 }),
	} {
		roll := NewRoll("b", 2)
		if _, err := roll.Hear(text, noon); err == nil || roll.Peers() != 0 {
			t.Errorf("%s: %v, %d peers", name, err, roll.Peers())
		}
	}
	roll := NewRoll("b", 2)
	if heard(t, roll, good(func(m *peerspb.Message) { m.Version = Version + 1 }), noon); roll.Peers() != 1 {
		t.Error("a gateway of the next version is not heard")
	}
}

func TestGatewaysAndTheirReplicasAreBounded(t *testing.T) {
	roll := NewRoll("b", 2)
	for i := range MaxGateways + 1 {
		_, err := roll.Hear(NewTeller(fmt.Sprint("g", i), 1, lease).Tell(nil, nil, noon), noon)
		if (err != nil) != (i == MaxGateways) {
			t.Fatalf("gateway %d: %v", i, err)
		}
	}
	a, roll := NewTeller("a", 1, lease), NewRoll("b", 2)
	for round := range 3 {
		work := map[uint64]Work{}
		for i := range MaxReplicas / 2 {
			work[uint64(round*MaxReplicas+i)] = Work{Running: 1}
		}
		m := a.Tell(work, nil, noon)
		a.told = map[uint64]Work{} // it forgets to tell of their ends
		heard(t, roll, m, noon)
	}
	if n := len(roll.peers["a"].work); n > MaxReplicas {
		t.Errorf("%d replicas of one gateway are kept", n)
	}
}

// Whatever is lost, repeated or late on the way, what counts of a gateway is what it told in the last whole message
// that came and in what came after it; and two thirds of a lease after the last loss it is the truth.
func TestWhatCountsIsTheTruthSoonAfterTheLastLoss(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now, roll := noon, NewRoll("reader", 99)
		type gateway struct {
			*Teller
			work map[uint64]Work
		}
		all := []*gateway{}
		for i := range 3 {
			all = append(all, &gateway{NewTeller(fmt.Sprint("g", i), uint64(i+1), lease), map[uint64]Work{}})
		}
		var last []byte
		step := func(lossy bool) {
			now = now.Add(20 * time.Millisecond)
			for i, g := range all {
				if rapid.IntRange(0, 2).Draw(rt, "changes") == 0 {
					replica := uint64(rapid.IntRange(0, 4).Draw(rt, "replica"))
					g.work[replica] = Work{Running: rapid.IntRange(0, 3).Draw(rt, "running"),
						Waiting: rapid.IntRange(0, 1).Draw(rt, "waiting"), Urgent: i,
						Backlog: rapid.IntRange(0, 2).Draw(rt, "backlog") * 1000}
				}
				for replica, w := range g.work { // it is computed
					w.Left = w.Backlog - rapid.IntRange(0, w.Backlog).Draw(rt, "done")
					g.work[replica] = w
				}
				m := g.Tell(g.work, nil, now)
				if m == nil {
					continue
				}
				switch {
				case lossy && rapid.IntRange(0, 3).Draw(rt, "lost") == 0:
					continue
				case last != nil && rapid.IntRange(0, 7).Draw(rt, "again") == 0:
					must(rt, roll, last, now)
				}
				must(rt, roll, m, now)
				last = m
			}
			roll.Expire(now)
		}
		for range rapid.IntRange(1, 60).Draw(rt, "lossy steps") {
			step(true)
		}
		for range int(2*lease/3/(20*time.Millisecond)) + 2 {
			step(false)
		}
		for replica := range uint64(5) {
			var want Work
			for _, g := range all {
				if w := g.work[replica]; !w.Idle() {
					if w.Waiting == 0 {
						w.Urgent = 0
					}
					want = want.Add(w)
				}
			}
			got := roll.Beside(replica)
			if diff := got.Left - want.Left; diff*7 <= want.Left && -diff*8 <= want.Left { // told by the eighth
				got.Left = want.Left
			}
			if got != want {
				rt.Fatalf("of %d counts %+v, and is %+v", replica, got, want)
			}
		}
	})
}

func FuzzNoMessageIsWorseThanRefused(f *testing.F) {
	f.Add(NewTeller("a", 1, lease).Tell(map[uint64]Work{7: {Running: 3, Waiting: 2, Urgent: -100}}, nil, noon))
	f.Add(NewTeller("a", 1, lease).Leave())
	f.Fuzz(func(t *testing.T, text []byte) {
		roll := NewRoll("b", 2)
		heard(t, roll, NewTeller("a", 1, lease).Tell(map[uint64]Work{7: {Running: 1}}, nil, noon), noon)
		_, err := roll.Hear(text, noon)
		roll.Changes(func(_ uint64, w Work) {
			if w.Running < 0 || w.Waiting < 0 || w.Backlog < 0 || w.Tokens < 0 || w.Blocks < 0 || w.Answer < 0 {
				t.Errorf("%+v", w)
			}
		})
		if err != nil && roll.Beside(7).Running != 1 {
			t.Errorf("a refused message has changed %+v", roll.Beside(7))
		}
	})
}

// must is heard in a property.
func must(rt *rapid.T, r *Roll, message []byte, at time.Time) {
	if _, err := r.Hear(message, at); err != nil {
		rt.Fatal(err)
	}
	r.Changes(func(uint64, Work) {})
}
