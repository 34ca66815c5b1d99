package app_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/app"
	"octet/config"
	"octet/engine/emulator"
	"octet/internal/apptest"
	"octet/routing/plugins"
)

func shaOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// rotatedWorld is under a clock that begins at 2000-01-01.
var rotatedWorld = `
auth:
  anonymous: false
  tenants:
    - {name: acme, keys: [{sha256: ` + shaOf("old") + `, expires: 2000-01-01T00:00:10Z}, {sha256: ` +
	shaOf("new") + `}]}
specialists:
  - name: debug
    tokenizer: builtin
    replicas: [{url: "http://debug-0", name: debug-0, blocks: 512}]
`

// Both keys are good until the old one ends, at its moment and not at a reload; a stream that began before goes on.
func TestAKeyEndsAtItsMomentAndTheNextIsGoodBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, Step: time.Second}})
		b.Serve(rotatedWorld)
		ask := func(key string) outcome { return b.outcome(t.Context(), brief(1), "Authorization", "Bearer "+key) }
		status := func(path, key string) int {
			resp, err := b.Ask(t.Context(), http.MethodGet, "http://data"+path, "", "X-Api-Key", key)
			if err != nil {
				t.Fatal(err)
			}
			whole(t, resp)
			return resp.StatusCode
		}
		time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 0, 9, 9e8, time.UTC)))
		for _, key := range []string{"new", "old"} {
			if n := status("/v1/models", key); n != http.StatusOK {
				t.Errorf("%s: status %d before the end", key, n)
			}
		}
		if o := ask("old"); o.status != http.StatusOK || o.took < time.Second {
			t.Errorf("a request that began before the end: %+v", o)
		}
		if o := ask("old"); o.code != "invalid_api_key" || o.status != http.StatusUnauthorized {
			t.Errorf("after the end: %+v", o)
		}
		if n := status("/v1/usage", "old"); n != http.StatusUnauthorized {
			t.Errorf("usage after the end: status %d", n)
		}
		if o := ask("new"); o.status != http.StatusOK {
			t.Errorf("the next key: %+v", o)
		}
	})
}

// lockedBuffer is what many goroutines write to.
type lockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// logged is a gateway before the engines of another, which logs all that it has to say.
func logged(t *testing.T, cfg *config.Config, w *world, to io.Writer) *world {
	t.Helper()
	data, admin, err := app.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, app.Options{Events: w.Local,
		Log: slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, data, admin) }()
	t.Cleanup(func() {
		stop()
		<-ended
		_ = a.Close()
	})
	return &world{&apptest.World{T: t, App: a, Data: "http://" + data.Addr().String(),
		Admin: "http://" + admin.Addr().String()}}
}

// adminPaths are what operators may read.
var adminPaths = []string{"/admin/state", "/admin/index", "/admin/doctor", "/admin/breakers", "/admin/slo",
	"/admin/knobs", "/admin/calibration", "/metrics", "/readyz", "/ui/"}

// Neither a key nor its hash is anywhere to be read: on the admin listener, in receipts, answers, and the log.
func TestNoKeyAndNoHashIsAnywhereToBeRead(t *testing.T) {
	const secret, ended, wrong = "a-key-that-is-a-secret", "a-key-that-has-ended", "a-key-that-is-wrong"
	w := newWorld(t, smallWorld, smallEngines())
	log := new(lockedBuffer)
	cfg, err := config.Parse("x", fmt.Appendf(nil, smallWorld, w.Engines["debug-0"].URL, w.Engines["debug-1"].URL,
		w.Engines["systems-0"].URL), config.Options{Presets: plugins.Presets(), Sets: append(w.Sets(),
		"auth.tenants[0].name=acme", "auth.tenants[0].keys[0].sha256="+shaOf(secret),
		"auth.tenants[0].keys[1].sha256="+shaOf(ended), "auth.tenants[0].keys[1].expires=2001-01-01",
		"auth.tenants[0].budget.tokens_per_day=100000")})
	if err != nil {
		t.Fatal(err)
	}
	second := logged(t, cfg, w, log)
	var read strings.Builder
	paths := slices.Clone(adminPaths)
	keep := func(resp *http.Response) {
		_ = resp.Header.Write(&read)
		body, _ := io.ReadAll(resp.Body)
		read.Write(body)
	}
	for _, key := range []string{secret, ended, wrong} {
		resp := second.Ask(t.Context(), "/v1/chat/completions", hello, "Authorization", "Bearer "+key, "X-Explain", "1")
		keep(resp)
		if id := resp.Header.Get("X-Receipt-Id"); id != "" {
			paths = append(paths, "/admin/receipts/"+id)
		}
	}
	for _, path := range paths {
		resp, err := http.Get(second.Admin + path)
		if err != nil {
			t.Fatal(err)
		}
		keep(resp)
		resp.Body.Close()
	}
	read.WriteString(log.String())
	for _, key := range []string{secret, ended, wrong} {
		for what, part := range map[string]string{"the key": key, "its hash": shaOf(key), "a part": shaOf(key)[:16]} {
			if strings.Contains(strings.ToLower(read.String()), part) {
				t.Errorf("%s of %q can be read", what, key)
			}
		}
	}
	if !strings.Contains(read.String(), "acme") || log.String() == "" {
		t.Error("nothing was read")
	}
}
