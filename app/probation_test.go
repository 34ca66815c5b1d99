package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octet/app"
	"octet/calibration"
	"octet/config"
	"octet/gateway/receipt"
	"octet/routing/plugins"
	"octet/slo"
)

// again reloads shadowWorld with other sets, in front of the same engines.
func (w *world) again(sets ...string) {
	w.T.Helper()
	text := fmt.Sprintf(shadowWorld, w.Engines["debug-0"].URL, w.Engines["systems-0"].URL)
	if w.Key != "" {
		sets = keyed(sets...)
	}
	cfg, err := config.Parse("world.yaml", []byte(text),
		config.Options{Presets: plugins.Presets(), Sets: append(w.Sets(), sets...)})
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.App.Apply(w.T.Context(), cfg); err != nil {
		w.T.Fatal(err)
	}
	w.unsure()
}

func (w *world) fresh() (names []string) {
	var state struct {
		Specialists []struct {
			Probation []slo.Trial
		}
	}
	w.Get(w.Admin+"/admin/state", &state)
	for _, sp := range state.Specialists {
		for _, p := range sp.Probation {
			names = append(names, strings.TrimSuffix(p.Specialist+":"+p.Adapter, ":"))
		}
	}
	return names
}

// MEGA-67: a specialist of another version shares its intents with its fallback, and whatever either answers is
// shadowed by the other, until its own verdicts show its floor. A request that names it gets it. What was judged of the
// old weights is not held for or against the new ones.
//
//nolint:lll // raw text that cannot be broken
func TestARefreshedSpecialistBeginsOnProbation(t *testing.T) {
	w, file := newShadowWorld(t, proseEngines(), keyed("specialists[0].slo.correctness.floor=0.3")...)
	w.Key = key
	if len(w.fresh()) != 0 {
		t.Fatalf("fresh at the start: %v", w.fresh())
	}
	named := strings.Replace(asking("sure", false), `"octet"`, `"debug"`, 1)
	before := make([]string, 3) // receipts of the old weights
	for i := range before {
		resp, _ := w.Post("/v1/chat/completions", named)
		before[i] = resp.Header.Get("X-Receipt-Id")
		w.verdict(before[i], "compile", i > 0)
	}
	if n := w.samples("debug"); n != len(before) {
		t.Fatalf("%d verdicts on the old weights", n)
	}
	w.again("specialists[0].version=2", "shadow.max_concurrent=64", "specialists[0].slo.correctness.floor=0.3")
	if fmt.Sprint(w.fresh()) != "[debug]" {
		t.Fatalf("fresh: %v", w.fresh())
	}
	w.verdict(before[0], "review", true)
	w.verdict(before[1], "review", false)
	if n := w.samples("debug"); n != 0 {
		t.Errorf("%d verdicts on the old weights are published as the new ones'", n)
	}
	served := map[string]int{}
	var receipts []string
	for i := range 40 {
		resp, _ := w.Post("/v1/chat/completions", asking("sure", false), "X-Intent", "debug", "X-Request-Id",
			fmt.Sprintf("r%d", i))
		by, shadow := resp.Header.Get("X-Specialist"), resp.Header.Get("X-Shadow")
		if by == shadow || shadow == "" {
			t.Fatalf("by %q, shadow %q", by, shadow)
		}
		if served[by]++; by == "debug" {
			receipts = append(receipts, resp.Header.Get("X-Receipt-Id"))
		}
	}
	if served["debug"] < 8 || served["systems"] < 8 {
		t.Errorf("of an intent of one's own: %v", served)
	}
	if e := w.example(file, 1); e.Cause != calibration.ByProbation || e.Primary.Version+e.Shadow.Version != "2" {
		t.Errorf("%+v", e)
	}
	for i := range 8 {
		if resp, _ := w.Post("/v1/chat/completions", named, "X-Request-Id", fmt.Sprintf("n%d", i)); resp.Header.Get("X-Specialist") != "debug" {
			t.Errorf("named, and answered by %q", resp.Header.Get("X-Specialist"))
		}
	}
	var r receipt.Receipt
	if w.Get(w.Data+"/v1/receipts/"+receipts[0], &r); r.Decision.Version != "2" || !r.Decision.Probation {
		t.Errorf("the receipt says %+v", r.Decision)
	}
	for i, id := range receipts[:8] { // 2 are min_samples
		if len(w.fresh()) == 0 && i < 6 {
			t.Fatalf("%d verdicts, 2 of them failures, ended it", i)
		}
		w.verdict(id, "compile", i >= 2)
		w.verdict(id, "review", i >= 2)
	}
	if len(w.fresh()) != 0 {
		t.Errorf("still fresh: %v", w.fresh())
	}
	if resp, _ := w.Post("/v1/chat/completions", asking("sure", false), "X-Intent", "debug"); resp.Header.Get("X-Specialist") != "debug" || resp.Header.Get("X-Shadow") != "" {
		t.Errorf("after probation: %v", resp.Header)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// verdict gives a verdict as the tenant of the world.
func (w *world) verdict(receipt, kind string, pass bool) {
	w.T.Helper()
	if resp, body := w.Post("/v1/outcomes",
		fmt.Sprintf(`{"receipt":%q,"kind":%q,"pass":%v}`, receipt, kind, pass)); resp.StatusCode != 200 {
		w.T.Fatalf("%d: %s", resp.StatusCode, body)
	}
}

// MEGA-67: a restart with another version drops the verdicts that were saved, and keeps those on the same one. Where
// the file says that nothing is settled, a first start begins on probation.
func TestSavedVerdictsAreOfTheirVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "verdicts.json")
	sets := keyed("outcomes.file="+file, "outcomes.interval=1h", "specialists[0].version=1")
	for i, run := range []struct {
		set          string
		before, last int
		fresh        string
	}{
		{"specialists[0].version=1", 0, 2, "[]"},
		{"specialists[0].version=1", 2, 3, "[]"},
		{"specialists[0].version=2", 0, 1, "[]"},
		{"router.probation.settled=false", 0, 1, "[debug debug:gdb-v2 systems]"}, // of version 1 again
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w, _ := newShadowWorld(t, proseEngines(), append(sets, run.set)...)
			w.Key = key
			if got := fmt.Sprint(w.fresh()); got != run.fresh {
				t.Errorf("fresh: %s", got)
			}
			if n := w.samples("debug"); n != run.before {
				t.Fatalf("%d verdicts are recalled, want %d", n, run.before)
			}
			for w.samples("debug") < run.last {
				resp, _ := w.Post("/v1/chat/completions",
					strings.Replace(asking("sure", false), `"octet"`, `"debug"`, 1))
				w.verdict(resp.Header.Get("X-Receipt-Id"), "compile", true)
			}
		})
	}
}

// MEGA-67: a rotated adapter is shadowed by its specialist without it; the specialist itself is not fresh by that.
//
//nolint:lll // raw text that cannot be broken
func TestARotatedAdapterBeginsOnProbation(t *testing.T) {
	w, file := newShadowWorld(t, proseEngines())
	adapted := strings.Replace(asking("sure", false), `"octet"`, `"debug:gdb-v2"`, 1)
	if resp, _ := w.Post("/v1/chat/completions", adapted); resp.StatusCode != 200 || resp.Header.Get("X-Shadow") != "" {
		t.Errorf("an adapter that is known: %v", resp.Header)
	}
	w.again("specialists[0].adapters[0].version=b")
	resp, _ := w.Post("/v1/chat/completions", adapted)
	if resp.StatusCode != 200 || resp.Header.Get("X-Adapter") != "gdb-v2" || resp.Header.Get("X-Shadow") != "debug" {
		t.Errorf("a fresh adapter: %v", resp.Header)
	}
	e := w.example(file, 1)
	if e.Primary != (calibration.Lane{Specialist: "debug", Adapter: "gdb-v2", Version: "b"}) ||
		e.Shadow != (calibration.Lane{Specialist: "debug"}) {
		t.Errorf("%+v", e)
	}
	if resp, _ := w.Post("/v1/chat/completions", strings.Replace(adapted, ":gdb-v2", "", 1)); resp.Header.Get("X-Shadow") != "" {
		t.Errorf("the specialist itself: %v", resp.Header)
	}
}

// Versions are remembered over a restart: one that changed meanwhile is fresh, and no restart ends a probation.
func TestProbationOutlivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "probation.json")
	first, err := app.LoadProbation(config.Probation{File: file, Settled: true})
	if err != nil {
		t.Fatal(err)
	}
	first.Declare(time.Now(), slo.Term{Entrant: slo.Entrant{Specialist: "debug"}, Version: "1", Need: 2})
	if err := app.WriteProbation(file, first); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again, err := app.LoadProbation(config.Probation{File: file, Settled: true})
		if err != nil {
			t.Fatal(err)
		}
		again.Declare(time.Now(), slo.Term{Entrant: slo.Entrant{Specialist: "debug"}, Version: "2", Need: 2})
		if !again.Fresh(slo.Entrant{Specialist: "debug"}) {
			t.Errorf("%+v", again.Standings())
		}
		if err := app.WriteProbation(file, again); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := app.LoadProbation(config.Probation{File: file, Settled: true}); err == nil {
		t.Error("a broken file was taken")
	}
}
