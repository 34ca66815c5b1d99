package routing_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"octet/routing"
)

// pool is the slots that random profiles use.
var pool = []routing.AnySlot{
	routing.NewSlot[int]("s0"), routing.NewSlot[int]("s1"), routing.NewSlot[int]("s2"),
	routing.NewSlot[int]("s3"), routing.NewSlot[string]("s3"), routing.NewSlot[int]("s4"),
}

// dice draws numbers from fuzzed bytes; a 0 forever after the last.
type dice []byte

func (d *dice) roll(n int) int {
	if len(*d) == 0 {
		return 0
	}
	x := int((*d)[0])
	*d = (*d)[1:]
	return x % n
}

func (d *dice) slots() (s []routing.AnySlot) {
	for range d.roll(3) {
		slot := pool[d.roll(len(pool))]
		if d.roll(4) == 0 {
			slot = routing.Optional(slot)
		}
		s = append(s, slot)
	}
	return s
}

// randomSpec draws a spec and the registry that its plugins come from. Now and then a name is in no registry, a weight
// is no weight, or a plugin stands where it does not belong.
func randomSpec(d *dice) (routing.ProfileSpec, routing.Registry) {
	reg := routing.Registry{"best": as(best("best"))}
	spec := routing.ProfileSpec{Name: "fuzz", Given: d.slots(), Wanted: d.slots(), AlwaysPrepare: d.roll(2) == 0}
	name := func(stage string, i int, f routing.Factory) routing.PluginSpec {
		n := fmt.Sprint(stage, i)
		if d.roll(16) != 1 {
			reg[n] = f
		}
		return routing.PluginSpec{Name: n}
	}
	for i := range d.roll(6) {
		w := d.slots()
		spec.Prepare = append(spec.Prepare,
			name("prepare", i, as(fakePreparer{fake{name: fmt.Sprint("prepare", i), reads: d.slots(), writes: w},
				putAll(w)})))
	}
	for i := range d.roll(3) {
		f := keepAll(fmt.Sprint("filter", i))
		f.reads = d.slots()
		spec.Filter = append(spec.Filter, name("filter", i, as(f)))
	}
	for i := range d.roll(3) {
		s := table(fmt.Sprint("score", i), 0.5, 1, 0)
		s.reads = d.slots()
		spec.Score = append(spec.Score,
			routing.WeightedSpec{PluginSpec: name("score", i, as(s)), Weight: float64(d.roll(8)) - 0.5})
	}
	if d.roll(8) != 1 {
		spec.Pick = routing.PluginSpec{Name: "best"}
	}
	return spec, reg
}

// putAll writes all slots, as a Preparer that declares them may.
func putAll(slots []routing.AnySlot) func(context.Context, *routing.Context) error {
	return func(_ context.Context, c *routing.Context) error {
		for _, s := range slots {
			switch s := s.(type) {
			case routing.Slot[int]:
				s.Put(c, 1)
			case routing.Slot[string]:
				s.Put(c, "x")
			}
		}
		return nil
	}
}

// FuzzBuild: whatever the spec, Build answers as the slow check does, and what it passes runs.
func FuzzBuild(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) { checkRandomSpec(t, raw) })
}

func TestBuildAgreesWithTheSlowCheckOnRandomSpecs(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	valid, n := 0, 4_000
	for range n {
		raw := make([]byte, draw.IntN(64))
		for i := range raw {
			raw[i] = byte(draw.Uint32())
		}
		if checkRandomSpec(t, raw) {
			valid++
		}
	}
	if valid < n/50 || valid > n/2 {
		t.Errorf("%d of %d specs are valid: too few of one kind to say anything", valid, n)
	}
}

// checkRandomSpec reports whether the spec was valid.
func checkRandomSpec(t *testing.T, raw []byte) bool {
	d := dice(raw)
	spec, reg := randomSpec(&d)
	p, err := routing.Build(spec, reg)
	if want := plausible(spec, reg); want != (err == nil) {
		t.Fatalf("%v: the slow check says %t, Build says %v", raw, want, err)
	}
	if err != nil {
		if fs := routing.Faults(nil); !errors.As(err, &fs) || len(fs) == 0 {
			t.Fatalf("error is %v", err)
		}
		return false
	}
	for n := 1; n <= 3; n++ {
		c := routing.Acquire(routing.Facts{})
		c.Candidates(hosts(n))
		decision, err := p.Select(t.Context(), c)
		if err != nil || len(decision.Ranked) != n {
			t.Fatalf("%v, %d candidates: %+v, %v", raw, n, decision, err)
		}
		c.Release()
	}
	return true
}

// plausible is the oracle: it carries the profile out on paper, step after step.
func plausible(spec routing.ProfileSpec, reg routing.Registry) bool {
	made := func(s routing.PluginSpec) routing.Plugin {
		if f, ok := reg[s.Name]; ok {
			return f(&routing.Params{})
		}
		return nil
	}
	written, read := keys(spec.Given), keys(spec.Wanted)
	all := slices.Concat(keys(spec.Given), keys(spec.Wanted))
	for i, s := range spec.Prepare {
		p, ok := made(s).(fakePreparer)
		if !ok || len(p.writes) == 0 || !covered(p.reads, written) {
			return false
		}
		for _, later := range spec.Prepare[i:] { // an optional read of what comes later, or from itself
			if l, ok := made(later).(fakePreparer); ok && meet(keys(p.reads), keys(l.writes)) {
				return false
			}
		}
		for _, w := range keys(p.writes) {
			if slices.Contains(written, w) {
				return false
			}
			written = append(written, w)
		}
		read = append(read, keys(p.reads)...)
		all = slices.Concat(all, keys(p.reads), keys(p.writes))
	}
	for _, s := range spec.Filter {
		f, ok := made(s).(fakeFilter)
		if !ok || !covered(f.reads, written) {
			return false
		}
		read, all = append(read, keys(f.reads)...), append(all, keys(f.reads)...)
	}
	for _, s := range spec.Score {
		f, ok := made(s.PluginSpec).(fakeScorer)
		if !ok || !(s.Weight > 0) || !covered(f.reads, written) {
			return false
		}
		read, all = append(read, keys(f.reads)...), append(all, keys(f.reads)...)
	}
	return spec.Pick.Name == "best" && covered(spec.Wanted, written) && oneType(all) && allRead(spec, made, read)
}

// key is a slot as the oracle sees it: name and type, without whether it is optional.
func key(s routing.AnySlot) string {
	for _, p := range pool {
		if s == p || s == routing.Optional(p) {
			return fmt.Sprintf("%s %T", p.Name(), p)
		}
	}
	panic("a slot of no pool")
}

func keys(ss []routing.AnySlot) (ks []string) {
	for _, s := range ss {
		ks = append(ks, key(s))
	}
	return ks
}

func isOptional(s routing.AnySlot) bool {
	return slices.ContainsFunc(pool, func(p routing.AnySlot) bool { return s == routing.Optional(p) })
}

func covered(reads []routing.AnySlot, written []string) bool {
	return !slices.ContainsFunc(reads,
		func(s routing.AnySlot) bool { return !isOptional(s) && !slices.Contains(written, key(s)) })
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(k string) bool { return slices.Contains(b, k) })
}

func oneType(all []string) bool {
	return !(slices.Contains(all, key(pool[3])) && slices.Contains(all, key(pool[4])))
}

func allRead(spec routing.ProfileSpec, made func(routing.PluginSpec) routing.Plugin, read []string) bool {
	for _, s := range spec.Prepare {
		for _, w := range keys(made(s).(fakePreparer).writes) {
			if !slices.Contains(read, w) {
				return false
			}
		}
	}
	return true
}
