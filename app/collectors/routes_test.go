package collectors

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// moody is a scorer that is wrong on demand.
type moody struct{ score float64 }

func (*moody) Name() string             { return "moody" }
func (*moody) Reads() []routing.AnySlot { return nil }
func (m *moody) Score(_ routing.View, _ []index.HostID, out []float64) {
	if m.score < 0 {
		panic("moody")
	}
	for i := range out {
		out[i] = m.score
	}
}

// GAIE-08, GAIE-09: failures, panics and scores out of range are counted, by plugin; a replica that has gone leaves no
// series.
func TestWhatGoesWrongInRoutingIsCounted(t *testing.T) {
	replicas, mood := fleet.New(), &moody{score: 0.5}
	for h, name := range []string{"debug-0", "debug-1"} {
		if _, err := replicas.Put(fleet.Spec{Name: name, Specialist: "debug", Host: index.HostID(h),
			URL: "http://10.0.0.1:900" + name[6:], Labels: map[string]string{"namespace": "ml"}}); err != nil {
			t.Fatal(err)
		}
	}
	registry := plugins.Registry(plugins.Deps{})
	registry["moody"] = func(*routing.Params) routing.Plugin { return mood }
	profile, err := routing.Build(plugins.Complete(routing.ProfileSpec{Name: "p",
		Filter: []routing.PluginSpec{{Name: "health"}},
		Score:  []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "moody"}, Weight: 1}},
		Pick:   routing.PluginSpec{Name: "max-score"}}, false), registry)
	if err != nil {
		t.Fatal(err)
	}
	m := NewRoutes()
	w, watch := routing.Single(profile), m.Of("debug", profile)
	plan := func() error {
		c := routing.Acquire(routing.Facts{})
		defer c.Release()
		s := replicas.Snapshot("debug")
		plugins.Fleet.Put(c, s)
		c.Candidates(s.Hosts)
		plan, err := w.Plan(context.Background(), c)
		watch.Planned(c, plan, err, time.Microsecond)
		return err
	}
	attempts := func(status, pod, namespace, port string) float64 {
		var out dto.Metric
		if err := m.attempts.WithLabelValues(status, "debug", pod, namespace, port).Write(&out); err != nil {
			t.Fatal(err)
		}
		return out.Counter.GetValue()
	}
	if err := plan(); err != nil || attempts("success", "debug-0", "ml", "9000") != 1 {
		t.Errorf("%v", err)
	}
	mood.score = 7
	if err := plan(); err != nil || profile.Stats()[1].OutOfRange != 2 {
		t.Errorf("%v, %+v", err, profile.Stats())
	}
	mood.score = -1
	var panicked *routing.PluginPanicError
	if err := plan(); !errors.As(err, &panicked) || attempts("failure", "", "", "") != 1 ||
		profile.Stats()[1].Panics != 1 {
		t.Errorf("%v, %+v", err, profile.Stats())
	}
	m.Forget("debug-0")
	series := make(chan prometheus.Metric, 10)
	m.attempts.Collect(series)
	if n := len(series); n != 1 {
		t.Errorf("%d series of attempts after the replica left", n)
	}
}
