package app_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// bothAdapted is shadowWorld with the adapter at both specialists.
var bothAdapted = strings.Replace(shadowWorld, "{name: systems, ", "{name: systems, adapters: [{name: gdb-v2}], ", 1)

// A shadow is asked with the request's adapter where its specialist has that; where it does not there is none, which is
// counted. It was asked without, and its answers compared as if they told of the same.
func TestAShadowKeepsTheAdapter(t *testing.T) {
	for _, has := range []bool{true, false} {
		yaml := shadowWorld
		if has {
			yaml = bothAdapted
		}
		file := filepath.Join(t.TempDir(), "calibration.jsonl")
		w := newWorld(t, yaml, proseEngines(), "shadow.file="+file, "shadow.stream=")
		w.unsure()
		resp, body := w.Post("/v1/chat/completions", asking("unsure 0.80", false), "X-Intent", "review",
			"X-Adapter", "gdb-v2")
		if resp.StatusCode != 200 || resp.Header.Get("X-Specialist") != "debug" ||
			resp.Header.Get("X-Adapter") != "gdb-v2" {
			t.Fatalf("status %d from %s: %s", resp.StatusCode, resp.Header.Get("X-Specialist"), body)
		}
		const without = `octet_shadows_total{outcome="adapter",specialist="systems"} 1`
		got := resp.Header.Get("X-Shadow")
		if has != (got == "systems") || has == strings.Contains(w.Metrics(), without) {
			t.Errorf("X-Shadow %q, %s", got, lines(w.Metrics(), "octet_shadows_total"))
		}
		if has {
			e := w.example(file, 1)
			if e.Shadow.Specialist != "systems" || e.Shadow.Adapter != "gdb-v2" || e.Primary.Adapter != "gdb-v2" {
				t.Errorf("%+v and %+v are compared", e.Primary, e.Shadow)
			}
		}
		eventually(t, "ledgers at their baseline", w.Quiet)
		w.Close()
	}
}

// Nothing is loaded for a shadow: where its specialist's engines do not have the adapter there is no place for it.
func TestNothingIsLoadedForAShadow(t *testing.T) {
	engines := proseEngines()
	engines[1].Adapters = nil
	w := newWorld(t, bothAdapted, engines, "shadow.file=", "shadow.stream=")
	w.unsure()
	eventually(t, "the engine has told", func() bool { return w.viewOf("systems-0", "gdb-v2").State != "loaded" })
	resp, body := w.Post("/v1/chat/completions", asking("unsure 0.80", false), "X-Intent", "review",
		"X-Adapter", "gdb-v2")
	if resp.StatusCode != 200 {
		t.Fatalf("status %d: %s", resp.StatusCode, body)
	}
	eventually(t, "it has no place", func() bool {
		return strings.Contains(w.Metrics(), `octet_shadows_total{outcome="no_place",specialist="systems"} 1`)
	})
	eventually(t, "ledgers at their baseline", w.Quiet)
}
