package plugins_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// kept runs one filter for a role over all replicas and returns those that are left; none when the filter left none.
func (w *world) kept(filter routing.PluginSpec, role routing.Role, f routing.Facts) index.HostBitmap {
	w.t.Helper()
	p := w.build(routing.ProfileSpec{Name: "p", Role: role, Filter: []routing.PluginSpec{filter},
		Pick: routing.PluginSpec{Name: "max-score"}})
	d, err := p.Select(w.t.Context(), w.request(f))
	var none *routing.NoCandidateError
	if errors.As(err, &none) && none.Filter == filter.Name {
		return index.HostBitmap{}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Eligible
}

// MOD3-05
//
//nolint:lll // raw text that cannot be broken
func TestHealthKeepsHealthyReplicasThatAreNotDraining(t *testing.T) {
	w := newWorld(t, 3)
	w.replica(1).SetDraining(true)
	if got := w.kept(routing.PluginSpec{Name: "health"}, routing.RoleBoth, routing.Facts{}); got != index.HostSet(0, 2) {
		t.Errorf("kept %v", got)
	}
}

// MOD3-06, GAIE-16: a prefill request never reaches a decode-only replica, nor a whole request either kind.
//
//nolint:lll // raw text that cannot be broken
func TestRoleKeepsWhoCanDoTheWork(t *testing.T) {
	w := newWorld(t, 0)
	w.put(fleet.Spec{Host: 0, Role: fleet.RoleBoth})
	w.put(fleet.Spec{Host: 1, Role: fleet.RolePrefill})
	w.put(fleet.Spec{Host: 2, Role: fleet.RoleDecode})
	for role, want := range map[routing.Role]index.HostBitmap{
		routing.RoleBoth:    index.HostSet(0),
		routing.RolePrefill: index.HostSet(0, 1),
		routing.RoleDecode:  index.HostSet(0, 2),
	} {
		if got := w.kept(routing.PluginSpec{Name: "role"}, role, routing.Facts{}); got != want {
			t.Errorf("%v: kept %v, want %v", role, got, want)
		}
		if got := w.kept(routing.PluginSpec{Name: "prefill-endpoints-filter"}, role, routing.Facts{}); got != index.HostSet(0, 1) {
			t.Errorf("%v: prefill-endpoints kept %v", role, got)
		}
		if got := w.kept(routing.PluginSpec{Name: "decode-endpoints-filter"}, role, routing.Facts{}); got != index.HostSet(0, 2) {
			t.Errorf("%v: decode-endpoints kept %v", role, got)
		}
	}
}

// MOD3-07
func TestConcurrencyCapsWhatIsInFlight(t *testing.T) {
	w := newWorld(t, 3)
	for h, n := range []int{2, 3, 4} {
		w.load(index.HostID(h), fleet.Load{InFlight: n, Running: 99})
	}
	for limit, want := range map[int]index.HostBitmap{2: {}, 3: index.HostSet(0), 4: index.HostSet(0, 1),
		5: index.HostSet(0, 1, 2)} {
		spec := routing.PluginSpec{Name: "concurrency", Params: map[string]any{"max": limit}}
		if got := w.kept(spec, routing.RoleBoth, routing.Facts{}); got != want {
			t.Errorf("max %d: kept %v, want %v", limit, got, want)
		}
	}
}

// MOD3-07: where every replica is at the cap, a request waits at those whose own queue keeps it, unless it is to be
// refused. A cap that is not given is no lower than what the replica runs.
func TestConcurrencyLeavesTheQueuesThatKeepItsCap(t *testing.T) {
	w := newWorld(t, 0)
	for h, n := range []int{64, 32, 96, 2000} {
		r := w.put(fleet.Spec{Host: index.HostID(h), MaxRunning: n})
		for range n {
			r.Begin()
		}
	}
	for name, c := range map[string]struct {
		params map[string]any
		want   index.HostBitmap
	}{
		"a cap":          {map[string]any{"max": 64}, index.HostSet(1)}, // one is below it
		"a low cap":      {map[string]any{"max": 32}, index.HostSet(1)},
		"a lower one":    {map[string]any{"max": 31}, index.HostBitmap{}},
		"to be refused":  {map[string]any{"max": 32, "refuse": true}, index.HostBitmap{}},
		"none that runs": {map[string]any{}, index.HostSet(0, 1, 2)},
	} {
		spec := routing.PluginSpec{Name: "concurrency", Params: c.params}
		if got := w.kept(spec, routing.RoleBoth, routing.Facts{}); got != c.want {
			t.Errorf("%s: kept %v, want %v", name, got, c.want)
		}
	}
	w.replica(0).End()
	spec := routing.PluginSpec{Name: "concurrency", Params: map[string]any{"max": 64}}
	if got := w.kept(spec, routing.RoleBoth, routing.Facts{}); got != index.HostSet(0, 1) {
		t.Errorf("with room at two: kept %v", got)
	}
}

// oddServe has every adapter on odd hosts.
type oddServe struct{}

func (oddServe) Serving(_, _ string, among index.HostBitmap) (b index.HostBitmap) {
	for h := range among.All() {
		if h%2 == 1 {
			b.Set(h)
		}
	}
	return b
}

func TestAdapterKeepsWhoCanServeIt(t *testing.T) {
	w := newWorld(t, 4)
	filter := routing.PluginSpec{Name: "adapter"}
	if got := w.kept(filter, routing.RoleBoth, routing.Facts{Adapter: "gdb"}); got != index.HostSet(0, 1, 2, 3) {
		t.Errorf("with nothing known of adapters: %v", got)
	}
	w.deps.Adapters = oddServe{}
	if got := w.kept(filter, routing.RoleBoth, routing.Facts{Adapter: "gdb"}); got != index.HostSet(1, 3) {
		t.Errorf("kept %v", got)
	}
	if got := w.kept(filter, routing.RoleBoth, routing.Facts{}); got != index.HostSet(0, 1, 2, 3) {
		t.Errorf("without an adapter: %v", got)
	}
}

func TestBreakerRemovesWhoLetsNothingThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 4, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 1, OpenFor: time.Second}}))
		for _, h := range []index.HostID{1, 2} {
			p, err := w.replica(h).Take()
			if err != nil {
				t.Fatal(err)
			}
			p.Settle(fleet.Failed)
			time.Sleep(600 * time.Millisecond)
		}
		filter := routing.PluginSpec{Name: "breaker"}
		if got := w.kept(filter, routing.RoleBoth, routing.Facts{}); got != index.HostSet(0, 1, 3) {
			t.Errorf("1 is half-open and 2 is open: kept %v", got)
		}
		probe, err := w.replica(1).Take()
		if err != nil {
			t.Fatal(err)
		}
		if got := w.kept(filter, routing.RoleBoth, routing.Facts{}); got != index.HostSet(0, 3) {
			t.Errorf("with its probe out, 1 is kept: %v", got)
		}
		if probe.Settle(fleet.Succeeded); w.kept(filter, routing.RoleBoth, routing.Facts{}) != index.HostSet(0, 1, 3) {
			t.Error("after its probe succeeded, 1 is not kept")
		}
	})
}

func TestTheFilterThatLeftNoneIsNamed(t *testing.T) {
	w := newWorld(t, 2, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 1}}))
	w.replica(0).SetDraining(true)
	p, err := w.replica(1).Take()
	if err != nil {
		t.Fatal(err)
	}
	p.Settle(fleet.Failed)
	_, err = w.preset("default").Select(t.Context(), w.request(prompt("x")))
	if err == nil || err.Error() != "routing: no candidate: breaker removed the last 1, health 1 before" {
		t.Errorf("error is %v", err)
	}
}
