package app_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"octet/config"
	"octet/routing/plugins"
)

// manyReplicas is smallWorld with n more specialists of one replica each, where nothing listens.
func manyReplicas(n int) string {
	var b strings.Builder
	b.WriteString(smallWorld)
	for i := range n {
		fmt.Fprintf(&b, "  - {name: spare%d, tokenizer: builtin, replicas: "+
			"[{url: \"http://127.0.0.1:%d\", engine: openai, blocks: 64}]}\n", i, 1+i)
	}
	return b.String()
}

// GAIE-45: a configuration with more series than metrics.max_series has a page of that many lines, which says how much
// it folds; a reload changes the bound.
func TestMaxSeriesBoundsThePage(t *testing.T) {
	w := newWorld(t, manyReplicas(40), smallEngines(), "metrics.max_series=600")
	for range 3 {
		if resp, answer := w.Post("/v1/chat/completions", hello); resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
	}
	read := func() (lines, folded int, page string) {
		page = metricsOf(t, w)
		m := regexp.MustCompile(`(?m)^octet_metrics_folded_series (\d+)$`).FindStringSubmatch(page)
		if m == nil {
			t.Fatal("the page does not say what is folded")
		}
		folded, _ = strconv.Atoi(m[1])
		return strings.Count(page, "\n"), folded, page
	}
	lines, folded, page := read()
	if lines > 600 || lines < 450 || folded < 100 ||
		!strings.Contains(page, `octet_tokens_total{kind="prompt",specialist="other"} `) {
		t.Errorf("%d lines, %d folded:\n%s", lines, folded, page)
	}
	yaml := fmt.Sprintf(manyReplicas(40), w.Engines["debug-0"].URL, w.Engines["debug-1"].URL,
		w.Engines["systems-0"].URL)
	cfg, err := config.Parse("world.yaml", []byte(yaml),
		config.Options{Presets: plugins.Presets(), Sets: append(w.Sets(), "metrics.max_series=100000")})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.App.Apply(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if all, folded, page := read(); all < 5*lines || folded != 0 || strings.Contains(page, `"other"`) {
		t.Errorf("after a reload: %d lines, %d folded", all, folded)
	}
}

// GAIE-45: the default leaves a specialist with as many replicas as there may be whole: 5,300 lines.
func TestTheDefaultOfMaxSeriesHoldsEveryReplica(t *testing.T) {
	var spare strings.Builder
	for i := range config.MaxReplicas - 3 {
		fmt.Fprintf(&spare, "      - {url: \"http://127.0.0.1:%d\", engine: openai, blocks: 64}\n", 1+i)
	}
	w := newWorld(t, strings.Replace(smallWorld, "  - name: systems", spare.String()+"  - name: systems", 1),
		smallEngines())
	if page := metricsOf(t, w); !strings.Contains(page, "\noctet_metrics_folded_series 0\n") {
		t.Errorf("%d lines and folded", strings.Count(page, "\n"))
	}
}
