package cmd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// seriesOf returns the lines of a metrics page, by what they begin with.
func seriesOf(page, prefix string) (lines []string) {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// GAIE-39, GAIE-40, GAIE-41, GAIE-42, GAIE-43, GAIE-44: after one answered request every series is there; a decision
// that is only explained changes none of those that count.
func TestRoutingIsMeasured(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	body := `{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"` +
		strings.Repeat("why does it crash ", 20) + `"}]}`
	for range 2 {
		if resp, text := w.post("/v1/chat/completions", body); resp.StatusCode != 200 {
			t.Fatalf("%d: %s", resp.StatusCode, text)
		}
	}
	page := metricsOf(t, w)
	for _, prefix := range []string{
		`octet_pool_ready_pods{specialist="debug"} 2`, `octet_pool_average_kv_cache_utilization{specialist="debug"}`,
		`octet_pool_average_queue_size{specialist="debug"}`,
		`octet_pool_per_pod_queue_size{replica="debug-1",specialist="debug"}`,
		`octet_pool_average_running_requests{specialist="debug"}`, `octet_replica_backlog_tokens{`,
		`octet_replica_tokens_in_flight{`,
		`octet_scheduler_e2e_duration_seconds_count{specialist="debug"} 2`,
		`octet_plugin_duration_seconds_count{extension_point="score",plugin_name="least-work",plugin_type="least-work"} 2`,
		`octet_plugin_duration_seconds_count{extension_point="pick",`,
		`octet_plugin_duration_seconds_count{extension_point="prepare",plugin_name="tokenize"`,
		`octet_prefix_indexer_size{index="exact"}`, `octet_prefix_indexer_size{index="guessed"}`,
		`octet_prefix_indexer_hit_ratio_count{specialist="debug"} 2`,
		`octet_prefix_indexer_hit_bytes_count{specialist="debug"} 2`,
		`octet_build_info{build_ref=`, `octet_plugin_panics_total{`, `octet_plugin_scores_clamped_total{`,
	} {
		if len(seriesOf(page, prefix)) == 0 {
			t.Errorf("no %s", prefix)
		}
	}
	attempts := seriesOf(page, `octet_scheduler_attempts_total{model="debug",namespace="",pod="debug-`)
	if len(attempts) != 1 || !strings.HasSuffix(attempts[0], `status="success"} 2`) ||
		strings.Contains(attempts[0], `port=""`) {
		t.Errorf("attempts %q: the second goes where the first went", attempts)
	}
	if resp, _ := w.post("/v1/route", body); resp.StatusCode != 200 {
		t.Fatal(resp.Status)
	}
	now := metricsOf(t, w)
	for _, prefix := range []string{"octet_scheduler_", "octet_plugin_duration_seconds_count",
		"octet_prefix_indexer_hit"} {
		if a, b := strings.Join(seriesOf(page, prefix), "\n"), strings.Join(seriesOf(now, prefix), "\n"); a != b {
			t.Errorf("explaining changed\n%s\nto\n%s", a, b)
		}
	}
}

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
	m := newRouteMetrics()
	w, watch := routing.Single(profile), m.measure("debug", profile)
	plan := func() error {
		c := routing.Acquire(routing.Facts{})
		defer c.Release()
		s := replicas.Snapshot("debug")
		plugins.Fleet.Put(c, s)
		c.Candidates(s.Hosts)
		plan, err := w.Plan(context.Background(), c)
		watch.planned(c, plan, err, time.Microsecond)
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
	m.forget("debug-0")
	series := make(chan prometheus.Metric, 10)
	m.attempts.Collect(series)
	if n := len(series); n != 1 {
		t.Errorf("%d series of attempts after the replica left", n)
	}
}
