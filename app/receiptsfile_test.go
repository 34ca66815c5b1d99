package app_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octet/app"
	"octet/config"
	"octet/gateway/receipt"
	"octet/gateway/receipt/ringfile"
	"octet/routing/plugins"
)

// A receipt outlives the gateway that gave it, in receipts.file: for operators, for its own key, and for no other.
func TestReceiptsOutliveAGateway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts")
	sets := []string{"receipts.file=" + path, "receipts.file_bytes=4MiB", "limits.receipts=2"}
	first := newWorld(t, smallWorld, smallEngines(), sets...)
	const secret = "a prompt that no receipt has"
	ask := func(w *world) string {
		resp, answer := w.Post("/v1/chat/completions",
			`{"model":"debug","messages":[{"role":"user","content":"`+secret+`"}],"max_tokens":3}`,
			"X-Deadline-Ms", "60000")
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
		return resp.Header.Get("X-Receipt-Id")
	}
	id := ask(first)
	var before, after receipt.Receipt
	if status := first.Get(first.Admin+"/admin/receipts/"+id, &before); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	for range 5 {
		ask(first) // so that it is in the file alone
	}
	eventually(t, "all are written", func() bool {
		return strings.Contains(metricsOf(t, first), `octet_receipts_filed_total{outcome="written"} 6`)
	})
	if status := first.Get(first.Admin+"/admin/receipts/"+id, &after); status != http.StatusOK {
		t.Errorf("forgotten in memory: status %d", status)
	}
	held := first.Sets()
	cfg, err := config.Parse("world.yaml", []byte(fmt.Sprintf(smallWorld, first.Engines["debug-0"].URL,
		first.Engines["debug-1"].URL, first.Engines["systems-0"].URL)),
		config.Options{Presets: plugins.Presets(), Sets: append(held, sets...)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.New(t.Context(), cfg, app.Options{Events: first.Local})
	if !errors.Is(err, ringfile.ErrHeld) || !errors.Is(err, app.ErrConfig) {
		t.Errorf("a second gateway with the same file: %v", err)
	}
	first.Stop()
	first.Close()
	next := newWorld(t, smallWorld, smallEngines(), sets...)
	for _, url := range []string{next.Admin + "/admin/receipts/", next.Data + "/v1/receipts/"} {
		after = receipt.Receipt{}
		if status := next.Get(url+id, &after); status != http.StatusOK || after.ID != id ||
			after.Decision.Specialist != "debug" || len(after.Attempts) != 1 || after.Result != before.Result &&
			after.Result.Status != before.Result.Status {
			t.Errorf("%s: status %d, %+v", url, status, after)
		}
	}
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), secret) {
		t.Errorf("%d bytes, %v, and the prompt is in them", len(text), err)
	}
}

// The arithmetic of admission, the thresholds in force and the reason of the shadow stand in receipts.
func TestReceiptsSayWhatAdmissionReckoned(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	ask := func(headers ...string) (r receipt.Receipt) {
		resp, answer := w.Post("/v1/chat/completions", hello, headers...)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
		w.Get(w.Admin+"/admin/receipts/"+resp.Header.Get("X-Receipt-Id"), &r)
		return r
	}
	r := ask("X-Deadline-Ms", "60000", "X-Intent", "codegen")
	a := r.Attempts[0].Admission
	if a.Answer != "admitted" || a.Needed < 1 || a.Free != 512 || a.SlackMs == nil || *a.SlackMs <= 0 ||
		*a.SlackMs > 60000 || a.Uncached != r.Prompt.Tokens {
		t.Errorf("%+v", a)
	}
	if d := r.Decision; d.ShadowWhy != "not_classified" || d.ShadowThreshold <= 0 || d.DivertThreshold <= 0 {
		t.Errorf("%+v", d)
	}
	if a := ask().Attempts[0].Admission; a.SlackMs != nil || a.Answer != "admitted" {
		t.Errorf("without a deadline: %+v", a)
	}
}
