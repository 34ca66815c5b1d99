package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/app"
	"octet/config"
)

// outsider is a classifier of the operator's own: a server on a real socket, that does what do says.
type outsider struct {
	*httptest.Server
	mu    sync.Mutex
	do    http.HandlerFunc // guarded by mu
	asked int              // likewise
}

func newOutsider(t *testing.T, do http.HandlerFunc) *outsider {
	o := &outsider{do: do}
	o.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.asked++
		now := o.do
		o.mu.Unlock()
		now(w, r)
	}))
	o.Start()
	t.Cleanup(o.Close)
	return o
}

func (o *outsider) does(do http.HandlerFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.do = do
}

func (o *outsider) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

func answers(probabilities string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"probabilities":{%s}}`, probabilities) }
}

const aSystemsText = "Non-blocking sockets on epoll: recv returns EAGAIN though the peer closed the TCP connection."

// route asks the world about a text, and returns what headers and the receipt say of the decision.
func (w *world) classified(text string, headers ...string) (specialist, by, classifier, outage string) {
	w.T.Helper()
	resp, answer := w.Post("/v1/chat/completions",
		fmt.Sprintf(`{"max_tokens":2,"messages":[{"role":"user","content":%q}]}`, text), headers...)
	if resp.StatusCode != http.StatusOK {
		w.T.Fatalf("%d: %s", resp.StatusCode, answer)
	}
	d := w.receipt(resp).Decision
	if d.Classifier != resp.Header.Get("X-Classifier") {
		w.T.Errorf("the receipt says %q, the header %q", d.Classifier, resp.Header.Get("X-Classifier"))
	}
	return resp.Header.Get("X-Specialist"), resp.Header.Get("X-Routed-By"), d.Classifier, d.ClassifierOutage
}

func TestAClassifierOfOnesOwnDecidesAndTheBuiltinOneStandsInForIt(t *testing.T) {
	ends := make(chan struct{})
	o := newOutsider(t, answers(`"debug":0.9,"systems":0.1`))
	t.Cleanup(func() { close(ends) })
	w := newWorld(t, smallWorld, smallEngines(), "router.classifier.timeout=10s",
		"router.classifier.http.url="+o.URL, "router.classifier.http.timeout=1s")
	for _, row := range []struct {
		name                 string
		do                   http.HandlerFunc
		who, by, from, fault string
	}{
		{"it answers", answers(`"debug":0.9,"systems":0.1`), "debug", "classifier", "http", ""},
		{"it rejects", answers(`"reject":1`), "debug", "fallback", "http", ""},
		{"garbage", answers(`"debug"`), "systems", "classifier", "model", "malformed"},
		{"NaN", answers(`"debug":NaN`), "systems", "classifier", "model", "malformed"},
		{"an unknown label", answers(`"nobody":1`), "systems", "classifier", "model", "malformed"},
		{"it answers again", answers(`"debug":1`), "debug", "classifier", "http", ""},
		{"500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "systems", "classifier", "model",
			"status"},
		{"oversize", answers(`"debug":1` + strings.Repeat(" ", 70<<10)), "systems", "classifier", "model",
			"too_large"},
		{"slow", func(http.ResponseWriter, *http.Request) { <-ends }, "systems", "classifier", "model", "timeout"},
	} {
		o.does(row.do)
		who, by, from, fault := w.classified(aSystemsText)
		if who != row.who || by != row.by || from != row.from || fault != row.fault {
			t.Errorf("%s: %s by %s of %s, outage %q", row.name, who, by, from, fault)
		}
	}
	o.does(answers(`"debug":0.75,"systems":0.25`))
	if table := squeezed(w.explained(aSystemsText)); !strings.Contains(table, "classifier http\n") ||
		!strings.Contains(table, "confidence 0.750") {
		t.Errorf("explained:\n%s", table)
	}
	o.CloseClientConnections()
	o.Listener.Close()
	if who, _, from, fault := w.classified(aSystemsText); who != "systems" || from != "model" ||
		fault != "unreachable" {
		t.Errorf("connection refused: %s of %s, outage %q", who, from, fault)
	}
	text := metricsOf(t, w)
	for outcome, n := range map[string]int{"answered": 4, "malformed": 3, "status": 1, "too_large": 1, "timeout": 1,
		"unreachable": 1, "suspended": 0, "abandoned": 0} {
		if line := fmt.Sprintf("octet_classifier_http_total{outcome=%q} %d\n", outcome, n); !strings.Contains(text,
			line) {
			t.Errorf("no %s", line)
		}
	}
	if table := squeezed(w.explained(aSystemsText)); !strings.Contains(table,
		"classifier model the one over HTTP gave no answer: unreachable\n") {
		t.Errorf("explained:\n%s", table)
	}
}

// A request with a deadline waits for the classifier half of its time at most, and has the rest for its answer. Such
// requests do not have the service suspended for others.
func TestADeadlineBoundsTheClassifierOfOnesOwn(t *testing.T) {
	ends := make(chan struct{})
	o := newOutsider(t, func(http.ResponseWriter, *http.Request) { <-ends })
	t.Cleanup(func() { close(ends) })
	w := newWorld(t, smallWorld, smallEngines(), "router.classifier.timeout=10s",
		"router.classifier.http.url="+o.URL)
	for _, header := range []string{"X-Deadline-Ms", "X-TTFT-Deadline-Ms"} {
		for range 4 {
			begun := time.Now()
			who, _, from, fault := w.classified(aSystemsText, header, "1500")
			if took := time.Since(begun); who != "systems" || from != "model" || fault != "abandoned" ||
				took > 1500*time.Millisecond {
				t.Errorf("%s: %s of %s, outage %q, after %v", header, who, from, fault, took)
			}
		}
	}
	o.does(answers(`"debug":1`))
	if who, _, from, fault := w.classified(aSystemsText); who != "debug" || from != "http" {
		t.Errorf("without one: %s of %s, outage %q", who, from, fault)
	}
}

func TestAReloadTakesOverTheClassifierOfOnesOwn(t *testing.T) {
	one, other := newOutsider(t, answers(`"debug":1`)), newOutsider(t, answers(`"Net":1`))
	w := newWorld(t, smallWorld, smallEngines(), "router.classifier.timeout=10s",
		"router.classifier.http.url="+one.URL)
	who, _, from, _ := w.classified(aSystemsText)
	if who != "debug" || from != "http" {
		t.Fatalf("%s of %s", who, from)
	}
	cfg := *w.App.Config()
	cfg.Router.Classifier.HTTP.URL = other.URL
	cfg.Router.Classifier.HTTP.Labels = map[string]string{"Net": "systems"}
	if err := w.App.Apply(t.Context(), &cfg); err != nil {
		t.Fatal(err)
	}
	if who, _, from, _ := w.classified(aSystemsText); who != "systems" || from != "http" || other.count() != 1 {
		t.Fatalf("another one: %s of %s", who, from)
	}
	broken := cfg
	broken.Router.Classifier.HTTP.Labels = map[string]string{"Net": "nobody"}
	if err := w.App.Apply(t.Context(), &broken); !errors.Is(err, app.ErrConfig) {
		t.Fatalf("a label that leads nowhere: %v", err)
	}
	if who, _, _, _ := w.classified(aSystemsText); who != "systems" {
		t.Fatalf("the last good one stays: %s", who)
	}
	none := cfg
	none.Router.Classifier.HTTP = config.ClassifierHTTP{}
	if err := w.App.Apply(t.Context(), &none); err != nil {
		t.Fatal(err)
	}
	if who, _, from, _ := w.classified(aSystemsText); who != "systems" || from != "" || other.count() != 2 {
		t.Fatalf("without one: %s of %q", who, from)
	}
}

// The breaker outlives a reload that changes nothing of the service.
func TestAReloadDoesNotForgetThatTheServiceFails(t *testing.T) {
	o := newOutsider(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	w := newWorld(t, smallWorld, smallEngines(), "router.classifier.timeout=10s",
		"router.classifier.http.url="+o.URL)
	for range 5 {
		w.classified(aSystemsText)
	}
	cfg := *w.App.Config()
	if err := w.App.Apply(t.Context(), &cfg); err != nil {
		t.Fatal(err)
	}
	if _, _, _, fault := w.classified(aSystemsText); fault != "suspended" || o.count() != 5 {
		t.Errorf("outage %q, asked %d times", fault, o.count())
	}
}

func TestTheServiceIsToldTheQuestionAloneAndItsKey(t *testing.T) {
	var said map[string]any
	var head http.Header
	o := newOutsider(t, func(w http.ResponseWriter, r *http.Request) {
		head = r.Header.Clone()
		_ = json.NewDecoder(r.Body).Decode(&said)
		answers(`"debug":1`)(w, r)
	})
	w := newWorld(t, smallWorld, smallEngines(), "router.classifier.timeout=10s",
		"router.classifier.http.url="+o.URL, "router.classifier.http.api_key=sesame")
	resp, _ := w.Post("/v1/chat/completions", `{"max_tokens":2,"messages":[
		{"role":"system","content":"You are the assistant of the company ACME and keep its secrets."},
		{"role":"user","content":"a first question that is long enough to be read by itself, with what belongs to it"},
		{"role":"assistant","content":"an answer"},
		{"role":"user","content":"`+aSystemsText+`"}]}`, "X-Session-Id", "mine", "X-Request-Id", "mine-too")
	if resp.StatusCode != http.StatusOK || said["text"] != aSystemsText || len(said) != 2 {
		t.Errorf("%d: %v", resp.StatusCode, said)
	}
	if head.Get("Authorization") != "Bearer sesame" || strings.Contains(fmt.Sprint(head), "mine") {
		t.Errorf("its head: %v", head)
	}
}

func TestAClassifierOfOnesOwnThatDoesNotFitIsAFaultOfTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "octet.yaml")
	for _, row := range []struct{ http, path, code string }{
		{"url: nowhere", "router.classifier.http.url", config.CodeBadURL},
		{`url: "http://169.254.169.254/"`, "router.classifier.http.url", config.CodeBadURL},
		{`url: "http://a", timeout: 20s`, "router.classifier.http.timeout", config.CodeOutOfRange},
		{`url: "http://a", excerpt: 1`, "router.classifier.http.excerpt", config.CodeOutOfRange},
		{`url: "http://a", labels: {X: nobody}`, "router.classifier.http.labels.X", config.CodeUnknownName},
		{`url: "http://a", labels: {reject: coder}`, "router.classifier.http.labels", config.CodeReservedName},
		{`labels: {X: coder}`, "router.classifier.http.url", config.CodeMissing},
		{`url: "http://a", model: x`, "router.classifier.http.model", config.CodeUnknownKey},
		{`url: "http://a/classify", labels: {X: coder}, api_key: k, timeout: 20ms, excerpt: 1KiB`, "", ""},
	} {
		yaml := fmt.Sprintf(foreignEnsemble, "http: {"+row.http+"}")
		if err := os.WriteFile(file, []byte(yaml), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := app.Source{Path: file}.Load()
		var faults *config.Faults
		if errors.As(err, &faults); row.path == "" && err != nil || row.path != "" &&
			(faults == nil || faults.List[0].Path != row.path || faults.List[0].Code != row.code) {
			t.Errorf("%s: %v", row.http, err)
		}
	}
}
