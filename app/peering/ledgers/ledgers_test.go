package ledgers_test

import (
	"reflect"
	"testing"
	"time"

	"octet/app/peering/ledgers"
	"octet/routing/fleet"
	"octet/routing/peers"
	"octet/scheduler/gate"
	"octet/slo"
)

func newReplica(t *testing.T) *fleet.Replica {
	t.Helper()
	r, err := fleet.New().Put(fleet.Spec{Name: "a", Specialist: "s", URL: "http://a", Blocks: 64, BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A request that waits is told as urgent as the Gate has it, with its tenant. While it is on its way to the Gate it is
// the least urgent.
func TestWorkIsWhatBothLedgersSay(t *testing.T) {
	now := time.Unix(9, 0)
	for _, c := range []struct {
		name         string
		sent, routed bool // a prompt of 100 tokens, of which 40 are cached
		held         gate.Own
		want         peers.Work
	}{
		{name: "nothing"},
		{name: "on its way", routed: true,
			want: peers.Work{Waiting: 1, Backlog: 60, Left: 60, Tokens: 100, Urgent: slo.LeastPriority}},
		{name: "waits at the Gate", routed: true,
			held: gate.Own{Waiting: 1, Urgent: 7, Tenant: 3, Had: 5},
			want: peers.Work{Waiting: 1, Backlog: 60, Left: 60, Tokens: 100, Urgent: 7, Tenant: 3, Had: 5}},
		{name: "more wait at the Gate than the fleet knows", held: gate.Own{Waiting: 2, Urgent: 7},
			want: peers.Work{Waiting: 2, Urgent: 7}},
		{name: "runs", sent: true, held: gate.Own{Sequences: 1, Blocks: 8, Answer: time.Second, Urgent: 7, Tenant: 3},
			want: peers.Work{Running: 1, Backlog: 60, Left: 60, Tokens: 100, Blocks: 8, Answer: time.Second}},
		{name: "n sequences of one request", sent: true, held: gate.Own{Sequences: 4, Blocks: 32},
			want: peers.Work{Running: 4, Backlog: 60, Left: 60, Tokens: 100, Blocks: 32}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, d := newReplica(t), fleet.Demand{Prompt: 100, Uncached: 60}
			if c.sent {
				var f fleet.Flight
				r.Start(&f, d, now)
			}
			if c.routed {
				r.Route(d)
			}
			if got := ledgers.Work(r, c.held, now); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// What others have reaches the replica's ledgers whole: no field of either is left out.
func TestBesideLeavesNothingOut(t *testing.T) {
	w := peers.Work{Running: 1, Waiting: 2, Urgent: 3, Tenant: 4, Had: 5, Backlog: 6, Left: 7, Tokens: 8, Blocks: 9,
		Answer: 10}
	scored, admitted := ledgers.Beside(w)
	if want := (fleet.Beside{Running: 1, Waiting: 2, Backlog: 6, Left: 7, Tokens: 8}); scored != want {
		t.Errorf("the fleet's ledger takes %+v, want %+v", scored, want)
	}
	if want := (gate.Beside{Sequences: 1, Blocks: 9, Backlog: 6, Waits: true, Urgent: 3, Tenant: 4, Had: 5,
		Answer: 10}); admitted != want {
		t.Errorf("the Gate takes %+v, want %+v", admitted, want)
	}
	for _, of := range []any{scored, admitted} {
		for v, i := reflect.ValueOf(of), 0; i < v.NumField(); i++ {
			if v.Field(i).IsZero() {
				t.Errorf("%T: %s is not set", of, v.Type().Field(i).Name)
			}
		}
	}
	if scored, admitted := ledgers.Beside(peers.Work{}); scored != (fleet.Beside{}) || admitted != (gate.Beside{}) {
		t.Errorf("of nothing the ledgers take %+v, %+v", scored, admitted)
	}
}

// Gateways that are not heard have as much each as this one has, but none of their requests waits.
func TestUnheardGatewaysHaveAsMuchEach(t *testing.T) {
	w := peers.Work{Running: 1, Waiting: 2, Urgent: 3, Tenant: 4, Had: 5, Backlog: 6, Left: 7, Tokens: 8, Blocks: 9,
		Answer: 10}
	if got, want := ledgers.Unheard(w, 3), (peers.Work{Running: 3, Backlog: 18, Left: 21, Tokens: 24, Blocks: 27,
		Answer: 10}); got != want {
		t.Errorf("three have %+v, want %+v", got, want)
	}
	for _, none := range []peers.Work{ledgers.Unheard(w, 0), ledgers.Unheard(w, -1),
		ledgers.Unheard(peers.Work{Answer: 10}, 3)} {
		if none != (peers.Work{}) {
			t.Errorf("none have %+v", none)
		}
	}
}
