package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"octet/app"
	"octet/app/collectors"
	"octet/classifier/model"
	"octet/classifier/train"
	"octet/cmd"
	"octet/config"
)

// labelledFile writes labelled texts of two labels and reject, from three sources of their own names.
func labelledFile(t *testing.T, dir, name string, seed uint64) string {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 0))
	words := map[string]string{"Debug": "crash trace frame core", "Systems": "socket file kernel pipe",
		"reject": "soup bread piano holiday"}
	var out bytes.Buffer
	for i := range 90 {
		label := []string{"Debug", "Systems", "reject"}[i%3]
		own := strings.Fields(words[label])
		text := ""
		for range 6 {
			text += own[dice.IntN(4)] + " and "
		}
		_ = json.NewEncoder(&out).Encode(map[string]string{"text": text, "label": label,
			"source": fmt.Sprint(name, i/3%3), "tier": "E"})
	}
	path := filepath.Join(dir, name+".jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// octet runs the command line and returns what it printed.
func octet(args ...string) (string, error) {
	root := cmd.Root()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(args)
	err := root.Execute()
	return out.String(), err
}

// smallModel trains an artefact on small data; seeds make different ones.
func smallModel(t *testing.T, dir, name, seed string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	data, dev := labelledFile(t, dir, "data", 1), labelledFile(t, dir, "dev", 2)
	out, err := octet("train", "--data", data, "--dev", dev, "--seed", seed, "--out", path, "--examples", "none")
	if err != nil || !strings.Contains(out, "macro-F1") {
		t.Fatalf("%s\n%v", out, err)
	}
	return path
}

// MEGA-19
func TestTrainAndEvaluateOnTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	one, again := smallModel(t, dir, "one.octet", "5"), smallModel(t, dir, "again.octet", "5")
	a, _ := os.ReadFile(one)
	b, _ := os.ReadFile(again)
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Error("the same data and seed give other bytes")
	}
	svg := filepath.Join(dir, "d.svg")
	out, err := octet("evaluate", labelledFile(t, dir, "dev", 2), "--model", one, "--json", "--svg", svg)
	if err != nil {
		t.Fatal(err)
	}
	var report map[string]any
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"macro_f1", "top1", "top2", "ece", "coverage_at_95", "samples", "per_class", "reject",
		"tiers", "reliability", "cascade"} {
		if report[key] == nil {
			t.Errorf("no %s in %s", key, out)
		}
	}
	if report["macro_f1"].(float64) < 0.95 || report["samples"].(float64) != 90 {
		t.Errorf("%s", out)
	}
	if drawn, _ := os.ReadFile(svg); !bytes.Contains(drawn, []byte("<svg")) {
		t.Error("no diagram")
	}
}

// A file of questions is evaluated in all ten wordings, and no topic of the held-out half is one that the model knows.
func TestQuestionsAreEvaluatedByWording(t *testing.T) {
	out, err := octet("evaluate", "--json", "../classifier/train/testdata/questions/heldout.txt")
	if err != nil {
		t.Fatal(err)
	}
	var report train.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Tiers) != len(train.Wordings) || report.Samples < 3000 || report.Seen != 0 {
		t.Errorf("%d wordings, %d samples, %d seen", len(report.Tiers), report.Samples, report.Seen)
	}
}

func TestTrainingAndEvaluatingOnWhatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	good := labelledFile(t, dir, "data", 1)
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("no artefact, no JSON, no concepts"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"evaluate", filepath.Join(dir, "none")}, {"evaluate", bad}, {"evaluate", bad + ".txt"},
		{"evaluate", good, "--model", bad},
		{"evaluate", good, "--model", filepath.Join(dir, "none")},
		{"train", "--data", bad, "--dev", good, "--out", filepath.Join(dir, "x")},
		{"train", "--data", good, "--dev", bad, "--out", filepath.Join(dir, "x")},
		{"train", "--data", good, "--dev", good, "--out", filepath.Join(dir, "x"), "--concepts", bad},
		{"train", "--data", good, "--dev", good, "--out", filepath.Join(dir, "x"), "--examples", bad},
	} {
		if _, err := octet(args...); !errors.Is(err, app.ErrConfig) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("an artefact of a failed training is there")
	}
}

//nolint:lll // raw text that cannot be broken
const foreignEnsemble = "specialists: [{name: coder, replicas: [{url: \"http://127.0.0.1:1\"}]}]\nrouter: {classifier: {%s}}\n"

func TestAClassifierThatDoesNotFitIsAFaultOfTheFile(t *testing.T) {
	dir := t.TempDir()
	small := smallModel(t, dir, "small.octet", "1")
	broken := filepath.Join(dir, "broken.octet")
	raw, _ := os.ReadFile(small)
	if err := os.WriteFile(broken, raw[:len(raw)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "octet.yaml")
	for _, row := range []struct{ name, classifier, path, code string }{
		{"a damaged artefact", "model: " + broken, "router.classifier.model", config.CodeBadValue},
		{"no file", "model: " + dir + "/none", "router.classifier.model", config.CodeBadValue},
		{"an unknown label", "labels: {Nothing: coder}", "router.classifier.labels", config.CodeUnknownName},
		{"an unknown specialist", "labels: {Algo: nobody}", "router.classifier.labels", config.CodeUnknownName},
		{"an artefact for nobody here", "model: " + small, "router.classifier.labels", config.CodeMissing},
		{"the builtin one for nobody here is none", "model: builtin", "", ""},
		{"labels that lead", "model: " + small + ", labels: {Debug: coder}", "", ""},
	} {
		if err := os.WriteFile(file, []byte(fmt.Sprintf(foreignEnsemble, row.classifier)), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := app.Source{Path: file}.Load()
		var faults *config.Faults
		if errors.As(err, &faults); row.path == "" && err != nil || row.path != "" &&
			(faults == nil || faults.List[0].Path != row.path || faults.List[0].Code != row.code) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// slowModel stands for a model that answers late, fails, or breaks.
type slowModel struct{ how string }

func (m slowModel) Classify([]byte, []float64) (float64, error) {
	switch m.how {
	case "late":
		time.Sleep(20 * time.Millisecond) // real time: a model that is late
	case "fails":
		return 0, model.ErrArtefact
	case "panics":
		panic("index out of range")
	}
	return 1, nil
}

func TestAModelThatIsLateOrBrokenIsCountedApart(t *testing.T) {
	outcomes := collectors.NewClassified()
	for how, want := range map[string]error{"late": app.ErrSlow, "fails": model.ErrArtefact, "panics": app.ErrPanic,
		"answers": nil} {
		timeout := 10 * time.Millisecond
		if how == "answers" {
			timeout = time.Minute
		}
		if _, err := app.NewTimed(slowModel{how}, timeout, outcomes).Classify(nil, nil); !errors.Is(err, want) {
			t.Errorf("%s: %v", how, err)
		}
	}
	for outcome, want := range map[string]float64{"answered": 1, "failed": 2, "timeout": 1} {
		var got dto.Metric
		if err := outcomes.WithLabelValues(outcome).Write(&got); err != nil || got.Counter.GetValue() != want {
			t.Errorf("%s: %v, %v", outcome, &got, err)
		}
	}
}

// MEGA-06, MEGA-19
//
//nolint:lll // raw text that cannot be broken
func TestAnUndeclaredRequestGoesWhereTheArtefactSaysAndAnotherArtefactIsTakenOver(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "router.classifier.timeout=10s")
	ask := func(text string) (by, who string) {
		resp, _ := w.Post("/v1/chat/completions",
			fmt.Sprintf(`{"max_tokens":2,"messages":[{"role":"user","content":%q}]}`, text))
		return resp.Header.Get("X-Routed-By"), resp.Header.Get("X-Specialist")
	}
	if by, who := ask("Non-blocking sockets on epoll: recv returns EAGAIN though the peer closed the TCP connection."); by != "classifier" || who != "systems" {
		t.Fatalf("%s by %s", who, by)
	}
	if by, who := ask("Simmer the onions in butter and add the rice, then stir for twenty minutes."); by != "fallback" || who != "debug" {
		t.Fatalf("what belongs to nobody: %s by %s", who, by)
	}
	if !strings.Contains(metricsOf(t, w), `octet_classifier_total{outcome="answered"} 2`) {
		t.Error("the verdicts are not counted")
	}
	cfg := *w.App.Config()
	cfg.Router.Classifier.Model = smallModel(t, t.TempDir(), "small.octet", "1")
	if err := w.App.Apply(t.Context(), &cfg); err != nil {
		t.Fatal(err)
	}
	if by, who := ask("kernel and socket and pipe and file and kernel"); by != "classifier" || who != "systems" {
		t.Fatalf("after the reload: %s by %s", who, by)
	}
	broken := cfg
	broken.Router.Classifier.Model = "/none"
	if err := w.App.Apply(t.Context(), &broken); !errors.Is(err, app.ErrConfig) || !errors.Is(err, model.ErrArtefact) {
		t.Fatalf("a reload without an artefact: %v", err)
	}
	if by, _ := ask("kernel and socket and pipe and file and kernel"); by != "classifier" {
		t.Fatalf("the last good one stays: %s", by)
	}
}

func TestAnotherArtefactAtTheSamePathIsNoticed(t *testing.T) {
	dir := t.TempDir()
	path := smallModel(t, dir, "model.octet", "1")
	cfg := &config.Config{}
	cfg.Router.Classifier.Model = path
	changed := make(chan struct{}, 8) // more than this test makes
	go app.FollowModel(t.Context(), cfg, func() { changed <- struct{}{} })
	time.Sleep(app.ModelEvery * 3 / 2) // real time: the file is looked at
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * app.ModelEvery) // real time: the file is looked at
	if len(changed) > 0 {
		t.Fatal("the same artefact, or none, is no other one")
	}
	smallModel(t, dir, "model.octet", "2")
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody noticed")
	}
}

// MEGA-08
func TestAConfiguredRuleRoutesAndABadOneIsAFault(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), `router.rules[0].name=gpu`, `router.rules[0].specialist=systems`,
		`router.rules[0].literals[0]=cudaMalloc`)
	resp, answer := w.Post("/v1/chat/completions",
		`{"max_tokens":2,"messages":[{"role":"user","content":"why does cudaMalloc fail?"}]}`)
	if by, who := resp.Header.Get("X-Routed-By"), resp.Header.Get("X-Specialist"); by != "detector" ||
		who != "systems" || resp.Header.Get("X-Confidence") != "" {
		t.Fatalf("%s by %s: %s", who, by, answer)
	}
	file := filepath.Join(t.TempDir(), "octet.yaml")
	long := strings.Repeat("x", 200)
	for rule, path := range map[string]string{
		"{name: a, specialist: nobody, literals: [xx]}":             "router.rules[0].specialist",
		"{name: a, specialist: coder, literals: [x]}":               "router.rules[0].literals[0]",
		"{name: a, specialist: coder, literals: [" + long + "]}":    "router.rules[0].literals[0]",
		"{name: a, specialist: coder, literals: [xx, xx]}":          "router.rules[0].literals[1]",
		"{name: a, specialist: coder, literals: [xx], at_least: 2}": "router.rules[0].at_least",
		"{name: a, specialist: coder, literals: []}":                "router.rules",
	} {
		yaml := "specialists: [{name: coder, replicas: [{url: \"http://127.0.0.1:1\"}]}]\nrouter: {rules: [" + rule +
			"]}\n"
		if err := os.WriteFile(file, []byte(yaml), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := app.Source{Path: file}.Load()
		var faults *config.Faults
		if !errors.As(err, &faults) || !strings.HasPrefix(faults.List[0].Path, path) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// What a model was trained on says nothing of how it does on what it has not seen: evaluate counts such texts, and says
// so.
func TestEvaluateTellsTextsThatTheModelWasTrainedOn(t *testing.T) {
	dir := t.TempDir()
	artefact := smallModel(t, dir, "small.octet", "1")
	for name, want := range map[string]int{"data": 90, "dev": 0} {
		out, err := octet("evaluate", "--json", "--model", artefact, filepath.Join(dir, name+".jsonl"))
		var report struct {
			Samples, Seen int
		}
		if err != nil || json.Unmarshal([]byte(out), &report) != nil || report.Seen != want || report.Samples != 90 {
			t.Errorf("%s: %d of %d seen, want %d; %v", name, report.Seen, report.Samples, want, err)
		}
	}
}
