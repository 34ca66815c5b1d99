package emulator

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An engine that sleeps refuses requests and has an empty cache; waking takes as long as its model loads, once for all
// that ask.
func TestAnEngineSleepsAndWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New(Config{LoadTime: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = e.Run(t.Context()) }()
		ask := func(method, path, body string) (int, string) {
			w := httptest.NewRecorder()
			e.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
			return w.Code, w.Body.String()
		}
		want := func(path string, status int, words string) {
			t.Helper()
			method, body := http.MethodGet, ""
			if path == "/v1/completions" {
				method, body = http.MethodPost, `{"prompt":"a b c","max_tokens":2}`
			}
			if got, text := ask(method, path, body); got != status || !strings.Contains(text, words) {
				t.Errorf("%s: status %d, %s, want %d, %s", path, got, text, status, words)
			}
		}
		want("/is_sleeping", 200, "false")
		want("/v1/completions", 200, "choices")
		if status, text := ask(http.MethodPost, "/sleep?level=1", ""); status != 200 {
			t.Fatal(status, text)
		}
		want("/is_sleeping", 200, "true")
		want("/health", 200, "")
		want("/v1/completions", 503, "asleep")
		began, woken := time.Now(), make(chan int, 2)
		for range cap(woken) {
			go func() {
				status, _ := ask(http.MethodPost, "/wake_up", "")
				woken <- status
			}()
		}
		time.Sleep(10 * time.Second)
		want("/is_sleeping", 200, "true")
		want("/v1/completions", 503, "Loading model")
		if a, b := <-woken, <-woken; a != 200 || b != 200 || time.Since(began) != 20*time.Second {
			t.Errorf("woken with %d and %d after %v", a, b, time.Since(began))
		}
		want("/is_sleeping", 200, "false")
		want("/v1/completions", 200, "choices")
		if sleeps, wakings := e.Sleeps(); sleeps != 1 || wakings != 1 {
			t.Errorf("slept %d times, woken %d times", sleeps, wakings)
		}
	})
}
