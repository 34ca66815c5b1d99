package app_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"octet/app"
	"octet/gateway/api"
	"octet/routing/plugins"
)

// worldWith is smallWorld with profiles, of which debug uses one.
func worldWith(profile, profiles string) string {
	return profiles + strings.Replace(smallWorld, "    context: 4096", "    context: 4096\n    profile: "+profile, 1)
}

// DYN-09, DYN-10, DYN-21: one key turns KV routing on; each request then goes to the one replica that the cost names,
// and follows what the engines say that they hold.
func TestDynamoKVIsOneKey(t *testing.T) {
	w := newWorld(t, worldWith("dynamo-kv", ""), smallEngines())
	body := chatOf(strings.Repeat("a shared and rather long preamble of a conversation; ", 20))
	first, _ := w.Post("/v1/chat/completions", body)
	w.heard()
	for range 3 {
		again, _ := w.Post("/v1/chat/completions", body)
		if again.Header.Get("X-Replica") != first.Header.Get("X-Replica") ||
			again.Header.Get("X-Cached-Tokens") == "0" {
			t.Errorf("went to %s with %s cached, the prefix is at %s", again.Header.Get("X-Replica"),
				again.Header.Get("X-Cached-Tokens"), first.Header.Get("X-Replica"))
		}
	}
	_, answer := w.Post("/v1/route", body)
	var e api.Explanation
	if err := json.Unmarshal(answer, &e); err != nil || len(e.Routing.Trace.Candidates) != 2 {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, c := range e.Routing.Trace.Candidates {
		want := 0.0
		if c.Replica == e.Replica {
			want = 1
		}
		if len(c.Scores) != 1 || c.Scores[0].Scorer != "dynamo-cost" || c.Scores[0].Raw != want {
			t.Errorf("%s scores %+v", c.Replica, c.Scores)
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// DYN-11, DYN-12, DYN-14, DYN-20: every preset serves, on real sockets; direct a request that names a replica.
func TestEveryPresetServes(t *testing.T) {
	for _, name := range plugins.Presets() {
		headers := []string{}
		if name == "direct" {
			headers = append(headers, "X-Octet-Replica", "debug-1")
		}
		t.Run(name, func(t *testing.T) {
			w := newDirectWorld(t, worldWith(name, ""), smallEngines())
			for i := range 4 {
				resp, answer := w.Post("/v1/chat/completions",
					`{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"hello"}]}`,
					append(headers, "X-Session-Id",
						fmt.Sprint(i%2))...)
				if resp.StatusCode != 200 || name == "direct" && resp.Header.Get("X-Replica") != app.Opaque("debug-1") {
					t.Errorf("status %d from %s: %s", resp.StatusCode, resp.Header.Get("X-Replica"), answer)
				}
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}

// DYN-13: over HTTP an unknown replica is an error as well, and never another replica.
func TestAPinnedReplicaThatIsUnknownIsAnError(t *testing.T) {
	w := newWorld(t, worldWith("pinned",
		"profiles: {pinned: {filter: [health], pick: {direct: {replica: debug-9}}}}\n"), smallEngines())
	resp, answer := w.Post("/v1/chat/completions", `{"model":"debug","messages":[{"role":"user","content":"hello"}]}`)
	if resp.StatusCode != 503 || !strings.Contains(string(answer), `"no_healthy_replica"`) ||
		!strings.Contains(string(answer), "debug-9") {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
}

// GAIE-45: nothing that a client sends makes a new series.
func TestClientsMakeNoSeries(t *testing.T) {
	w := newWorld(t, worldWith("cache-aware-sticky", ""), smallEngines())
	names := func() (series []string) {
		for line := range strings.Lines(metricsOf(t, w)) {
			series = append(series, line[:strings.LastIndexByte(line, ' ')])
		}
		return series
	}
	send := func(i int) {
		w.Post("/v1/chat/completions",
			`{"model":"debug","max_tokens":1,"messages":[{"role":"user","content":"hello"}]}`,
			"X-Session-Id", fmt.Sprint("session-", i), "X-Request-Id", fmt.Sprint("request-", i), "X-Adapter",
			[]string{"", "gdb-v2"}[i%2])
		w.Post("/v1/chat/completions",
			fmt.Sprintf(`{"model":"nobody-%d","messages":[{"role":"user","content":"hello"}]}`, i))
		w.Post("/v1/chat/completions", `{"model":"debug","messages":[]}`, "X-Intent", fmt.Sprint("intent-", i))
	}
	for i := range 8 {
		send(i)
	}
	before := names()
	for i := range 40 {
		send(100 + i)
	}
	for _, series := range names() {
		// the first pick of a replica makes its series
		configured := strings.Contains(series, `pod="debug-`)
		// absent until there are samples
		published := regexp.MustCompile(`^octet_slo_[a-z_]+{.*specialist="debug"`).MatchString(series)
		if !slices.Contains(before, series) && !configured && !published {
			t.Errorf("a new series: %s", series)
		}
	}
}
