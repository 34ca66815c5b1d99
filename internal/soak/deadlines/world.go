package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"octet/engine/emulator"
	"octet/internal/program"
)

// world is the gateway's process, and engines in this one. Every engine can be reached at two addresses, so that a
// reload that names the other one moves it to another slot.
type world struct {
	gateway     *program.Program
	file        string
	data, admin string // host:port
	engines     []*engine
	stop        context.CancelFunc // of the engines

	calm, whole, typed, cut, hung, reloaded atomic.Int64
	usual                                   atomic.Int64 // ns: deadlines lie about it

	mu         sync.Mutex
	violated   int      // guarded by mu
	violations []string // the first of them; guarded by mu
}

// engine is an emulated engine of one specialist.
type engine struct {
	model string
	urls  [2]string
}

// models are the specialists, of two engines each.
var models = [...]string{"alpha", "beta"}

func open(binary, dir string) (*world, error) {
	ctx, stop := context.WithCancel(context.Background())
	w := &world{file: filepath.Join(dir, "octet.yaml"), stop: stop}
	for i := range 2 * len(models) {
		e, err := start(ctx, fmt.Sprint("engine-", i), models[i/2])
		if err != nil {
			return w, err
		}
		w.engines = append(w.engines, e)
	}
	if err := os.WriteFile(w.file, []byte(w.configuration(0)), 0o600); err != nil {
		return w, err
	}
	var err error
	if w.gateway, err = program.Start(binary, "serve", "--config", w.file); err != nil {
		return w, err
	}
	at, err := w.gateway.Await(`msg=serving data=(\S+) admin=(\S+)`, 30*time.Second)
	if err != nil {
		return w, err
	}
	w.data, w.admin = at[1], at[2]
	return w, nil
}

func (w *world) close() {
	if w.gateway != nil {
		w.gateway.Kill()
	}
	w.stop()
}

// start runs an engine on two ports until ctx ends. Its answer to request R is ⟦R:0⟧⟦R:1⟧ and so on.
func start(ctx context.Context, name, model string) (*engine, error) {
	emulated, err := emulator.New(emulator.Config{Name: name, Model: model, Blocks: 4096, Step: time.Millisecond,
		PrefillTPS: 1e6, MaxRunning: 256})
	if err != nil {
		return nil, err
	}
	go func() { _ = emulated.Run(ctx) }() // its end is ctx's
	e := &engine{model: model}
	for i := range e.urls {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		server := &http.Server{Handler: emulated.Handler()}
		go func() { _ = server.Serve(l) }() // likewise
		context.AfterFunc(ctx, func() { _ = server.Close() })
		e.urls[i] = "http://" + l.Addr().String()
	}
	return e, nil
}

// configuration is the nth: it names every engine by its one address or by the other.
func (w *world) configuration(n int) string {
	var b strings.Builder
	b.WriteString(
		"listen: {data: 127.0.0.1:0, admin: 127.0.0.1:0}\nauth: {anonymous: true}\nfleet: {probe_interval: " +
			"500ms}\nspecialists:\n")
	for _, model := range models {
		fmt.Fprintf(
			&b,
			"  - name: %s\n    tokenizer: builtin\n    scheduler: {max_running: 200, max_waiting: 1000}\n    "+
				"replicas:\n", model)
		for _, e := range w.engines {
			if e.model == model {
				fmt.Fprintf(&b, "      - {url: %q, engine: vllm, blocks: 4096}\n", e.urls[n%2])
			}
		}
	}
	return b.String()
}

// reloadOften brings one configuration after the other in force.
func (w *world) reloadOften(ctx context.Context, every time.Duration, most int) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 1; n <= most; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.reload(ctx, n); err != nil && ctx.Err() == nil {
			w.violation("reload %d: %v", n, err)
			continue
		}
		w.reloaded.Add(1)
	}
}

func (w *world) reload(ctx context.Context, n int) error {
	next := w.file + ".next"
	if err := os.WriteFile(next, []byte(w.configuration(n)), 0o600); err != nil {
		return err
	}
	if err := os.Rename(next, w.file); err != nil {
		return err
	}
	reload := "http://" + w.admin + "/admin/reload"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, reload, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

// mostViolations are kept in words.
const mostViolations = 20

func (w *world) violation(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violated++
	if text := fmt.Sprintf(format, args...); len(w.violations) < mostViolations {
		w.violations = append(w.violations, text)
		fmt.Println("VIOLATION:", text)
	}
}
