package plugins

import (
	"cmp"
	"slices"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// deviceAware chooses among classes of devices, then within one: every candidate of the class with the least load for
// what it can do scores over those of the next class; within a class, less load scores more. There are two classes, cpu
// and any other device, and one more for each class that has a weight of its own.
//
//	load of a class = requests in flight and waiting at its candidates / (candidates × weight)
type deviceAware struct {
	named
	label   string
	weights map[string]float64
	other   float64 // of any class but cpu, which weighs 1
}

// newDeviceAware: label (default device) is the replicas' label that says what they run on; cpu_ratio (default 8) is
// how many times as much as a cpu any other device does; weights gives classes weights of their own. A replica without
// the label is no cpu.
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
	s.normalize(classes)
	slices.SortFunc(classes, func(a,
		b class) int {
		return cmp.Or(cmp.Compare(a.load, b.load), cmp.Compare(a.name, b.name))
	})
	for i, h := range hosts {
		r := replicas.Replica(h)
		rank := slices.IndexFunc(classes, func(c class) bool { return c.name == s.class(r) })
		within := 1 / (1 + queued(r, preemptingPenalty))
		out[i] = (float64(len(classes)-1-rank) + within) / float64(len(classes))
	}
}

func (s deviceAware) count(classes []class, r *fleet.Replica) []class {
	name := s.class(r)
	i := slices.IndexFunc(classes, func(c class) bool { return c.name == name })
	if i < 0 {
		i = len(classes)
		classes = append(classes, class{name: name})
	}
	classes[i].candidates++
	classes[i].load += queued(r, preemptingPenalty)
	return classes
}

// normalize turns the loads that were counted into those of a class.
func (s deviceAware) normalize(classes []class) {
	for i := range classes {
		c := &classes[i]
		c.load /= float64(c.candidates) * s.weight(c.name)
	}
}

// class returns the class of a replica's device.
func (s deviceAware) class(r *fleet.Replica) string {
	device := r.Spec().Labels[s.label]
	if _, own := s.weights[device]; own || device == "cpu" {
		return device
	}
	return "other"
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
