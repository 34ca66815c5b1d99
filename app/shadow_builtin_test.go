package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octet/calibration"
	"octet/classifier/model"
	"octet/engine/emulator"
	"octet/slo"
)

// builtinWorld has four of the shipped model's specialists; the labels of the others count as reject.
const builtinWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 2s, idle_timeout: 2s, ttft_timeout: 3s, drain: 5s}
fleet: {probe_interval: 50ms}
router: {detectors: false, classifier: {timeout: 10s}, stickiness: {conversations: 0}}
shadow: {stream: "", max_concurrent: 64}
specialists:
  - {name: systems, tokenizer: builtin, replicas: [{url: "%s", blocks: 512}]}
  - {name: concurrency, tokenizer: builtin, replicas: [{url: "%s", blocks: 512}]}
  - {name: memory, tokenizer: builtin, replicas: [{url: "%s", blocks: 512}]}
  - {name: debug, tokenizer: builtin, replicas: [{url: "%s", blocks: 512}]}
`

var builtinNames = []string{"systems", "concurrency", "memory", "debug"}

// newBuiltinWorld is builtinWorld with its calibration stream in the file that is returned.
func newBuiltinWorld(t *testing.T, sets ...string) (*world, string) {
	t.Helper()
	var engines []emulator.Config
	for _, name := range builtinNames {
		engines = append(engines,
			emulator.Config{Name: name + "-0", Model: name, Blocks: 512, Step: time.Millisecond, PrefillTPS: 200000,
				Text: emulator.TextProse})
	}
	file := filepath.Join(t.TempDir(), "calibration.jsonl")
	return newWorld(t, builtinWorld, engines, append([]string{"shadow.file=" + file}, sets...)...), file
}

// requests are what people ask, sure and unsure ones.
var requests = []string{
	"Non-blocking sockets on epoll: recv returns EAGAIN though the peer closed the TCP connection. Which errno do I " +
		"look at?",
	"A bounded lock-free MPMC ring with compare_exchange_weak and acquire/release: where can two producers race?",
	"My arena allocator returns misaligned pointers; how do I bump to alignof(T) before I carve a chunk off the page?",
	"The process hangs after fork because a mutex was held by another thread; which handle is leaked, and who closes " +
		"the pipe?",
	"A shared_ptr's control block is freed twice when two threads reset it; is the count atomic, and where does " +
		"malloc abort?",
	"Print a backtrace from a signal handler without malloc, and wait for the worker thread to end.",
	"The thread pool's queue grows for ever and the page cache is full: what should I look at first?",
	"A timer callback reads from a freed buffer after the connection was closed.",
	"mmap a file and share the pages between processes with a futex in the first one.",
	"The process was killed in a signal handler while it waited on a lock; is the memory of the child freed?",
	"A worker thread leaks the buffer of a socket when its connection times out.",
	"The debugger shows a mutex that is held by a thread which has exited; is its memory freed?",
	"The pool of threads and the pool of buffers both grow until the process is killed.",
	"Two processes share an atomic counter in mapped memory.",
	"Which thread frees the object that a pending read on the socket still points to?",
	"A crash in free while another thread closes the file descriptor.",
	"The child inherits the locked mutex and the open pipe, and hangs.",
}

// opinion is what the shipped model says of a request to these four specialists.
type opinion struct {
	first, second string
	p             map[string]float64
	rejected      bool
}

// shippedOpinion asks the model itself, without a gateway.
func shippedOpinion(t *testing.T, text string) (o opinion) {
	t.Helper()
	m, err := model.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]float64, len(m.Labels()))
	m.Probabilities([]byte(text), all)
	o.p = map[string]float64{}
	nobody := 1.0
	for i, l := range m.Labels() {
		for _, name := range builtinNames {
			if strings.EqualFold(l, name) {
				o.p[name] = all[i]
				nobody -= all[i]
			}
		}
	}
	for _, name := range builtinNames {
		switch {
		case o.first == "" || o.p[name] > o.p[o.first]:
			o.first, o.second = name, o.first
		case o.second == "" || o.p[name] > o.p[o.second]:
			o.second = name
		}
	}
	o.rejected = nobody > o.p[o.first]
	return o
}

// MEGA-06, MEGA-10, MEGA-11, MEGA-12, MEGA-13, MEGA-14, MEGA-17: with the model that ships, by each intent's default
// threshold, 0.50 for a request that declares none. What it is less sure of than the intent asks gets a second opinion
// of the next best, whose difference is an example with the whole distribution; what is surer gets none; what belongs
// to no specialist is the fallback's, without one.
func TestTheShippedModelDecidesWhoGetsASecondOpinion(t *testing.T) {
	w, file := newBuiltinWorld(t)
	shadowed, alone, rejected := 0, 0, 0
	for i, text := range requests {
		o := shippedOpinion(t, text)
		for intent, threshold := range map[string]float64{"codegen": 0.3, "review": 0.85, "": 0.5} {
			resp, answer := w.Post("/v1/chat/completions", asking(text, i%2 == 0), "X-Intent", intent)
			who, by, shadow := resp.Header.Get("X-Specialist"), resp.Header.Get("X-Routed-By"),
				resp.Header.Get("X-Shadow")
			if resp.StatusCode != 200 {
				t.Fatalf("status %d: %s", resp.StatusCode, answer)
			}
			switch {
			case o.rejected:
				rejected++
				if who != "systems" || by != "fallback" || shadow != "" {
					t.Errorf("%q: %.40s is nobody's, and went to %s by %s with %q", intent, text, who, by, shadow)
				}
				continue
			case who != o.first || by != "classifier":
				t.Errorf("%q: %.40s went to %s by %s: %+v", intent, text, who, by, o)
				continue
			case o.p[o.first] >= threshold:
				alone++
				if shadow != "" {
					t.Errorf("%q: %.40s is %.2f sure, and %s was asked as well", intent, text, o.p[o.first], shadow)
				}
				continue
			}
			shadowed++
			if shadow != o.second {
				t.Errorf("%q: %.40s is %.2f sure, X-Shadow %q, want %s", intent, text, o.p[o.first], shadow, o.second)
				continue
			}
			e := w.example(file, shadowed)
			if e.Primary.Specialist != o.first || e.Shadow.Specialist != o.second ||
				e.Cause != calibration.ByThreshold || e.Threshold != threshold ||
				*e.Confidence != o.p[o.first] || !sameProbabilities(e.Probabilities, o.p) || !e.Class.Disagrees() ||
				e.Receipt != resp.Header.Get("X-Receipt-Id") {
				t.Errorf("%q: %.40s left %+v, the model says %+v", intent, text, e, o)
			}
		}
	}
	if shadowed < 5 || alone < 5 || rejected > len(requests) {
		t.Errorf("%d with a second opinion, %d without, %d of nobody: these requests show too little", shadowed, alone,
			rejected)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

func sameProbabilities(a, b map[string]float64) bool {
	for name, p := range b {
		if a[name] != p {
			return false
		}
	}
	return len(a) == len(b)
}

// MEGA-10: where the configuration says refuse, what belongs to no specialist is answered 422.
func TestWhatTheShippedModelRejectsIsRefusedWhereTheConfigSaysSo(t *testing.T) {
	w, _ := newBuiltinWorld(t, "router.reject=refuse")
	resp, answer := w.Post("/v1/chat/completions",
		asking("Simmer the onions in butter and add the rice, then stir for twenty minutes.", false))
	if resp.StatusCode != 422 || !bytes.Contains(answer, []byte("no_specialist")) {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
	if resp, _ := w.Post("/v1/chat/completions", asking(requests[0], false)); resp.StatusCode != 200 ||
		resp.Header.Get("X-Specialist") != "systems" {
		t.Errorf("status %d from %q", resp.StatusCode, resp.Header.Get("X-Specialist"))
	}
}

// builtinFile is the shipped model as a file.
func builtinFile(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "classifier", "model", "builtin.octet"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "served.octet")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// MEGA-19: an artefact that was trained offline takes the shipped one's place while the gateway runs, shadows included:
// by another path, and at the same path.
//
//nolint:lll // raw text that cannot be broken
func TestAnArtefactThatWasTrainedOfflineTakesOverShadowsToo(t *testing.T) {
	dir := t.TempDir()
	w, file := newBuiltinWorld(t, "router.classifier.model="+builtinFile(t, dir))
	const text = "kernel and crash and socket and frame"
	before, first := w.decision(text), shippedOpinion(t, requests[0])
	if resp, _ := w.Post("/v1/chat/completions", asking(requests[0], false), "X-Intent", "review"); resp.Header.Get("X-Specialist") != first.first {
		t.Fatalf("the shipped one sends it to %q", resp.Header.Get("X-Specialist"))
	}
	cfg := *w.App.Config()
	cfg.Router.Classifier.Model = smallModel(t, dir, "small.octet", "1")
	if err := w.App.Apply(t.Context(), &cfg); err != nil {
		t.Fatal(err)
	}
	if after := w.decision(text); after == before {
		t.Errorf("the decision is still %s", after)
	}
	examples, _, _ := recordsOf(t, file)
	resp, _ := w.Post("/v1/chat/completions", asking(text, false), "X-Intent", "review")
	if resp.Header.Get("X-Specialist") != "systems" || resp.Header.Get("X-Shadow") != "debug" { // it knows no other two
		t.Fatalf("%q, shadow %q", resp.Header.Get("X-Specialist"), resp.Header.Get("X-Shadow"))
	}
	if e := w.example(file, len(examples)+1); e.Shadow.Specialist != "debug" || e.Probabilities["memory"] != 0 {
		t.Errorf("%+v", e)
	}
}

// MEGA-18, MEGA-77: second opinions that differ, verdicts that fail and hundreds of answers change nothing that was
// learnt: the artefact's bytes, every probability, every threshold and knob, and what an engine drafts ahead are what
// they were.
func TestNothingLearnsFromLiveTraffic(t *testing.T) {
	dir := t.TempDir()
	served := builtinFile(t, dir)
	w, file := newBuiltinWorld(t, keyed("router.classifier.model="+served)...)
	w.Key = key
	state := func() string {
		var all strings.Builder
		for _, text := range requests {
			fmt.Fprintln(&all, w.decision(text))
		}
		knobs, _ := json.Marshal(w.App.Knobs().List())
		settings, _ := json.Marshal(w.App.Config())
		raw, err := os.ReadFile(served)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s\n%s\n%x\n", knobs, settings, raw)
		return all.String()
	}
	before := state()
	for i := range 60 {
		resp, _ := w.Post("/v1/chat/completions", asking(requests[i%len(requests)], i%2 == 0), "X-Intent", "review")
		w.Post("/v1/outcomes", fmt.Sprintf(`{"receipt":%q,"kind":"review","pass":%v}`, resp.Header.Get("X-Receipt-Id"),
			i%7 == 0))
	}
	eventually(t, "second opinions that differ", func() bool {
		examples, _, verdicts := recordsOf(t, file)
		return len(examples) >= 20 && len(verdicts) == 60
	})
	if after := state(); after != before {
		t.Error("something has learnt")
	}
	if err := w.App.Knobs().Set(slo.ShadowThreshold+"review", slo.Override{Value: 0, By: "me"}); err != nil {
		t.Fatal(err)
	}
	if state() == before {
		t.Error("what an operator sets does not show: this test sees nothing")
	}
}

// MEGA-15: the counts of all confidences come as often as the configuration says, and not only at an end.
func TestTalliesComeAtTheirInterval(t *testing.T) {
	w, file := newBuiltinWorld(t, "shadow.tally_interval=100ms", "shadow.max_concurrent=0")
	for n := 1; n <= 2; n++ {
		w.Post("/v1/chat/completions", asking(requests[0], false), "X-Intent", "review")
		eventually(t, "a tally", func() bool {
			_, tallies, _ := recordsOf(t, file)
			return len(tallies) == n
		})
	}
	_, tallies, _ := recordsOf(t, file)
	total := uint64(0)
	for _, tally := range tallies {
		for _, n := range tally.Counts {
			total += n
		}
	}
	if total != 2 || tallies[0].Intent != "review" {
		t.Errorf("%+v", tallies)
	}
}

// Where no shadow may wait for its primary's end none is compared, and it is counted; the client's answer is whole.
func TestShadowsThatWaitAreBounded(t *testing.T) {
	w, file := newBuiltinWorld(t, "shadow.max_waiting=0")
	text := requests[14] // the shipped model is far from sure of it
	resp, answer := w.Post("/v1/chat/completions", asking(text, false), "X-Intent", "review")
	shadow := resp.Header.Get("X-Shadow")
	if resp.StatusCode != 200 || shadow == "" {
		t.Fatalf("status %d, shadow %q: %s", resp.StatusCode, shadow, answer)
	}
	eventually(t, "the shadow is dropped", func() bool {
		return w.counted(fmt.Sprintf(`octet_shadows_total{outcome="crowded",specialist=%q} 1`, shadow))
	})
	if examples, _, _ := recordsOf(t, file); len(examples) != 0 {
		t.Errorf("%+v", examples)
	}
}
