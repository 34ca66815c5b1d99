package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/app"
	"octet/calibration"
	"octet/classifier"
	"octet/engine/emulator"
	"octet/slo"
)

// unsureModel is as sure as the text says: of "unsure 0.40" it is 0.40 sure that it is the first specialist's, and the
// second's is most of the rest.
type unsureModel struct{}

// Classify implements classifier.Model.
func (unsureModel) Classify(text []byte, out []float64) (float64, error) {
	p := 0.9
	if _, after, ok := bytes.Cut(text, []byte("unsure ")); ok {
		if json.Unmarshal(after[:4], &p) != nil {
			return 0, classifier.ErrModel
		}
	}
	rest := 1 - p
	out[0], out[1] = p, rest*0.9
	return rest * 0.1, nil
}

// shadowWorld has two specialists that say different things, and a classifier that is as sure as it is told to be.
//
//nolint:lll // raw text that cannot be broken
const shadowWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 2s, idle_timeout: 2s, ttft_timeout: 3s, drain: 5s}
fleet: {probe_interval: 50ms, breaker: {failures: 3, open_for: 300ms}}
router: {detectors: false}
specialists:
  - {name: debug, tokenizer: builtin, fallback: systems, adapters: [{name: gdb-v2}], slo: {correctness: {min_samples: 2}}, replicas: [{url: "%s", blocks: 512}]}
  - {name: systems, tokenizer: builtin, replicas: [{url: "%s", blocks: 512}]}
`

func proseEngines() []emulator.Config {
	one := func(name, model string) emulator.Config {
		return emulator.Config{Name: name, Model: model, Blocks: 512, Step: time.Millisecond, PrefillTPS: 200000,
			Text: emulator.TextProse, Adapters: []string{"gdb-v2"}}
	}
	return []emulator.Config{one("debug-0", "debug"), one("systems-0", "systems")}
}

// newShadowWorld is shadowWorld with its calibration stream in the file that is returned.
func newShadowWorld(t *testing.T, engines []emulator.Config, sets ...string) (*world, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "calibration.jsonl")
	w := newWorld(t, shadowWorld, engines, append([]string{"shadow.file=" + file, "shadow.stream="}, sets...)...)
	w.unsure()
	return w, file
}

// unsure gives the served configuration the model of these tests.
func (w *world) unsure() { doubting(w.T, w.App) }

// doubting gives what a serves the model of these tests.
func doubting(t testing.TB, a *app.App) { doubtingAmong(t, a, "debug", "systems") }

// doubtingAmong is doubting for specialists; the model is sure of the first.
func doubtingAmong(t testing.TB, a *app.App, specialists ...string) {
	cfg := classifier.Config{
		Specialists: specialists, Fallback: "debug", Viable: 0.15, Model: unsureModel{},
		Adapters: map[string][]string{}, Intents: map[string]classifier.IntentConfig{},
	}
	for _, sp := range a.Config().Specialists {
		for _, lora := range sp.Adapters {
			cfg.Adapters[sp.Name] = append(cfg.Adapters[sp.Name], lora.Name)
		}
	}
	for name, in := range a.Config().Intents {
		cfg.Intents[name] = classifier.IntentConfig{Specialist: in.Specialist, ShadowThreshold: in.ShadowThreshold,
			DivertThreshold: in.DivertThreshold, PriorityFloor: in.PriorityFloor}
	}
	cascade, err := classifier.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	rt := *a.Server().Runtime()
	rt.Cascade = cascade
	a.Server().Serve(&rt)
}

func asking(text string, stream bool) string {
	body, _ := json.Marshal(map[string]any{"model": "octet", "stream": stream, "max_tokens": 40,
		"messages": []map[string]string{{"role": "user", "content": text}}})
	return string(body)
}

// recordsOf reads a calibration file.
func recordsOf(t testing.TB, file string) (examples []calibration.Example, tallies []calibration.Tally,
	verdicts []calibration.Verdict) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if line[len(line)-1] != '\n' {
			break // it is being written
		}
		r, err := calibration.Parse(line)
		switch {
		case err != nil:
			t.Fatalf("%v: %s", err, line)
		case r.Example != nil:
			examples = append(examples, *r.Example)
		case r.Tally != nil:
			tallies = append(tallies, *r.Tally)
		default:
			verdicts = append(verdicts, *r.Verdict)
		}
	}
	return examples, tallies, verdicts
}

func (w *world) example(file string, n int) calibration.Example {
	w.T.Helper()
	eventually(w.T, "an example in the stream", func() bool {
		examples, _, _ := recordsOf(w.T, file)
		return len(examples) >= n
	})
	examples, _, _ := recordsOf(w.T, file)
	return examples[n-1]
}

// MEGA-11, MEGA-12, MEGA-13, MEGA-14: below the intent's threshold the second choice gets a copy, and what the two come
// to is a labelled example; the client's answer is the primary's alone.
func TestAnUnsureRequestIsAnsweredByTwoAndTheirDifferenceIsAnExample(t *testing.T) {
	w, file := newShadowWorld(t, proseEngines())
	n := 0
	for _, stream := range []bool{false, true} {
		for _, row := range []struct {
			intent, text string
			shadowed     bool
		}{
			{"review", "unsure 0.80", true}, {"codegen", "unsure 0.80", false}, {"codegen", "unsure 0.25", true},
			{"", "unsure 0.10", false},
		} {
			if row.text == "unsure 0.25" {
				row.text = "unsure 0.29 of systems" // the second specialist leads; the first is its shadow
			}
			resp, answer := w.Post("/v1/chat/completions", asking(row.text, stream), "X-Intent", row.intent)
			primary, shadow := "debug", "systems"
			if strings.HasPrefix(row.text, "unsure 0.2") || strings.HasPrefix(row.text, "unsure 0.1") {
				primary, shadow = shadow, primary
			}
			if resp.StatusCode != 200 || resp.Header.Get("X-Specialist") != primary {
				t.Fatalf("%+v: status %d from %q: %s", row, resp.StatusCode, resp.Header.Get("X-Specialist"), answer)
			}
			if primary == "systems" {
				row.shadowed = false // 0.6 and more sure
			}
			if !row.shadowed {
				shadow = ""
			}
			if got := resp.Header.Get("X-Shadow"); got != shadow {
				t.Errorf("%+v: X-Shadow %q, want %q", row, got, shadow)
			}
			if !row.shadowed {
				continue
			}
			n++
			e := w.example(file, n)
			if e.Intent != row.intent || e.Primary.Specialist != primary || e.Shadow.Specialist != shadow ||
				!e.Class.Disagrees() || e.Cause != calibration.ByThreshold ||
				*e.Confidence != 0.8 || e.Threshold != 0.85 || e.Prompt.Text != "" || e.Prompt.Hash == "" ||
				e.Answers.Primary.Bytes == 0 || e.Receipt != resp.Header.Get("X-Receipt-Id") {
				t.Errorf("%+v: %+v", row, e)
			}
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// MEGA-17: the bytes of an answer come from one specialist, whatever the other one does meanwhile.
func TestAShadowIsNeverInTheAnswer(t *testing.T) {
	w, file := newShadowWorld(t, proseEngines(), "shadow.prompts=text")
	_, alone := w.Post("/v1/chat/completions",
		strings.Replace(asking("unsure 0.60 twice", false), `"octet"`, `"debug"`, 1), "X-Request-Id", "same")
	_, both := w.Post("/v1/chat/completions", asking("unsure 0.60 twice", false), "X-Request-Id", "same", "X-Intent",
		"review")
	e := w.example(file, 1)
	if textOf(t, both) != textOf(t, alone) || e.Answers.Primary.Text != textOf(t, both) ||
		e.Answers.Shadow.Text == e.Answers.Primary.Text {
		t.Errorf("%s\nbeside a shadow\n%s\nexample %+v", alone, both, e)
	}
	if !w.counted(`octet_requests_total{specialist="systems",status="200"} 0`) ||
		!w.counted(`octet_tokens_total{kind="completion",specialist="systems"} 0`) {
		t.Error("a shadow counts as a request")
	}
}

func textOf(t *testing.T, answer []byte) string {
	t.Helper()
	var a struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(answer, &a); err != nil || len(a.Choices) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	return a.Choices[0].Message.Content
}

func (w *world) shadows() (n int) {
	for _, rep := range w.App.Server().Runtime().Replicas {
		if rep != nil {
			n += int(rep.Shadows.Load())
		}
	}
	return n
}

// A shadow that hangs is cut off in its own time: the answer is out long before, and nothing stays behind.
func TestAShadowThatHangsDelaysNobody(t *testing.T) {
	w, file := newShadowWorld(t, proseEngines(), "shadow.timeout=2s")
	w.Fault("systems-0", `{"kind":"hang"}`)
	resp, answer := w.Post("/v1/chat/completions", asking("unsure 0.60", true), "X-Intent", "review")
	if s := readStream(bytes.NewReader(answer)); resp.StatusCode != 200 || !s.done ||
		resp.Header.Get("X-Shadow") != "systems" {
		t.Errorf("status %d, shadow %q, %+v", resp.StatusCode, resp.Header.Get("X-Shadow"), s)
	}
	var state struct {
		Specialists []struct {
			Name   string
			Shadow int
		}
	}
	eventually(t, "the shadow shows", func() bool {
		w.Get(w.Admin+"/admin/state", &state)
		return state.Specialists[1].Shadow == 1
	})
	eventually(t, "the shadow is cut off", func() bool { return w.shadows() == 0 })
	if examples, _, _ := recordsOf(t, file); len(examples) != 0 {
		t.Errorf("an example of a shadow that did not answer: %+v", examples)
	}
}

// Shadows are within their own budget; the next one is not sent, and the client is not told of one.
func TestShadowsKeepToTheirBudget(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), "shadow.max_concurrent=1", "shadow.timeout=1h", "limits.drain=1h")
	w.Fault("systems-0", `{"kind":"hang"}`)
	for i, want := range []string{"systems", "", ""} {
		resp, _ := w.Post("/v1/chat/completions", asking("unsure 0.60", false), "X-Intent", "review")
		if got := resp.Header.Get("X-Shadow"); got != want || resp.StatusCode != 200 {
			t.Errorf("request %d: shadow %q, status %d", i, got, resp.StatusCode)
		}
	}
	w.Stop()
	if err := <-w.Ended; err != nil { // the shadow's hour is not waited for
		t.Error(err)
	}
	w.Ended <- nil
}

// A shadow takes no place that another request waits for or runs in, and gives its own to any that comes, the least
// urgent included.
func TestAShadowIsShedFirst(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), "shadow.timeout=10s", "specialists[1].scheduler.max_running=1")
	w.Fault("systems-0", `{"kind":"hang","times":1}`)
	resp, _ := w.Post("/v1/chat/completions", asking("unsure 0.60", false), "X-Intent", "review")
	if resp.Header.Get("X-Shadow") != "systems" {
		t.Fatalf("no shadow under way: %v", resp.Header)
	}
	eventually(t, "the shadow has its place", func() bool { return w.shadows() == 1 })
	unsure := asking("unsure 0.60", false)
	own := strings.Replace(asking("mine", false), `"octet"`, `"systems"`, 1)
	if resp, answer := w.Post("/v1/chat/completions", own, "X-Priority", "-100"); resp.StatusCode != 200 {
		t.Errorf("behind a shadow: status %d: %s", resp.StatusCode, answer)
	}
	eventually(t, "the shadow is gone", func() bool { return w.shadows() == 0 })

	slow, cancel := context.WithCancel(t.Context())
	w.Fault("systems-0", `{"kind":"hang","times":1}`)
	held := w.gate("systems-0")
	var leaving sync.WaitGroup
	defer leaving.Wait()
	defer cancel()
	leaving.Go(func() { w.hangUp(slow, own) })
	eventually(t, "the place is taken", func() bool { return held.Stats().Running == 1 })
	if resp, _ := w.Post("/v1/chat/completions", unsure, "X-Intent", "review"); resp.StatusCode != 200 {
		t.Errorf("where there is no place for a shadow: status %d", resp.StatusCode)
	}
	eventually(t, "the shadow is refused",
		func() bool { return w.counted(`octet_shadows_total{outcome="no_place",specialist="systems"} 1`) })
	if s, c := held.Stats(), held.Calibration(); s.Waiting != 0 || s.Running != 1 || s.Preempting != 0 ||
		c.Offered != 3 {
		// it did not even queue
		t.Errorf("%+v, %d offered", s, c.Offered)
	}
}

// counted says whether the metrics have a line.
func (w *world) counted(line string) bool {
	w.T.Helper()
	resp, err := http.Get(w.Admin + "/metrics")
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return strings.Contains(string(page), line)
}

// hangUp asks and goes away with ctx.
func (w *world) hangUp(ctx context.Context, body string) {
	req, err := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		w.T.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
	}
}

// MEGA-18: disagreements by the dozen move no threshold and no verdict; an operator's knob does.
//
//nolint:lll // raw text that cannot be broken
func TestThresholdsDoNotMoveByThemselves(t *testing.T) {
	w, file := newShadowWorld(t, proseEngines())
	knobs := func() string {
		list, _ := json.Marshal(w.App.Knobs().List())
		return string(list)
	}
	before, first := knobs(), w.decision("unsure 0.70")
	for i := range 24 {
		w.Post("/v1/chat/completions", asking("unsure 0.70", i%2 == 0), "X-Intent", "review")
		w.example(file, i+1)
	}
	if after, last := knobs(), w.decision("unsure 0.70"); after != before || last != first {
		t.Errorf("knobs\n%s\nwere\n%s\ndecision %s was %s", after, before, last, first)
	}
	if err := w.App.Knobs().Set(slo.ShadowThreshold+"review", slo.Override{Value: 0.5, By: "me"}); err != nil {
		t.Fatal(err)
	}
	if resp, _ := w.Post("/v1/chat/completions", asking("unsure 0.70", false), "X-Intent", "review"); resp.Header.Get("X-Shadow") != "" {
		t.Error("the operator's threshold is not in force")
	}
}

func (w *world) decision(text string) string {
	_, answer := w.Post("/v1/route", asking(text, false), "X-Intent", "review")
	var e struct{ Decision json.RawMessage }
	if err := json.Unmarshal(answer, &e); err != nil {
		w.T.Fatal(err)
	}
	return string(e.Decision)
}

// MEGA-15: what the stream says of all requests is enough to tell what a threshold would cost, and of which answers
// passed.
func TestTheStreamTellsOfAllConfidencesAndOfVerdicts(t *testing.T) {
	w, file := newShadowWorld(t, proseEngines(), keyed()...)
	w.Key = key
	resp, _ := w.Post("/v1/chat/completions", asking("unsure 0.90", false), "X-Intent", "review")
	if r, answer := w.Post("/v1/outcomes",
		`{"receipt":"`+resp.Header.Get("X-Receipt-Id")+`","kind":"compile","pass":true}`); r.StatusCode != 200 {
		t.Fatalf("%s", answer)
	}
	w.Post("/v1/chat/completions", asking("unsure 0.80", false), "X-Intent", "review")
	w.example(file, 1)
	w.Stop()
	<-w.Ended
	w.Ended <- nil
	_ = w.App.Close()
	_, tallies, verdicts := recordsOf(t, file)
	if len(tallies) != 1 || tallies[0].Counts[90]+tallies[0].Counts[89] != 1 || tallies[0].Counts[80] != 1 ||
		tallies[0].Threshold != 0.85 {
		t.Errorf("%+v", tallies)
	}
	if len(verdicts) != 1 || !verdicts[0].Pass || verdicts[0].Kind != "compile" || verdicts[0].Intent != "review" ||
		verdicts[0].Lane.Specialist != "debug" || *verdicts[0].Confidence != 0.9 {
		t.Errorf("%+v", verdicts)
	}
}
