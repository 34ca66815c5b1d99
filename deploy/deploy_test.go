// Package deploy_test holds what is deployed beside the gateway to what the gateway really says.
package deploy_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var metric = regexp.MustCompile(`\boctet_[a-z_]+`)

// declared are the names of all metrics in the source.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	names, quoted := map[string]bool{}, regexp.MustCompile(`"(octet_[a-z_]+)"`)
	for _, room := range []string{"../gateway", "../app"} {
		err := filepath.WalkDir(room, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range quoted.FindAllSubmatch(text, -1) {
				names[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func checkMetrics(t *testing.T, where, expr string, names map[string]bool) {
	t.Helper()
	for _, name := range metric.FindAllString(expr, -1) {
		base := name
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			base = strings.TrimSuffix(base, suffix)
		}
		if !names[base] {
			t.Errorf("%s: nothing is called %s", where, name)
		}
	}
}

type rule struct {
	Alert, Record, Expr string
	Labels, Annotations map[string]string
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	text, err := os.ReadFile("prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

type panel struct {
	Type, Title string
	Targets     []struct{ Expr string }
}

func panels(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile("grafana/octet.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct{ Panels []panel }
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	return board.Panels
}

// MEGA-75: an alarm for each specialist and priority that starves, and every alarm on metrics that are there.
func TestAlertsAreOnMetricsThatExist(t *testing.T) {
	names, records, starving := declared(t), []string{}, false
	for _, r := range rules(t) {
		checkMetrics(t, r.Alert+r.Record, r.Expr, names)
		if r.Record != "" {
			records = append(records, r.Record)
			continue
		}
		if row, err := strconv.Atoi(r.Labels["triage"]); err != nil || row < 1 || row > 7 ||
			r.Annotations["summary"] == "" {
			t.Errorf("%s names no row of the dashboard, or says nothing: %v", r.Alert, r.Labels)
		}
		for _, used := range regexp.MustCompile(`octet:[a-z0-9:]+`).FindAllString(r.Expr, -1) {
			if !slices.Contains(records, used) {
				t.Errorf("%s: nobody records %s", r.Alert, used)
			}
		}
		starving = starving || strings.Contains(r.Expr, "octet:admitted")
	}
	if !starving {
		t.Error("nobody is told of a specialist that starves")
	}
}

// MEGA-74: the dashboard's rows are the questions of the triage, in its order.
func TestTheDashboardFollowsTheTriage(t *testing.T) {
	text, err := os.ReadFile("TRIAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	var asked, rows []string
	for _, m := range regexp.MustCompile(`(?m)^(\d\. )\*\*(.+?)\*\*`).FindAllStringSubmatch(string(text), -1) {
		asked = append(asked, m[1]+m[2])
	}
	names := declared(t)
	checkMetrics(t, "TRIAGE.md", string(text), names)
	for _, p := range panels(t) {
		if p.Type == "row" {
			rows = append(rows, p.Title)
		}
		for _, target := range p.Targets {
			checkMetrics(t, p.Title, target.Expr, names)
		}
	}
	if len(asked) != 7 || !slices.Equal(asked, rows) {
		t.Errorf("rows %q, questions %q", rows, asked)
	}
}

// MEGA-56: no latency is shown or alerted on but by specialist.
func TestNoLatencyIsTheEnsembles(t *testing.T) {
	check := func(where, expr string) {
		if regexp.MustCompile(`octet_(ttft|request_duration)_seconds`).MatchString(expr) &&
			!strings.Contains(expr, "by (specialist") {
			t.Errorf("%s adds specialists up: %s", where, expr)
		}
	}
	for _, r := range rules(t) {
		check(r.Alert+r.Record, r.Expr)
	}
	for _, p := range panels(t) {
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
		}
	}
}

// MEGA-74, MEGA-75: the alerts do what their tests say, by Prometheus' own tool.
func TestAlertsDoWhatTheirTestsSay(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: alerts were not run (apt-get install prometheus)")
	}
	for _, args := range [][]string{{"check", "rules", "rules.yml"}, {"test", "rules", "rules_test.yml"}} {
		c := exec.CommandContext(t.Context(), tool, args...)
		c.Dir = "prometheus"
		if said, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, said)
		}
	}
}

// MEGA-75: no alert is without a case in which it fires.
func TestEveryAlertHasACaseInWhichItFires(t *testing.T) {
	text, err := os.ReadFile("prometheus/rules_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert string `yaml:"alertname"`
				Fires []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	fires := map[string]bool{}
	for _, one := range file.Tests {
		for _, c := range one.Cases {
			fires[c.Alert] = fires[c.Alert] || len(c.Fires) > 0
		}
	}
	for _, r := range rules(t) {
		if r.Alert != "" && !fires[r.Alert] {
			t.Errorf("nothing shows that %s fires", r.Alert)
		}
	}
}
