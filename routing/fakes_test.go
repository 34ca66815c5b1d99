package routing_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"octet/routing"
	"octet/routing/index"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The slots of the tests. Two share a name and nothing else.
var (
	numbers  = routing.NewSlot[[]int]("numbers")
	total    = routing.NewSlot[int]("total")
	label    = routing.NewSlot[string]("label")
	other    = routing.NewSlot[bool]("other")
	totalStr = routing.NewSlot[string]("total")
)

// fake is a plugin for any stage, made of functions. What it lacks, it does not do.
type fake struct {
	name          string
	reads, writes []routing.AnySlot
	needs         []string
	excludes      []string
}

func (f fake) Name() string              { return f.name }
func (f fake) Reads() []routing.AnySlot  { return f.reads }
func (f fake) Writes() []routing.AnySlot { return f.writes }
func (f fake) Needs() []string           { return f.needs }
func (f fake) Excludes() []string        { return f.excludes }

type fakePreparer struct {
	fake
	do func(ctx context.Context, c *routing.Context) error
}

func (p fakePreparer) Prepare(ctx context.Context, c *routing.Context) error {
	if p.do == nil {
		return nil
	}
	return p.do(ctx, c)
}

type fakeFilter struct {
	fake
	do func(v routing.View, in index.HostBitmap) index.HostBitmap
}

func (f fakeFilter) Filter(v routing.View, left *index.HostBitmap) { *left = f.do(v, *left) }

type fakeScorer struct {
	fake
	do func(v routing.View, hosts []index.HostID, out []float64)
}

func (s fakeScorer) Score(v routing.View, hosts []index.HostID, out []float64) { s.do(v, hosts, out) }

type fakePicker struct {
	fake
	do func(v routing.View, scored []routing.Scored) []routing.Scored
}

func (p fakePicker) Pick(v routing.View, scored []routing.Scored) []routing.Scored {
	return p.do(v, scored)
}

// as makes a registry entry of a ready plugin.
func as(p routing.Plugin) routing.Factory { return func(*routing.Params) routing.Plugin { return p } }

// keepAll, constant and first are the plainest filter, scorer and picker.
func keepAll(name string) fakeFilter {
	return fakeFilter{fake{name: name}, func(_ routing.View, in index.HostBitmap) index.HostBitmap { return in }}
}

// without removes hosts.
func without(name string, hosts ...index.HostID) fakeFilter {
	return fakeFilter{fake{name: name}, func(_ routing.View, in index.HostBitmap) index.HostBitmap {
		return in.AndNot(index.HostSet(hosts...))
	}}
}

// table scores host h with scores[h].
func table(name string, scores ...float64) fakeScorer {
	return fakeScorer{fake{name: name}, func(_ routing.View, hosts []index.HostID, out []float64) {
		for i, h := range hosts {
			out[i] = scores[h]
		}
	}}
}

// best moves the best to the front, the lowest host among equals.
func best(name string) fakePicker {
	return fakePicker{fake{name: name}, func(_ routing.View, scored []routing.Scored) []routing.Scored {
		top := 0
		for i, s := range scored {
			if s.Score > scored[top].Score {
				top = i
			}
		}
		scored[0], scored[top] = scored[top], scored[0]
		return scored
	}}
}

func named(names ...string) []routing.PluginSpec {
	var specs []routing.PluginSpec
	for _, n := range names {
		specs = append(specs, routing.PluginSpec{Name: n})
	}
	return specs
}

func weighted(name string, weight float64) routing.WeightedSpec {
	return routing.WeightedSpec{PluginSpec: routing.PluginSpec{Name: name}, Weight: weight}
}

func build(t testing.TB, spec routing.ProfileSpec, reg routing.Registry) *routing.Profile {
	t.Helper()
	p, err := routing.Build(spec, reg)
	if err != nil {
		t.Fatalf("building %s:\n%v", spec.Name, err)
	}
	return p
}

// request acquires a Context over hosts 0 … n-1 for the length of the test.
func request(t testing.TB, n int) *routing.Context {
	t.Helper()
	c := routing.Acquire(routing.Facts{Specialist: "debug"})
	c.Candidates(hosts(n))
	t.Cleanup(c.Release)
	return c
}

func hosts(n int) (b index.HostBitmap) {
	for h := range n {
		b.Set(index.HostID(h))
	}
	return b
}
