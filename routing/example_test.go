package routing_test

import (
	"context"
	"fmt"

	"octet/routing"
	"octet/routing/index"
)

// Zone is where a request comes from: given by the caller, read by nearness.
var Zone = routing.NewSlot[string]("zone")

// nearness scores replicas in the request's zone 1 and others 0.
type nearness struct{ zones []string } // by host

func (nearness) Name() string             { return "nearness" }
func (nearness) Reads() []routing.AnySlot { return []routing.AnySlot{Zone} }

func (n nearness) Score(v routing.View, hosts []index.HostID, out []float64) {
	for i, h := range hosts {
		if n.zones[h] == Zone.Get(v) {
			out[i] = 1
		}
	}
}

// highest picks by score alone.
type highest struct{}

func (highest) Name() string             { return "highest" }
func (highest) Reads() []routing.AnySlot { return nil }

func (highest) Pick(_ routing.View, scored []routing.Scored) []routing.Scored {
	best := 0
	for i, s := range scored {
		if s.Score > scored[best].Score {
			best = i
		}
	}
	return scored[best : best+1]
}

// A new behaviour takes four steps: implement a stage, register it, name it in a profile, weigh it.
func ExampleBuild() {
	registry := routing.Registry{
		"nearness": func(*routing.Params) routing.Plugin { return nearness{zones: []string{"a", "b", "a"}} },
		"highest":  func(*routing.Params) routing.Plugin { return highest{} },
	}
	spec := routing.ProfileSpec{
		Name:  "geo",
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "nearness"}, Weight: 2}},
		Pick:  routing.PluginSpec{Name: "highest"},
	}
	_, err := routing.Build(spec, registry)
	fmt.Println(err)

	spec.Given = []routing.AnySlot{Zone}
	profile, err := routing.Build(spec, registry)
	if err != nil {
		panic(err)
	}
	c := routing.Acquire(routing.Facts{RequestID: "r1"})
	defer c.Release()
	Zone.Put(c, "b")
	c.Candidates(index.HostSet(0, 1, 2))
	decision, err := profile.Select(context.Background(), c)
	fmt.Println(decision.Ranked, err)
	// Output:
	// profiles.geo.score[0]: missing_writer: nearness reads slot "zone", which nothing writes
	// [{1 2}] <nil>
}
