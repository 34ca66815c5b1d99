package plugins_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// after runs preparers over all replicas and returns the reading side.
func (w *world) after(g given, wanted routing.AnySlot, prepare ...routing.PluginSpec) routing.View {
	w.t.Helper()
	c := w.request(g.facts)
	p, err := routing.Build(routing.ProfileSpec{Name: "p", Prepare: prepare,
		Pick:  routing.PluginSpec{Name: "max-score"},
		Given: append(g.put(c), plugins.Fleet), Wanted: []routing.AnySlot{wanted}}, plugins.Registry(w.deps))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := p.Select(context.Background(), c); err != nil {
		w.t.Fatal(err)
	}
	return c.View()
}

// MOD3-03
func TestASessionKeyIsOfOneTenantsSession(t *testing.T) {
	w := newWorld(t, 2)
	key := func(from string, f routing.Facts) uint64 {
		return plugins.Session.Get(w.after(given{facts: f}, plugins.Session,
			routing.PluginSpec{Name: "session-key", Params: map[string]any{"from": from}}))
	}
	a := key("session", routing.Facts{Tenant: "acme", Session: "s"})
	if a == 0 || a != key("session", routing.Facts{Tenant: "acme", Session: "s", RequestID: "2"}) {
		t.Error("a session has no key, or two")
	}
	if a == key("session", routing.Facts{Tenant: "other", Session: "s"}) ||
		a == key("session", routing.Facts{Tenant: "acme", Session: "t"}) {
		t.Error("two sessions share a key")
	}
	if key("session", routing.Facts{Tenant: "acme"}) != 0 {
		t.Error("no session has a key")
	}
	if b := key("tenant", routing.Facts{Tenant: "acme", Session: "s"}); b == 0 ||
		b != key("tenant", routing.Facts{Tenant: "acme", Session: "t"}) {
		t.Error("a tenant's sessions differ where the tenant makes the session")
	}
}

// MOD3-03: a profile may name the header that has the session; X-Session-Id stands in where it is not sent.
func TestASessionKeyMayComeFromAnotherHeader(t *testing.T) {
	w := newWorld(t, 2)
	key := func(f routing.Facts, value string) uint64 {
		f.Tenant, f.Headers = "acme", routing.Headers{{Name: "X-Other", Value: "o"}}
		if value != "" {
			f.Headers = append(f.Headers, routing.Header{Name: "X-Conversation", Value: value})
		}
		return plugins.Session.Get(w.after(given{facts: f}, plugins.Session,
			routing.PluginSpec{Name: "session-key", Params: map[string]any{"header": "x-conversation"}}))
	}
	a := key(routing.Facts{Session: "s"}, "one")
	if a == 0 || a != key(routing.Facts{Session: "t"}, "one") || a == key(routing.Facts{Session: "s"}, "two") {
		t.Error("the header does not name the session")
	}
	if b := key(routing.Facts{Session: "s"}, ""); b == 0 || b == a || b == key(routing.Facts{Session: "t"}, "") {
		t.Error("without the header X-Session-Id does not stand in")
	}
	if key(routing.Facts{}, "") != 0 {
		t.Error("a request without either has a session")
	}
	spec := mustPreset(t, "cache-aware-sticky")
	spec.Prepare[3].Params = map[string]any{"header": "X-Conversation", "from": "tenant"}
	if _, err := routing.Build(plugins.Complete(spec, false), plugins.Registry(w.deps)); err == nil {
		t.Error("a header is taken where the tenant makes the session")
	}
}

// MOD3-03, MOD3-14
//
//nolint:lll // raw text that cannot be broken
func TestAConsistentHashKeyIsOfWhatItSaysItIs(t *testing.T) {
	w := newWorld(t, 2)
	key := func(by string, f routing.Facts, before ...routing.PluginSpec) uint64 {
		ref := routing.PluginSpec{Name: "consistent-hash-key", Params: map[string]any{"by": by}}
		return plugins.HashKey.Get(w.after(given{facts: f}, plugins.HashKey, append(before, ref)...))
	}
	tenant := routing.PluginSpec{Name: "tenant"}
	if key("tenant", routing.Facts{}, tenant) != 0 || key("adapter", routing.Facts{}) != 0 {
		t.Error("nothing has a key")
	}
	if a, b := key("tenant", routing.Facts{Tenant: "a"}, tenant), key("tenant", routing.Facts{Tenant: "b"}, tenant); a == 0 || a == b {
		t.Errorf("tenants: %x, %x", a, b)
	}
	if a, b := key("adapter", routing.Facts{Adapter: "a"}), key("adapter", routing.Facts{Adapter: "b"}); a == 0 ||
		a == b {
		t.Errorf("adapters: %x, %x", a, b)
	}
}

// MOD3-51
func TestTheTenantPreparerTellsWhoAsks(t *testing.T) {
	w := newWorld(t, 2)
	got := plugins.Tenant.Get(w.after(given{facts: routing.Facts{Tenant: "acme", Priority: 7}}, plugins.Tenant,
		routing.PluginSpec{Name: "tenant"}))
	if got.Name != "acme" || got.Priority != 7 || got.Key == 0 {
		t.Errorf("%+v", got)
	}
}

// MOD3-42: with a replica to be near to, distances are from there.
func TestLocalityMeasuresFromHereOrFromTheReplicaToBeNearTo(t *testing.T) {
	w := newWorld(t, 0)
	for h, at := range [][3]string{{"eu", "a", "n1"}, {"eu", "a", "n2"}, {"eu", "b", "n1"}, {"us", "a", "n1"},
		{"", "", ""}, {"eu", "", ""}} {
		labels := map[string]string{}
		for i, level := range []string{"region", "zone", "node"} {
			if at[i] != "" {
				labels[level] = at[i]
			}
		}
		w.put(fleet.Spec{Host: index.HostID(h), Labels: labels})
	}
	distances := func(g given, params map[string]any) string {
		places := plugins.Distances.Get(w.after(g, plugins.Distances,
			routing.PluginSpec{Name: "locality", Params: params}))
		if places == nil {
			return "unknown"
		}
		return fmt.Sprint(places.Distance[:6], " of ", places.Levels)
	}
	here := map[string]any{"here": map[string]any{"region": "eu", "zone": "a", "node": "n1"}}
	second := index.HostID(1)
	for name, got := range map[string]string{
		"[0 1 2 3 3 2] of 3": distances(given{}, here),
		"[1 0 2 3 3 2] of 3": distances(given{near: &second}, here),
		"[0 0 1 2 2 1] of 2": distances(given{},
			map[string]any{"levels": []any{"region", "zone"}, "here": map[string]any{"region": "eu", "zone": "a"}}),
		"[1 1 2 3 3 2] of 3": distances(given{}, map[string]any{"here": map[string]any{"region": "eu", "zone": "a"}}),
		// two unknown zones are not one
		"[2 2 2 3 3 2] of 3": distances(given{}, map[string]any{"here": map[string]any{"region": "eu"}}),
		"[1 1 2 1 2 2] of 3": distances(given{},
			map[string]any{"levels": []any{"cell", "zone", "rack"}, "here": map[string]any{"zone": "a"}}),
		"unknown": distances(given{}, nil),
	} {
		if got != name {
			t.Errorf("got %s, want %s", got, name)
		}
	}
}

func TestInFlightLoadIsOfOneMoment(t *testing.T) {
	w := newWorld(t, 2)
	w.load(1, fleet.Load{InFlight: 2, Waiting: 3})
	w.tokens(1, 50)
	loads := plugins.Loads.Get(w.after(given{}, plugins.Loads, routing.PluginSpec{Name: "in-flight-load"}))
	if got := loads[1]; got.InFlight != 2 || got.Waiting != 4 || got.Tokens != 50 || loads[0] != (fleet.Load{}) {
		t.Errorf("%+v", got)
	}
}

// MOD3-51: a forecast is what is queued there and the part of the prompt that is not held, at the replica's own pace.
func TestPredictedLatencyFollowsBacklogCacheAndPace(t *testing.T) {
	w := newWorld(t, 3)
	now := time.Unix(0, 0)
	for h, perToken := range []time.Duration{time.Millisecond, 2 * time.Millisecond} {
		r := w.replica(index.HostID(h))
		for n := 100; n <= 1000; n += 100 {
			f := r.Route(fleet.Demand{Prompt: n, Uncached: n})
			f.Begin(now)
			at := now.Add(20*time.Millisecond + time.Duration(n)*perToken)
			f.FirstToken(at)
			f.Grow(1, at)
			f.Grow(11, at.Add(time.Duration(10*(h+1))*10*time.Millisecond))
			f.Land()
		}
	}
	open := w.replica(0).Route(fleet.Demand{Prompt: 300, Uncached: 300})
	defer open.Land()
	g := given{tokens: 100, depths: []uint16{0, 20, 25}, blocks: 25} // blocks of 4: the second holds 80 tokens
	got := plugins.Forecasts.Get(w.after(g, plugins.Forecasts, routing.PluginSpec{Name: "predicted-latency"}))
	if !near([]float64{got[0].TTFT, got[0].ITL, got[1].TTFT, got[1].ITL}, []float64{0.42, 0.01, 0.06, 0.02}) ||
		!got[0].Known || got[2].Known {
		t.Errorf("%+v", got[:3])
	}
}
