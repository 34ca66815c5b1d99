package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"octet/classifier"
	"octet/classifier/remote"
)

var specialists = []string{"algo", "debug", "stl"}

// bound returns what asks url about the specialists; its label Bugs is debug's.
func bound(t testing.TB, url string, timeout time.Duration) *remote.Classifier {
	t.Helper()
	s, err := remote.NewService(remote.Config{URL: url, APIKey: "sesame", Timeout: timeout, Excerpt: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c, err := s.Bind(specialists, map[string]string{"Bugs": "debug"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve returns the URL of a server that answers with handle.
func serve(t testing.TB, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.URL
}

func says(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }
}

func TestAnAnswerIsADistributionOverTheSpecialists(t *testing.T) {
	for answer, want := range map[string][4]float64{
		`{"probabilities":{"algo":0.2,"Bugs":0.5,"stl":0.2,"reject":0.1}}`:          {0.2, 0.5, 0.2, 0.1},
		`{"probabilities":{"ALGO":0.75,"bugs":0.25}}`:                               {0.75, 0.25, 0, 0},
		`{"model":"mine","probabilities":{"algo":1},"took":{"ms":[1]}}`:             {1, 0, 0, 0},
		`{"probabilities":{"Reject":1}}`:                                            {0, 0, 0, 1},
		`{"probabilities":{"algo":0.333,"Bugs":0.333,"stl":0.333}}`:                 {1.0 / 3, 1.0 / 3, 1.0 / 3, 0},
		" {\"probabilities\" : {\"algo\": 1e0, \"Bugs\": 0, \"stl\": 0.000e-7}}\n ": {1, 0, 0, 0},
	} {
		out := []float64{9, 9, 9}
		reject, err := bound(t, serve(t, says(answer)), time.Minute).Ask(t.Context(), []byte("text"), out)
		if err != nil {
			t.Errorf("%s: %v", answer, err)
			continue
		}
		for i, got := range append(out, reject) {
			if math.Abs(got-want[i]) > 1e-12 {
				t.Errorf("%s: %v and %v, want %v", answer, out, reject, want)
			}
		}
	}
}

func TestWhatIsNoDistributionIsOneTypedOutage(t *testing.T) {
	const big = 65 << 10
	for name, row := range map[string]struct {
		handle http.HandlerFunc
		want   classifier.Outage
	}{
		"nothing":        {says(""), classifier.OutageMalformed},
		"garbage":        {says("<html>"), classifier.OutageMalformed},
		"no object":      {says(`[0.5,0.5]`), classifier.OutageMalformed},
		"no member":      {says(`{"probability":{"algo":1}}`), classifier.OutageMalformed},
		"null":           {says(`{"probabilities":null}`), classifier.OutageMalformed},
		"none":           {says(`{"probabilities":{}}`), classifier.OutageMalformed},
		"a list":         {says(`{"probabilities":[1]}`), classifier.OutageMalformed},
		"a word":         {says(`{"probabilities":{"algo":"1"}}`), classifier.OutageMalformed},
		"null in it":     {says(`{"probabilities":{"algo":1,"stl":null}}`), classifier.OutageMalformed},
		"an object":      {says(`{"probabilities":{"algo":{"p":1}}}`), classifier.OutageMalformed},
		"NaN":            {says(`{"probabilities":{"algo":NaN}}`), classifier.OutageMalformed},
		"infinite":       {says(`{"probabilities":{"algo":1e999}}`), classifier.OutageMalformed},
		"a sum too big":  {says(`{"probabilities":{"algo":1e308,"stl":1e308}}`), classifier.OutageMalformed},
		"below 0":        {says(`{"probabilities":{"algo":1.5,"stl":-0.5}}`), classifier.OutageMalformed},
		"a short sum":    {says(`{"probabilities":{"algo":0.5,"stl":0.4}}`), classifier.OutageMalformed},
		"a long sum":     {says(`{"probabilities":{"algo":0.9,"stl":0.9}}`), classifier.OutageMalformed},
		"unknown label":  {says(`{"probabilities":{"algo":0.5,"rust":0.5}}`), classifier.OutageMalformed},
		"not by name":    {says(`{"probabilities":{"debug":1}}`), classifier.OutageMalformed}, // its label is Bugs
		"a label twice":  {says(`{"probabilities":{"algo":0.5,"algo":0.5}}`), classifier.OutageMalformed},
		"members twice":  {says(`{"probabilities":{"algo":1},"probabilities":{"stl":1}}`), classifier.OutageMalformed},
		"more behind it": {says(`{"probabilities":{"algo":1}} {}`), classifier.OutageMalformed},
		"oversize":       {says(`{"probabilities":{"algo":1}}` + strings.Repeat(" ", big)), classifier.OutageTooLarge},
		"status 500": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
			classifier.OutageStatus},
		"status 204": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
			classifier.OutageStatus},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" { // a redirect that is followed would be answered well
				says(`{"probabilities":{"algo":1}}`)(w, r)
				return
			}
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, classifier.OutageStatus},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"probabilities":{"algo":1}}`)
		}, classifier.OutageUnreachable},
	} {
		_, err := bound(t, serve(t, row.handle), time.Minute).Ask(t.Context(), []byte("secret text"),
			make([]float64, 3))
		var got classifier.Outage
		if !errors.As(err, &got) || got != row.want || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
}

func TestNoServerIsUnreachableAndASlowOneTimesOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + l.Addr().String()
	_ = l.Close()
	if _, err := bound(t, gone, time.Minute).Ask(t.Context(), nil, make([]float64, 3)); !errors.Is(err,
		classifier.OutageUnreachable) {
		t.Errorf("a closed port: %v", err)
	}
	ends := make(chan struct{})
	t.Cleanup(func() { close(ends) })
	for name, handle := range map[string]http.HandlerFunc{
		"no head": func(http.ResponseWriter, *http.Request) { <-ends },
		"no body": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"proba`)
			w.(http.Flusher).Flush()
			<-ends
		},
	} {
		slow := httptest.NewServer(handle)
		t.Cleanup(slow.CloseClientConnections) // before its Close, which waits for them
		begun := time.Now()
		_, err := bound(t, slow.URL, 30*time.Millisecond).Ask(t.Context(), nil, make([]float64, 3))
		if took := time.Since(begun); !errors.Is(err, classifier.OutageTimeout) || took > 10*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
		left, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, err = bound(t, slow.URL, time.Minute).Ask(left, nil, make([]float64, 3))
		if cancel(); !errors.Is(err, classifier.OutageAbandoned) {
			t.Errorf("%s, of a request that ends: %v", name, err)
		}
	}
}

func TestTheQuestionIsAnExcerptAndTheLabelsAndNothingElse(t *testing.T) {
	var asked struct {
		Text   string
		Labels []string
	}
	var head http.Header
	c := bound(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		head = r.Header.Clone()
		body, _ := io.ReadAll(r.Body)
		var members map[string]any
		if json.Unmarshal(body, &members); len(members) != 2 || json.Unmarshal(body, &asked) != nil {
			t.Errorf("the question: %s", body)
		}
		says(`{"probabilities":{"algo":1}}`)(w, r)
	}), time.Minute)
	ask := func(text string) string {
		t.Helper()
		if _, err := c.Ask(t.Context(), []byte(text), make([]float64, 3)); err != nil {
			t.Fatal(err)
		}
		return asked.Text
	}
	if got := ask("why is a<b && c>d?"); got != "why is a<b && c>d?" {
		t.Errorf("a short text is sent as %q", got)
	}
	if want := []string{"Bugs", "algo", "stl", "reject"}; !slices.Equal(asked.Labels, want) {
		t.Errorf("the labels are %q, want %q", asked.Labels, want)
	}
	if head.Get("Authorization") != "Bearer sesame" || head.Get("Content-Type") != "application/json" {
		t.Errorf("the head: %v", head)
	}
	for _, unit := range []string{"x", "ä", "語", "🙂"} {
		long := "begin" + strings.Repeat(unit, 500) + "end"
		if got := ask(long); len(got) > 100 || len(got) < 90 || !strings.HasPrefix(got, "begin") ||
			!strings.HasSuffix(got, "end") || strings.Contains(got, "\ufffd") {
			t.Errorf("%d bytes of %q: %q", len(got), unit, got)
		}
	}
}

func TestAConnectionIsUsedAgain(t *testing.T) {
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(says(`{"probabilities":{"algo":1}}`))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := bound(t, s.URL, time.Minute)
	for range 20 {
		if _, err := c.Ask(t.Context(), []byte("text"), make([]float64, 3)); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 20 questions, one after the other", n)
	}
}

func TestAServiceThatFailsIsNotAskedForAWhile(t *testing.T) {
	var asked atomic.Int32
	var good atomic.Bool
	c := bound(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); !good.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		says(`{"probabilities":{"algo":1}}`)(w, r)
	}), time.Minute)
	ask := func(ctx context.Context) error {
		_, err := c.Ask(ctx, []byte("text"), make([]float64, 3))
		return err
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for range 20 { // requests that have ended say nothing of the service
		if err := ask(ended); !errors.Is(err, classifier.OutageAbandoned) {
			t.Fatal(err)
		}
	}
	before := asked.Load()
	for i := range 5 {
		if err := ask(t.Context()); !errors.Is(err, classifier.OutageStatus) {
			t.Fatalf("failure %d: %v", i, err)
		}
	}
	good.Store(true)
	for range 20 {
		if err := ask(t.Context()); !errors.Is(err, classifier.OutageSuspended) {
			t.Fatalf("after five failures: %v", err)
		}
	}
	if n := asked.Load() - before; n != 5 {
		t.Errorf("asked %d times", n)
	}
	time.Sleep(remote.SuspendedFor + 100*time.Millisecond) // real time: of the breaker
	for i := range 3 {
		if err := ask(t.Context()); err != nil {
			t.Errorf("%d after the suspension: %v", i, err)
		}
	}
}

func TestLabelsThatDoNotFitAreRefused(t *testing.T) {
	s, err := remote.NewService(remote.Config{URL: "http://127.0.0.1:1", Timeout: time.Second, Excerpt: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range []map[string]string{{"X": "nobody"}, {"": "algo"}, {"reject": "algo"},
		{"algo": "debug"}} { // algo itself would have no label
		if _, err := s.Bind(specialists, named); !errors.Is(err, remote.ErrLabels) {
			t.Errorf("%v: %v", named, err)
		}
	}
	if _, err := s.Bind(specialists, map[string]string{"algo": "debug", "debug": "algo"}); err != nil {
		t.Errorf("two labels that change places: %v", err)
	}
	for i, c := range []remote.Config{{Timeout: 1, Excerpt: 1}, {URL: "x", Excerpt: 1}, {URL: "x", Timeout: 1}} {
		if _, err := remote.NewService(c); !errors.Is(err, remote.ErrConfig) {
			t.Errorf("config %d: %v", i, err)
		}
	}
}

// Questions of many requests at once: each gets its own answer.
func TestManyQuestionsAtOnceGetTheirOwnAnswers(t *testing.T) {
	c := bound(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Text string }
		_ = json.NewDecoder(r.Body).Decode(&q)
		fmt.Fprintf(w, `{"probabilities":{%q:1}}`, q.Text)
	}), time.Minute)
	done := make(chan error)
	for i := range 100 {
		go func() {
			at, out := i%2*2, make([]float64, 3)
			_, err := c.Ask(t.Context(), []byte(specialists[at]), out)
			if err == nil && out[at] != 1 {
				err = fmt.Errorf("%s: %v", specialists[at], out)
			}
			done <- err
		}()
	}
	for range 100 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
