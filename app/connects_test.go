package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"octet/app"
	"octet/config"
	"octet/gateway/api"
	"octet/routing/plugins"
)

// heardLog is what a gateway logs. Safe for concurrent use.
type heardLog struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

// Write implements io.Writer.
func (l *heardLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// with returns how many lines have a text.
func (l *heardLog) with(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func connectsOf(t *testing.T, admin string) (told api.Connects) {
	t.Helper()
	resp, err := http.Get(admin + "/admin/findings")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v: %s", resp.StatusCode, err, body)
	}
	if err := json.Unmarshal(body, &told); err != nil {
		t.Fatal(err)
	}
	return told
}

// Issue 22: what doctor finds without a request is logged once a check and replica, with the cure, however often the
// configuration is made anew, and stands at the admin listener for as long as it is so.
func TestWhatIsFoundAtConnectIsLoggedOnce(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	yaml := func(blocks string) string {
		return strings.NewReplacer("URL0", w.Engines["debug-0"].URL, "URL1", w.Engines["debug-1"].URL, "BLOCKS",
			blocks).Replace(`
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
fleet: {probe_interval: 20ms}
specialists:
  - name: debug
    block_size: 16
    replicas: [{url: URL0, engine: vllm, blocks: BLOCKS}, {url: URL1, engine: vllm, blocks: 512}]
`)
	}
	parsed := func(blocks string) *config.Config {
		cfg, err := config.Parse("w.yaml", []byte(yaml(blocks)), config.Options{Presets: plugins.Presets()})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	log := new(heardLog)
	data, admin, err := app.Listen(parsed("9999"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), parsed("9999"), app.Options{Log: slog.New(slog.NewTextHandler(log, nil)),
		Events: w.Local})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = a.Serve(t.Context(), data, admin) }()
	t.Cleanup(func() { _ = a.Close() })
	url := "http://" + admin.Addr().String()
	eventually(t, "both are asked", func() bool { return connectsOf(t, url).Asked == 2 })
	told := connectsOf(t, url)
	if len(told.Findings) != 1 || told.Findings[0].Check != "pool" || told.Findings[0].Replica != "debug-0" ||
		!strings.Contains(told.Findings[0].Cure, "specialists[0].replicas[0].blocks: 512") {
		t.Fatalf("found: %+v", told)
	}
	for range 3 { // generations in which nothing has changed, and one in which the limits have
		if err := a.Apply(t.Context(), parsed("9998")); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the other number is told", func() bool {
		f := connectsOf(t, url).Findings
		return len(f) == 1 && strings.Contains(f[0].Detail, "9998")
	})
	if n := log.with("doctor: "); n != 1 || log.with("cure=") != 1 {
		t.Errorf("%d lines", n)
	}
	if err := a.Apply(t.Context(), parsed("512")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is found any more", func() bool { return len(connectsOf(t, url).Findings) == 0 })
	if err := a.Apply(t.Context(), parsed("9999")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is logged anew", func() bool { return log.with("doctor: ") == 2 })
}
