package geo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"octet/examples/geo"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// profile is what a configuration with the plugin in it stands for.
func profile(lat, lon any) routing.ProfileSpec {
	return plugins.Complete(routing.ProfileSpec{
		Name:   "near-me",
		Filter: []routing.PluginSpec{{Name: "health"}},
		Score: []routing.WeightedSpec{
			{PluginSpec: routing.PluginSpec{Name: "geo-nearest", Params: map[string]any{"lat": lat, "lon": lon}},
				Weight: 2},
			{PluginSpec: routing.PluginSpec{Name: "least-load"}, Weight: 1},
		},
		Pick: routing.PluginSpec{Name: "max-score"},
	}, false)
}

func registry() routing.Registry {
	r := plugins.Registry(plugins.Deps{})
	r["geo-nearest"] = geo.New(plugins.Deps{})
	return r
}

// world has a replica in Frankfurt, Virginia and Tokyo, and one that does not say where it is.
func world(t testing.TB) *fleet.Snapshot {
	t.Helper()
	f := fleet.New()
	for h, at := range [][2]string{{"50.1", "8.7"}, {"38.9", "-77.5"}, {"35.7", "139.7"}, {"", ""}} {
		_, err := f.Put(fleet.Spec{Name: fmt.Sprint("debug-", h), Specialist: "debug", Host: index.HostID(h),
			BlockSize: 16,
			Labels:    map[string]string{"lat": at[0], "lon": at[1]}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return f.Snapshot("debug")
}

// MOD3-50
func TestTheNearestReplicaIsPicked(t *testing.T) {
	s := world(t)
	for name, test := range map[string]struct {
		lat, lon float64
		want     index.HostID
	}{"Paris": {48.9, 2.4, 0}, "New York": {40.7, -74, 1}, "Honolulu": {21.3, -157.9, 2}} {
		p, err := routing.Build(profile(test.lat, test.lon), registry())
		if err != nil {
			t.Fatal(err)
		}
		c := routing.Acquire(routing.Facts{})
		plugins.Fleet.Put(c, s)
		c.Candidates(s.Hosts)
		c.EnableTrace(func() time.Duration { return 0 })
		d, err := p.Select(context.Background(), c)
		if err != nil || d.Ranked[0].Host != test.want || d.Ranked[3].Host != 3 {
			t.Errorf("%s: %+v, %v", name, d.Ranked, err)
		}
		if raw := c.Trace().Candidates[test.want].Scores[0].Raw; raw < 0.5 || raw > 1 {
			t.Errorf("%s scores the nearest %g", name, raw)
		}
		c.Release()
	}
}

func TestAnImpossiblePlaceKeepsTheProfileFromBeingBuilt(t *testing.T) {
	var faults routing.Faults
	if _, err := routing.Build(profile(91, "west"), registry()); !errors.As(err, &faults) || len(faults) != 2 {
		t.Errorf("%v", err)
	}
}

// MOD3-34: a profile in which distance would count twice is not built.
func TestDistanceCountsOnce(t *testing.T) {
	spec := profile(48.9, 2.4)
	spec.Prepare = append(spec.Prepare, routing.PluginSpec{Name: "locality"})
	spec.Score = append(spec.Score, routing.WeightedSpec{PluginSpec: routing.PluginSpec{Name: "node-locality"},
		Weight: 1})
	var faults routing.Faults
	if _, err := routing.Build(spec, registry()); !errors.As(err, &faults) || len(faults) != 1 ||
		faults[0].Code != routing.CodePluginConflict || faults[0].Plugin != "geo-nearest" {
		t.Errorf("%v", err)
	}
}

// A header that plugins do not see is a fault of the profile.
func TestTheHeaderMustBeListed(t *testing.T) {
	spec := profile(0.0, 0.0)
	spec.Score[0].Params["header"] = "x-client-place"
	for _, row := range []struct {
		headers []string
		ok      bool
	}{{nil, true}, {[]string{}, false}, {[]string{"X-Region"}, false}, {[]string{"X-Client-Place"}, true}} {
		spec.Headers = row.headers
		if _, err := routing.Build(spec, registry()); (err == nil) != row.ok {
			t.Errorf("seen are %q: %v", row.headers, err)
		}
	}
}
