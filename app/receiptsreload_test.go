package app_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"octet/app"
	"octet/gateway/receipt"
)

// receipts.file is read at the start only. A reload that adds it, names another, or takes it away, with requests under
// way, says so, and changes nothing: what was written goes on to be, no receipt is lost, and no other file is made.
func TestAReloadOfTheFileOfReceiptsSaysThatItWaitsForAStart(t *testing.T) {
	dir := t.TempDir()
	at, other := filepath.Join(dir, "receipts"), filepath.Join(dir, "other")
	filed := "receipts: {file: " + at + ", file_bytes: 4MiB}"
	for name, c := range map[string]struct{ before, after string }{
		"added":      {"", filed},
		"another":    {filed, "receipts: {file: " + other + "}"},
		"larger":     {filed, strings.Replace(filed, "4MiB", "8MiB", 1)},
		"taken away": {filed, ""},
		"as it was":  {filed, filed},
	} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(at) // of the row before
			w, log, write := newFiled(t, c.before)
			old := w.filed(c.before != "", "before")
			end := w.busyWith(hello, 4, 30)
			write(c.after)
			if err := w.App.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			end() // and what was asked first is no longer in memory
			said := strings.Contains(log.String(), "takes effect at the next start only\" section=receipts\n")
			if said != (c.before != c.after) {
				t.Errorf("said %v: %s", said, log)
			}
			w.filed(c.before != "", "after")
			var kept receipt.Receipt
			if status := w.Get(w.Admin+"/admin/receipts/"+old, &kept); c.before != "" && status != http.StatusOK {
				t.Errorf("what was written is not found: status %d", status)
			}
			eventually(t, "nothing is held", w.Quiet)
			if _, err := os.Stat(other); err == nil || c.before == "" && fileThere(at) {
				t.Error("a file was made that is not in force")
			}
			if m := w.Metrics(); strings.Contains(m, `octet_receipts_filed_total{outcome="failed"} 1`) {
				t.Error("a receipt was not written")
			}
		})
	}
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// newFiled returns a world whose configuration is a file, with a section of it that write replaces.
func newFiled(t *testing.T, section string) (w *world, log *lockedBuffer, write func(section string)) {
	t.Helper()
	first := newWorld(t, smallWorld, smallEngines())
	path := filepath.Join(t.TempDir(), "octet.yaml")
	write = func(section string) {
		text := fmt.Sprintf(smallWorld, first.Engines["debug-0"].URL, first.Engines["debug-1"].URL,
			first.Engines["systems-0"].URL) + section + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(section)
	source := app.Source{Path: path, Sets: append(first.Sets(), "limits.receipts=20")}
	cfg, err := source.Load()
	if err != nil {
		t.Fatal(err)
	}
	log = new(lockedBuffer)
	to := slog.New(slog.NewTextHandler(log, nil))
	return &world{first.With(cfg, app.Options{Log: to, Source: source})}, log, write
}

// busyWith has clients ask again and again until end is called, and each so many times at least.
func (w *world) busyWith(body string, clients, least int) (end func()) {
	var asking sync.WaitGroup
	over := make(chan struct{})
	for range clients {
		asking.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					if n >= least {
						return
					}
				default:
				}
				if resp, answer := w.Post("/v1/chat/completions", body); resp.StatusCode != http.StatusOK {
					w.T.Errorf("status %d: %s", resp.StatusCode, answer)
					return
				}
			}
		})
	}
	return func() {
		close(over)
		asking.Wait()
	}
}

// filed asks, and returns the receipt's id once it is in the file, if there is one.
func (w *world) filed(file bool, what string) string {
	w.T.Helper()
	count := func() string { return between(w.Metrics(), `octet_receipts_filed_total{outcome="written"} `, "\n") }
	before := count()
	resp, answer := w.Post("/v1/chat/completions", hello)
	if resp.StatusCode != http.StatusOK {
		w.T.Fatalf("%s: status %d: %s", what, resp.StatusCode, answer)
	}
	if file {
		eventually(w.T, what+": it is written", func() bool { return count() != before })
	}
	return resp.Header.Get("X-Receipt-Id")
}
