package bearer

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/internal/await"
)

// scripted is a source that a test writes.
type scripted struct {
	text  atomic.Pointer[[]byte] // nil: it is down
	takes time.Duration
	asked atomic.Int32
}

func (s *scripted) every() time.Duration { return 5 * time.Minute }

func (s *scripted) read(ctx context.Context) ([]byte, error) {
	s.asked.Add(1)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if text := s.text.Load(); text != nil {
		return *text, nil
	}
	return nil, errors.New("down")
}

func (s *scripted) serve(text []byte) { s.text.Store(&text) }

// inTime runs a Verifier of a source within a bubble.
func inTime(t *testing.T, s *scripted, f func(t *testing.T, v *Verifier)) {
	issued() // outside of the bubble
	synctest.Test(t, func(t *testing.T) {
		v, err := New(config("https://id.example.com/jwks"), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		v.source = s
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { v.Run(ctx) })
		f(t, v)
		cancel()
		running.Wait()
	})
}

// lasting returns a token with an end that is far.
func lasting(alg string) string {
	return token(alg, with(map[string]any{"exp": noon.Add(1e5 * time.Hour).Unix(), "nbf": nil}))
}

// A thousand requests with a key that is not known have the issuer asked once, and those that wait are answered by what
// it says. Then it is not asked for a while.
func TestAKeyThatIsNotKnownIsAskedForOnce(t *testing.T) {
	s := &scripted{takes: time.Second}
	s.serve(jwksOf(jwkOf("RS256", issued()["RS256"])))
	inTime(t, s, func(t *testing.T, v *Verifier) {
		time.Sleep(time.Minute)
		s.serve(allKeys())
		var taken, refused atomic.Int32
		began := time.Now()
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				switch name, err := v.tells(t, lasting("ES256"), time.Now()); {
				case name == "acme":
					taken.Add(1)
				case errors.Is(err, UnknownKey):
					refused.Add(1)
				}
			})
		}
		all.Wait()
		if g, r := taken.Load(), refused.Load(); g != mostWaiting || g+r != 1000 || s.asked.Load() != 2 {
			t.Errorf("%d good, %d refused, asked %d times", g, r, s.asked.Load())
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("they wait for %v", took)
		}
		junk := sign("EdDSA", `{"alg":"EdDSA","kid":"nobody"}`, good())
		for range 1000 { // in 100 s
			if _, err := v.tells(t, junk, time.Now()); !errors.Is(err, UnknownKey) {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := s.asked.Load(); n > 13 {
			t.Errorf("unknown keys have the issuer asked %d times", n)
		}
	})
}

// While the issuer is down its last good keys serve, with their age; then no token is accepted until it is back.
func TestTheLastGoodKeysServeForATime(t *testing.T) {
	s := &scripted{}
	inTime(t, s, func(t *testing.T, v *Verifier) {
		text := lasting("RS256")
		if _, err := v.tells(t, text, time.Now()); !errors.Is(err, ErrNoKeys) {
			t.Errorf("before the first keys: %v", err)
		}
		s.serve(allKeys())
		time.Sleep(11 * time.Second)
		if _, err := v.tells(t, text, time.Now()); err != nil {
			t.Errorf("an issuer that is down at first is asked again soon: %v", err)
		}
		s.text.Store(nil)
		time.Sleep(23 * time.Hour)
		if name, err := v.tells(t, text, time.Now()); name != "acme" {
			t.Errorf("after 23 hours: %v", err)
		}
		if st := v.State(time.Now()); st.Age < 22*time.Hour || st.Unavailable == nil || st.Lost == 0 || st.Keys != 3 {
			t.Errorf("it does not tell: %+v, age %v, lost %d", st, st.Age, st.Lost)
		}
		time.Sleep(2 * time.Hour)
		if _, err := v.tells(t, text, time.Now()); !errors.Is(err, ErrNoKeys) {
			t.Errorf("after 25 hours: %v", err)
		}
		s.serve([]byte("half of a JW"))
		time.Sleep(time.Minute)
		if _, err := v.tells(t, text, time.Now()); !errors.Is(err, ErrNoKeys) {
			t.Errorf("of half a set: %v", err)
		}
		s.serve(allKeys())
		time.Sleep(11 * time.Second)
		if _, err := v.tells(t, text, time.Now()); err != nil {
			t.Errorf("when it is back: %v", err)
		}
		s.serve(jwksOf(jwkOf("ES256", issued()["ES256"])))
		time.Sleep(5*time.Minute + time.Second)
		if _, err := v.tells(t, text, time.Now()); !errors.Is(err, UnknownKey) {
			t.Errorf("after its key is revoked: %v", err)
		}
	})
}

// What a URL answers is bounded in bytes and time; no redirect is followed, wherever it leads.
func TestAURLThatMisbehavesIsBoundedAndTold(t *testing.T) {
	var reached atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(allKeys()) })
	mux.HandleFunc("/elsewhere", func(w http.ResponseWriter, _ *http.Request) { reached.Store(true) })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		for range 10 << 10 {
			if _, err := w.Write([]byte(strings.Repeat(" ", 1<<10))); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/drips", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
		}
	})
	mux.HandleFunc("/metadata", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/keys", http.StatusFound)
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/heads", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 1<<20))
		_, _ = w.Write(allKeys())
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, want := range map[string]string{"/good": "", "/large": "longer than", "/slow": "exceeded|timeout",
		"/drips": "longer than|exceeded", "/metadata": "169.254.169.254", "/moved": "redirected",
		"/none": "status 404", "/heads": "exceeded"} {
		c := config(server.URL + path)
		c.Timeout = 300 * time.Millisecond
		v, err := New(c, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		v.refresh(t.Context())
		told := v.State(time.Now()).Unavailable
		hits := func(part string) bool { return told != nil && strings.Contains(told.Error(), part) }
		first, second, _ := strings.Cut(want, "|")
		if want == "" && told != nil || want != "" && !hits(first) && (second == "" || !hits(second)) {
			t.Errorf("%s: %v", path, told)
		}
	}
	if reached.Load() {
		t.Error("a redirect is followed")
	}
	v, err := New(config("https://169.254.169.254/keys"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	v.refresh(t.Context())
	if told := v.State(time.Now()).Unavailable; told == nil || !strings.Contains(told.Error(), "link-local") {
		t.Errorf("a link-local address: %v", told)
	}
}

// A file is read again when it changes; half of it, or none, leaves the last good keys.
func TestAFileIsReadAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jwks.json")
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write([]byte("{"))
	if _, err := New(config(path), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("half of a file is taken at the start")
	}
	write(jwksOf(jwkOf("RS256", issued()["RS256"])))
	log := new(lines)
	c := config(path)
	c.UnknownAfter = 100 * time.Millisecond
	v, err := New(c, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { v.Run(ctx) })
	defer running.Wait()
	defer cancel()
	fails := func(want bool) func() bool {
		return func() bool { return (v.State(time.Now()).Unavailable != nil) == want }
	}
	write(allKeys()[:100])
	await.True(t, "half of a file is told", fails(true))
	if name, err := v.tells(t, lasting("RS256"), time.Now()); name != "acme" {
		t.Errorf("the last good keys: %v", err)
	}
	write(allKeys())
	await.True(t, "the whole file is read", fails(false))
	if name, err := v.tells(t, lasting("ES256"), time.Now()); name != "acme" {
		t.Errorf("the new key: %v", err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	await.True(t, "a file that is gone is told", fails(true))
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	await.True(t, "a file that is back is read, be it the same", fails(false))
	if n := strings.Count(log.String(), "last good keys stay"); n != 2 {
		t.Errorf("told %d times:\n%s", n, log.String())
	}
}

// lines is what a log has written.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}
