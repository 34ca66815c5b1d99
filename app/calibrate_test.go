package app_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// MEGA-75, and what another gateway has running at an engine: it is reserved here, and free again when it is done; both
// show as metrics.
func TestAGateHearsOfLoadThatIsNotItsOwn(t *testing.T) {
	w := newWorld(t, smallWorld, slowEngines(), "fleet.scrape_interval=100ms")
	leave := stranger(t, w, "systems-0", "systems")
	gate := w.gate("systems-0")
	eventually(t, "the other's blocks are withheld", func() bool { return gate.Calibration().Withheld >= 37 })
	if s := gate.Stats(); s.Free+s.Used+s.Reserved != s.Total || s.Used != 0 || gate.Check() != nil {
		t.Errorf("%+v", s)
	}
	page, err := http.Get(w.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	text, _ := io.ReadAll(page.Body)
	for _, series := range []string{"octet_offered_total{", "octet_admitted_total{",
		"octet_gate_model_error{of=\"blocks\"", "octet_gate_withheld_blocks{"} {
		if !strings.Contains(string(text), series) {
			t.Errorf("no %s", series)
		}
	}
	leave()
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// stranger has an engine stream a long answer that was not asked for through the gateway, until leave.
func stranger(t *testing.T, w *world, replica, model string) (leave func()) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	body := `{"model":"` + model + `","stream":true,"max_tokens":3000,"prompt":"` + strings.Repeat("word ", 600) + `"}`
	req, err := http.NewRequestWithContext(ctx, "POST", w.Engines[replica].URL+"/v1/completions",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return leave
}
