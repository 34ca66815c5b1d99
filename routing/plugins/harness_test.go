package plugins_test

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a specialist "debug" with replicas 0 … n-1, and what plugins need of the rest of the program.
type world struct {
	t     testing.TB
	fleet *fleet.Fleet
	deps  plugins.Deps
	holds map[index.HostID][]kvpool.BlockHash // what the scanning index knows
	stale index.HostBitmap
}

// newWorld has replicas that publish events, in blocks of 4 tokens.
func newWorld(t testing.TB, n int, options ...fleet.Option) *world {
	t.Helper()
	w := &world{t: t, fleet: fleet.New(options...), holds: map[index.HostID][]kvpool.BlockHash{}}
	w.deps.Index, w.deps.Tiers = w, noTiers{}
	for h := range n {
		w.put(fleet.Spec{Host: index.HostID(h), HasEvents: true})
	}
	return w
}

// put adds a replica; name and specialist are filled in, and a block size of 4 where it has none.
func (w *world) put(s fleet.Spec) *fleet.Replica {
	w.t.Helper()
	s.Name, s.Specialist, s.BlockSize = fmt.Sprintf("debug-%d", s.Host), "debug", cmp.Or(s.BlockSize, 4)
	r, err := w.fleet.Put(s)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// load sets what replica h reports, and begins InFlight requests.
func (w *world) load(h index.HostID, l fleet.Load) {
	r := w.replica(h)
	r.LoadFrom(func() fleet.Load { return l })
	for r.InFlight() < l.InFlight {
		r.Begin()
	}
	for r.InFlight() > l.InFlight {
		r.End()
	}
}

func (w *world) replica(h index.HostID) *fleet.Replica { return w.fleet.Snapshot("debug").Replica(h) }

// Depths is an index that scans: the oracle's way.
func (w *world) Depths(chain []kvpool.BlockHash, among index.HostBitmap, out *[index.MaxHosts]uint16) {
	for h := range among.All() {
		for i, block := range chain {
			if i >= len(w.holds[h]) || w.holds[h][i] != block {
				break
			}
			out[h]++
		}
	}
}

func (w *world) Stale() index.HostBitmap { return w.stale }

// build makes a profile; the fleet is given and the prompt wanted as a gateway would.
func (w *world) build(spec routing.ProfileSpec) *routing.Profile {
	w.t.Helper()
	p, err := routing.Build(plugins.Complete(spec, false), plugins.Registry(w.deps))
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) preset(name string) *routing.Profile {
	w.t.Helper()
	spec, ok := plugins.Preset(name)
	if !ok {
		w.t.Fatalf("no preset %q", name)
	}
	return w.build(spec)
}

// request acquires a Context over all replicas for the length of the test.
func (w *world) request(f routing.Facts) *routing.Context {
	f.Specialist = "debug"
	c := routing.Acquire(f)
	s := w.fleet.Snapshot("debug")
	plugins.Fleet.Put(c, s)
	c.Candidates(s.Hosts)
	w.t.Cleanup(c.Release)
	return c
}

func prompt(text string) routing.Facts {
	return routing.Facts{
		Text:   func(dst []byte) []byte { return append(dst, text...) },
		Pieces: func() [][]byte { return [][]byte{[]byte(text[:len(text)/3]), nil, []byte(text[len(text)/3:])} },
	}
}

// pick runs p for f and returns the ranking's hosts.
func (w *world) pick(p *routing.Profile, f routing.Facts) (ranked []index.HostID) {
	w.t.Helper()
	d, err := p.Select(context.Background(), w.request(f))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range d.Ranked {
		ranked = append(ranked, s.Host)
	}
	return ranked
}

// scores runs one scorer over all replicas and returns what it says of each, after checking that nothing had to be
// clamped.
func (w *world) scores(name string, params map[string]any, f routing.Facts, prepare ...string) (raw []float64) {
	w.t.Helper()
	spec := routing.ProfileSpec{Name: "scores", Pick: routing.PluginSpec{Name: "max-score"},
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: name, Params: params}, Weight: 1}}}
	for _, p := range prepare {
		spec.Prepare = append(spec.Prepare, routing.PluginSpec{Name: p})
	}
	p := w.build(spec)
	c := w.request(f)
	c.EnableTrace(func() time.Duration { return 0 })
	if _, err := p.Select(context.Background(), c); err != nil {
		w.t.Fatal(err)
	}
	for _, cand := range c.Trace().Candidates {
		raw = append(raw, cand.Scores[0].Raw)
	}
	for _, s := range p.Stats() {
		if s.OutOfRange > 0 {
			w.t.Errorf("%s gave %d scores out of range", s.Plugin, s.OutOfRange)
		}
	}
	return raw
}
