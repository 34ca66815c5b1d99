package app_test

import (
	"strings"
	"testing"
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
//
//nolint:lll // raw text that cannot be broken
func TestRoutingIsMeasured(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	body := `{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"` +
		strings.Repeat("why does it crash ", 100) + `"}]}`
	for range 2 {
		if resp, text := w.Post("/v1/chat/completions", body); resp.StatusCode != 200 {
			t.Fatalf("%d: %s", resp.StatusCode, text)
		}
		eventually(t, "the replica is known to have nothing to do", w.Quiet) // the next goes by its cache alone
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
	if resp, _ := w.Post("/v1/route", body); resp.StatusCode != 200 {
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
