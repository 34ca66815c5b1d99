package app_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octet/app"
)

// startFile is a world whose configuration is a file.
type startFile struct {
	*world
	log   *lockedBuffer
	path  string
	text  string // of the file, before what is changed
	heard int    // of the log
}

// newStartFile returns a world that starts with these limits.
func newStartFile(t *testing.T, limits string) *startFile {
	t.Helper()
	first := newWorld(t, smallWorld, smallEngines())
	w := &startFile{log: new(lockedBuffer), path: filepath.Join(t.TempDir(), "octet.yaml"),
		text: fmt.Sprintf(smallWorld, first.Engines["debug-0"].URL, first.Engines["debug-1"].URL,
			first.Engines["systems-0"].URL)}
	w.write(t, limits, "")
	from := app.Source{Path: w.path, Sets: first.Sets()}
	cfg, err := from.Load()
	if err != nil {
		t.Fatal(err)
	}
	to := slog.New(slog.NewTextHandler(w.log, nil))
	w.world = &world{first.With(cfg, app.Options{Log: to})}
	w.App.Source.Path, w.App.Source.Sets = from.Path, from.Sets // from now on: no change of the file reloads by itself
	return w
}

// write writes the file with these limits, and further sections.
func (w *startFile) write(t *testing.T, limits, sections string) {
	t.Helper()
	text := strings.Replace(w.text, "limits: {", "limits: {"+limits, 1) + sections
	if err := os.WriteFile(w.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reloaded reloads the file with these limits, and further sections, and returns what is said to wait for a start.
func (w *startFile) reloaded(t *testing.T, limits, sections string) (waiting []string) {
	t.Helper()
	w.write(t, limits, sections)
	if err := w.App.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	said := w.log.String()[w.heard:]
	w.heard += len(said)
	for line := range strings.Lines(said) {
		if _, section, ok := strings.Cut(line, "takes effect at the next start only\" section="); ok {
			waiting = append(waiting, strings.TrimSpace(section))
		}
	}
	return waiting
}

// A reload says of each limit that the listeners have from the start that it waits for the next one, and of no other.
func TestAReloadSaysWhichLimitsWaitForAStart(t *testing.T) {
	w := newStartFile(t, "")
	for _, c := range []struct{ limits, waits string }{
		{"header_fields: 300, ", "limits.header_fields"},
		{"header_timeout: 5s, ", "limits.header_timeout"},
		{"keepalive_timeout: 5s, ", "limits.keepalive_timeout"},
		{"handshakes: 5, ", "limits.handshakes"},
		{"header_bytes: 65KiB, ", "limits.header_bytes"}, // servers take 64KiB
		{"header_bytes: 64KiB, ", ""},
		{"header_bytes: 1KiB, ", ""},
		{"connections: 5, connections_per_address: 5, ", ""},
		{"write_timeout: 5s, max_streams: 5, ", ""},
	} {
		if said := strings.Join(w.reloaded(t, c.limits, ""), " "); said != c.waits {
			t.Errorf("%s %q waits, not %q", c.limits, said, c.waits)
		}
		w.reloaded(t, "", "")
	}
	large := strings.Repeat("x", 50<<10) // more than at the start
	for limits, want := range map[string]int{"": http.StatusRequestHeaderFieldsTooLarge,
		"header_bytes: 64KiB, ": http.StatusOK} {
		w.reloaded(t, limits, "")
		if resp, _ := w.Post("/v1/chat/completions", hello, "X-Large", large); resp.StatusCode != want {
			t.Errorf("%s status %d", limits, resp.StatusCode)
		}
	}
}

// What waits for the next start is said by every reload until it is taken back, and taking it back waits for nothing.
func TestAReloadSaysWhatWaitsForAStartUntilItIsTakenBack(t *testing.T) {
	w := newStartFile(t, "")
	const seed, admin = "hash_seed: 7\n", "admin: {pprof: true}\n"
	for i, c := range []struct{ sections, waits string }{
		{"", ""},
		{seed, "hash_seed"},
		{seed, "hash_seed"}, // it is not in force yet
		{seed + admin, "admin hash_seed"},
		{admin, "admin"}, // the seed of the start again
		{"", ""},
	} {
		if said := strings.Join(w.reloaded(t, "", c.sections), " "); said != c.waits {
			t.Errorf("reload %d: %q waits, not %q", i, said, c.waits)
		}
	}
}
