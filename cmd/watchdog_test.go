package cmd

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"octet/app"
	"octet/internal/await"
)

// The questions by which a gateway asks itself for a sign of life are no clients' handshakes, whatever a listener
// demands; a client's own failures count as before.
func TestTheWatchdogsQuestionsAreNoClientsHandshakes(t *testing.T) {
	const asked = 5
	for _, demanding := range []bool{false, true} {
		g := beginSecure(t, demanding)
		for range asked {
			within, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			if err := alive(within, g.watched...); err != nil {
				t.Errorf("demanding %v: %v", demanding, err)
			}
			cancel()
		}
		for _, l := range g.watched { // a client that speaks nothing that fits
			c, err := tls.Dial("tcp", l.String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"smtp"}})
			if err == nil {
				c.Close()
				t.Error("a client is let in whose protocol is not spoken")
			}
		}
		metrics := func() string {
			w := httptest.NewRecorder()
			g.Server().AdminHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/metrics", nil))
			return w.Body.String()
		}
		none := regexp.MustCompile(`octet_connections\{listener="(data|admin)"\} 0\n`)
		await.True(t, "all connections have ended", func() bool { return len(none.FindAllString(metrics(), -1)) == 2 })
		want := regexp.MustCompile(`result="failed"\} 1$|result="(done|late|crowded|plain)"\} 0$`)
		for _, found := range regexp.MustCompile(`octet_tls_handshakes_total\{.*\} \d+`).FindAllString(metrics(), -1) {
			if !want.MatchString(found) {
				t.Errorf("demanding %v: %s", demanding, found)
			}
		}
	}
}

// beginSecure returns a gateway that serves TLS on both listeners as `octet serve` does.
func beginSecure(t *testing.T, demanding bool) *begun {
	t.Helper()
	w := newSecureWorld(t, demanding)
	cfg := *w.App.Config()
	cfg.Listen.Data, cfg.Listen.Admin = "127.0.0.1:0", "127.0.0.1:0"
	g, err := begin(t.Context(), &cfg, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(ctx, g.data, g.admin) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}
