package app_test

import (
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// deployed are the files that name our metrics.
var deployed = []string{"../deploy/prometheus/rules.yml", "../deploy/grafana/octet.json", "../deploy/TRIAGE.md"}

// MEGA-51, MEGA-52, MEGA-53, MEGA-54, MEGA-55, MEGA-65, MEGA-74, MEGA-75, MEGA-76: whatever the alerts, the dashboard
// and the triage look at is told by a gateway that has seen some of everything, with the labels that they tell it apart
// by.
func TestAGatewayTellsEveryMetricThatIsLookedAt(t *testing.T) {
	world := strings.Replace(smallWorld, "    context: 4096\n",
		"    context: 4096\n    slo: {min_samples: 1, correctness: {floor: 0.5, min_samples: 1}}\n", 1)
	w := newWorld(t, world, smallEngines(), keyed()...)
	w.Key = key
	for range 3 {
		resp, _ := w.Post("/v1/chat/completions",
			`{"model":"debug","max_tokens":6,"stream":true,"messages":[{"role":"user","content":"x"}]}`, "X-Intent",
			"review", "X-Deadline-Ms", "30000")
		w.Post("/v1/outcomes", `{"receipt":"`+resp.Header.Get("X-Receipt-Id")+`","kind":"compile","pass":true}`)
	}
	for range 2 { // the second is a hit
		w.Post("/v1/completions", `{"model":"debug","max_tokens":2,"prompt":"`+strings.Repeat("word ", 300)+`"}`)
		eventually(t, "the answer is accounted for", w.Quiet)
	}
	for _, replica := range []string{"debug-0", "debug-1"} {
		w.Fault(replica, `{"kind":"die_before_headers","times":2}`)
	}
	w.Post("/v1/chat/completions", `{"model":"debug","max_tokens":6,"messages":[{"role":"user","content":"x"}]}`)
	told := map[string]string{}
	for line := range strings.Lines(scraped(t, w) + foundFault(t) + asleep(t)) {
		name, _, _ := strings.Cut(strings.Fields(line)[0], "{")
		told[name] += line
	}
	for _, file := range deployed {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for _, m := range regexp.MustCompile(`\b(octet_[a-z_]+)(\{[^}]*\})?`).FindAllStringSubmatch(
			strings.ReplaceAll(string(text), `\"`, `"`), -1) {
			used[m[0]] = true
		}
		for _, use := range slices.Sorted(maps.Keys(used)) {
			name, selector, _ := strings.Cut(use, "{")
			if told[name] == "" {
				t.Errorf("%s: nobody tells %s", file, name)
			}
			for _, label := range regexp.MustCompile(`([a-z]+)(=~?|!=)"([^"]*)"`).FindAllStringSubmatch(selector, -1) {
				if !strings.Contains(told[name], label[1]+`="`) || label[2] == "=" &&
					!strings.Contains(told[name], label[1]+`="`+label[3]+`"`) {
					t.Errorf("%s: %s has no such label", file, use)
				}
			}
		}
	}
}

// foundFault returns the metrics of a gateway that has found one of its replicas at fault as it connected.
func foundFault(t *testing.T) (lines string) {
	w := newWorld(t, `
fleet: {probe_interval: 20ms}
specialists: [{name: debug, block_size: 32, replicas: [{url: "%s", engine: vllm, blocks: 512}]}]`, smallEngines()[:1],
		"fleet.examine=true")
	return w.toldOf(t, "octet_doctor_findings{")
}

// asleep returns the metrics of a gateway one of whose engines sleeps.
func asleep(t *testing.T) (lines string) {
	engines := smallEngines()[:1]
	engines[0].Asleep = true
	w := newWorld(t, `
fleet: {probe_interval: 20ms}
specialists: [{name: debug, sleep: {hold: 1s}, replicas: [{url: "%s", engine: vllm, blocks: 512}]}]`, engines)
	return w.toldOf(t, "octet_replica_out{")
}

// toldOf waits for metrics that begin so.
func (w *world) toldOf(t *testing.T, prefix string) (lines string) {
	eventually(t, prefix+" is told", func() bool {
		lines = ""
		for line := range strings.Lines(scraped(t, w)) {
			if strings.HasPrefix(line, prefix) {
				lines += line
			}
		}
		return lines != ""
	})
	return lines
}

func scraped(t *testing.T, w *world) string {
	resp, err := http.Get(w.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
