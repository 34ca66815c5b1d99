package plugins

import (
	"cmp"
	"slices"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// deviceAware chooses among classes of devices, then within one: every candidate of the class with the least load for
// what it can do scores over those of the next class; within a class, less load scores more.
//
//	load of a class = requests in flight at its candidates / (candidates × weight)
type deviceAware struct {
	named
	label   string
	weights map[string]float64
	other   float64 // of any class but cpu, which weighs 1
}

// newDeviceAware: label (default device) is the replicas' label that says what they run on; cpu_ratio (default 8) is
// how many times as much as a cpu any other class does; weights gives classes weights of their own. A replica without
// the label is of the class "".
func newDeviceAware(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return deviceAware{
			named: named{"device-aware", reads(Fleet)},
			label: p.Text("label", "device"), other: p.Float("cpu_ratio", 8, 1e-6, 1e6),
			weights: p.Numbers("weights", 1e-6, 1e6),
		}
	}
}

// class is a class of devices and what its candidates do.
type class struct {
	name       string
	load       float64
	candidates int
}

// Score implements routing.Scorer.
func (s deviceAware) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas := Fleet.Get(v)
	var buf [8]class
	classes := buf[:0]
	for _, h := range hosts {
		classes = s.count(classes, replicas.Replica(h))
	}
	for i := range classes {
		c := &classes[i]
		c.load /= float64(c.candidates) * s.weight(c.name)
	}
	slices.SortFunc(classes, func(a,
		b class) int {
		return cmp.Or(cmp.Compare(a.load, b.load), cmp.Compare(a.name, b.name))
	})
	for i, h := range hosts {
		r := replicas.Replica(h)
		rank := slices.IndexFunc(classes, func(c class) bool { return c.name == r.Spec().Labels[s.label] })
		within := 1 / float64(1+r.InFlight())
		out[i] = (float64(len(classes)-1-rank) + within) / float64(len(classes))
	}
}

func (s deviceAware) count(classes []class, r *fleet.Replica) []class {
	name := r.Spec().Labels[s.label]
	i := slices.IndexFunc(classes, func(c class) bool { return c.name == name })
	if i < 0 {
		i = len(classes)
		classes = append(classes, class{name: name})
	}
	classes[i].candidates++
	classes[i].load += float64(r.InFlight())
	return classes
}

func (s deviceAware) weight(class string) float64 {
	if w, ok := s.weights[class]; ok {
		return w
	}
	if class == "cpu" {
		return 1
	}
	return s.other
}
