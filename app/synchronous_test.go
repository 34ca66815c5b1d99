package app_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/engine/emulator"
)

// newPairsPickedBy is newPairs with a profile for the replica that prefills.
func newPairsPickedBy(t *testing.T, profile string) *world {
	yaml := strings.Replace(pairs, "prefill: {attempts: 2}",
		"accept_timeout: 20s, prefill: {attempts: 2, profile: "+profile+"}", 1)
	if yaml == pairs {
		t.Fatal("the configuration has no prefill leg any more")
	}
	return pairsOf(t, yaml)
}

// armed returns how many faults still wait for a request at the engines whose names begin so.
func (w *world) armed(role string) (n int) {
	w.T.Helper()
	for name, e := range w.Engines {
		if strings.HasPrefix(name, role) {
			var armed struct{ Faults []emulator.Fault }
			w.Get(e.URL+"/admin/faults", &armed)
			n += len(armed.Faults)
		}
	}
	return n
}

// DYN-19: where device-aware, power-of-two or least-load picks the replica that prefills, the prefill is under way
// before the decode is asked; any other profile has both asked at once.
func TestPrefillThatLoadPicksIsAskedFirst(t *testing.T) {
	for profile, first := range map[string]bool{"device-aware": true, "power-of-two": true, "least-load": true,
		"cache-aware": false, "round-robin": false} {
		t.Run(profile, func(t *testing.T) {
			w := newPairsPickedBy(t, profile)
			for _, mode := range []string{"unary", "streamed"} {
				want, _ := w.says(mode, long("alone", mode, ""))
				got, resp := w.says(mode, long("debug", mode, ""))
				if a := attempts(w.receipt(resp)); got != want || !strings.HasSuffix(a, "=ok, decode:d-0=ok") {
					t.Errorf("%s: %q by two, %q by one; attempts %s", mode, got, want, a)
				}
			}
			w.baseline()
			for _, name := range []string{"p-0", "p-1", "d-0", "d-1"} {
				w.Fault(name, `{"kind":"hang","times":1}`)
			}
			ctx, leave := context.WithCancel(t.Context())
			var asking sync.WaitGroup
			asking.Go(func() {
				r, _ := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions",
					strings.NewReader(long("debug", "first", "")))
				r.Header.Set("Content-Type", "application/json")
				if resp, err := http.DefaultClient.Do(r); err == nil {
					resp.Body.Close()
				}
			})
			eventually(t, "the prefill is asked", func() bool { return w.armed("p-") == 1 })
			if first {
				time.Sleep(50 * time.Millisecond) // real time: the decode would be asked, too
			} else {
				eventually(t, "so is the decode", func() bool { return w.armed("d-") == 1 })
			}
			leave()
			asking.Wait()
			if first && w.armed("d-") != 2 {
				t.Error("the decode was asked before the prefill was taken")
			}
			for name := range w.Engines {
				w.clearFaults(name)
			}
			w.baseline()
		})
	}
}

// An engine that fails before it has taken its part costs the decoding one nothing: it is not asked. DYN-19
func TestAPrefillThatIsNotTakenIsSeenBeforeTheDecodeIsAsked(t *testing.T) {
	for _, fault := range []string{`{"kind":"die_before_headers","times":2}`, `{"kind":"error_event"}`,
		`{"kind":"die_after_tokens"}`} {
		for _, mode := range []string{"unary", "streamed"} {
			t.Run(fault+mode, func(t *testing.T) {
				w := newPairsPickedBy(t, "least-load")
				want, _ := w.says(mode, long("alone", mode, ""))
				w.Fault("p-0", fault)
				got, resp := w.says(mode, long("debug", mode, ""))
				if a := attempts(w.receipt(resp)); got != want || a != "prefill:p-0=ok, decode:d-0=ok (again)" {
					t.Errorf("%q under the fault, %q alone; attempts %s", got, want, a)
				}
				w.baseline()
			})
		}
	}
}
