package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"octet/app"
	"octet/gateway/api"
	"octet/gateway/receipt"
)

// ruledWorld is smallWorld with a profile for each replica of debug, one that leaves none, and rules that choose.
var ruledWorld = `
profiles:
  zero: {filter: [health], pick: {direct: {replica: debug-0}}}
  one: {filter: [health], pick: {direct: {replica: debug-1}}}
  nowhere: {filter: [health, {label-selector: {matchLabels: {zone: moon}}}], pick: max-score}
` + strings.Replace(strings.Replace(smallWorld, "limits: {", "limits: {profile_headers: [X-Region, x-shade], ", 1),
	"    context: 4096", `    context: 4096
    profiles:
      - {when: {intent: codegen, priority_min: 5}, use: zero}
      - {when: {header: {x-region: moon}}, use: nowhere, if_none: next}
      - {when: {header: {X-Shade: dark}}, use: nowhere}
      - {when: {prompt_tokens_min: 200, prompt_tokens_max: 900, intent: unspecified}, use: zero}
      - {use: one}`, 1)

// GAIE-02: a specialist's requests choose among named profiles by intent, priority, length and header; the receipt and
// POST /v1/route name the profile and the rule, and both say the same.
func TestRequestsChooseTheirProfile(t *testing.T) {
	w := newWorld(t, ruledWorld, smallEngines())
	text := func(words int) string { return chatOf(strings.Repeat("word ", words)) }
	for _, c := range []struct {
		name, body    string
		headers       []string
		replica, rule string // of the last cycle
		cycles        int
	}{
		{"nothing fits", text(1), nil, "debug-1", "profiles[4]: any request", 1},
		{"intent and priority", text(1), []string{"X-Intent", "codegen", "X-Priority", "5"}, "debug-0",
			"profiles[0]: intent codegen, priority 5 or more", 1},
		{"intent alone", text(1), []string{"X-Intent", "codegen", "X-Priority", "4"}, "debug-1",
			"profiles[4]: any request", 1},
		{"length", text(250), nil, "debug-0",
			"profiles[3]: intent unspecified, 200 prompt tokens or more, 900 prompt tokens or fewer", 1},
		{"length with an intent", text(250), []string{"X-Intent", "codegen"}, "debug-1", "profiles[4]: any request", 1},
		{"too long", text(1200), nil, "debug-1", "profiles[4]: any request", 1},
		{"header, and no replica", text(1), []string{"x-region", "moon"}, "debug-1", "profiles[4]: any request", 2},
		{"another value", text(1), []string{"X-Region", "Moon"}, "debug-1", "profiles[4]: any request", 1},
	} {
		resp, answer := w.Post("/v1/chat/completions", c.body, c.headers...)
		if resp.StatusCode != 200 {
			t.Fatalf("%s: status %d: %s", c.name, resp.StatusCode, answer)
		}
		if got := resp.Header.Get("X-Replica"); got != app.Opaque(c.replica) {
			t.Errorf("%s: not at %s", c.name, c.replica)
		}
		r := w.receipt(resp)
		last := r.Routing[len(r.Routing)-1]
		if len(r.Routing) != c.cycles || last.Rule != c.rule || last.Profile != last.Trace.Profile ||
			last.Profile != map[string]string{"debug-0": "zero", "debug-1": "one"}[c.replica] {
			t.Errorf("%s: %d cycles, the last by %q (%q)", c.name, len(r.Routing), last.Profile, last.Rule)
		}
		if first := r.Routing[0]; c.cycles > 1 && (first.Profile != "nowhere" || first.Hit != (receipt.Hit{}) ||
			first.Rule != "profiles[1]: x-region: moon" || !strings.Contains(first.Skipped, "label-selector")) {
			t.Errorf("%s: first %+v", c.name, first)
		}
		var e api.Explanation
		if _, answer = w.Post("/v1/route", c.body, c.headers...); json.Unmarshal(answer, &e) != nil ||
			e.Replica != c.replica || e.Routing.Profile != last.Profile || e.Routing.Rule != c.rule ||
			len(e.Steps) != c.cycles {
			t.Errorf("%s: explained as %s", c.name, answer)
		}
	}
	if table := w.explained("--model", "debug", "short"); !strings.Contains(squeezed(table),
		"profile one profiles[4]: any request") {
		t.Errorf("the table:\n%s", table)
	}
	resp, answer := w.Post("/v1/chat/completions", text(1), "X-Shade", "dark")
	if resp.StatusCode != 503 || !strings.Contains(string(answer), "no_healthy_replica") {
		t.Errorf("a rule that does not go on: status %d: %s", resp.StatusCode, answer)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// GAIE-04: headers that plugins may see are bounded: one that is too long, given twice or not printable is refused, and
// those that are not listed change nothing.
func TestHeadersForPluginsAreBounded(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		w := newWorld(t, ruledWorld, smallEngines(), "front="+front)
		for name, c := range map[string]struct {
			headers []string
			status  int
		}{
			"fits":      {[]string{"X-Region", strings.Repeat("r", 256)}, 200},
			"too long":  {[]string{"X-Region", strings.Repeat("r", 257)}, 400},
			"twice":     {[]string{"X-Region", "a", "x-region", "a"}, 400},
			"a tab":     {[]string{"X-Shade", "a\tb"}, 400},
			"no matter": {[]string{"X-Other", strings.Repeat("r", 1000), "X-Other", "again"}, 200},
		} {
			q, _ := http.NewRequestWithContext(t.Context(), "POST", w.Data+"/v1/chat/completions",
				strings.NewReader(chatOf("word")))
			q.Header.Set("Content-Type", "application/json")
			for i := 0; i < len(c.headers); i += 2 {
				q.Header.Add(c.headers[i], c.headers[i+1])
			}
			r, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			if r.StatusCode != c.status {
				t.Errorf("%s, %s: status %d", front, name, r.StatusCode)
			}
		}
	}
}

// GAIE-02, DYN-19: in a workflow of several legs the rules choose the profile of the legs that name none.
func TestLegsThatNameNoProfileGoByTheRules(t *testing.T) {
	yaml := strings.Replace(halves, "  - name: debug\n", "  - name: debug\n    profiles:\n"+
		"      - {when: {priority_min: 1}, use: round-robin}\n      - {use: least-load}\n", 1)
	yaml = strings.Replace(yaml, "    profile: unmoved\n", "", 1)
	w := newWorld(t, yaml, halvesEngines())
	for priority, want := range []string{"least-load", "round-robin"} {
		_, resp := w.says("unary", long("debug", "rules", ""), "X-Priority", fmt.Sprint(priority))
		for _, r := range w.receipt(resp).Routing {
			if r.Profile != want || r.Trace.Profile != want {
				t.Errorf("priority %d: %s by %q, traced as %q", priority, r.Step, r.Profile, r.Trace.Profile)
			}
		}
	}
}
