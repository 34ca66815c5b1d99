package app_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"octet/app"
	"octet/gateway/receipt"
	"octet/internal/apptest"
)

// A request that failed is found by the id that its client reports: the log names its receipt, and operators have the
// receipt by either id. Clients have it by its own alone.
func TestAReceiptIsFoundByWhatTheClientReports(t *testing.T) {
	first := newWorld(t, smallWorld, smallEngines())
	log := new(lockedBuffer)
	w := &world{first.With(first.App.Config(), app.Options{Log: slog.New(slog.NewTextHandler(log, nil))})}
	for _, e := range w.Engines {
		e.Kill()
	}
	const reported = "a-clients.own_id"
	resp, answer := w.Post("/v1/chat/completions", hello, "X-Request-Id", reported)
	id := resp.Header.Get("X-Receipt-Id")
	if resp.StatusCode < 500 || !strings.Contains(string(answer), `"request_id":"`+reported+`"`) || id == "" {
		t.Fatalf("status %d, receipt %q: %s", resp.StatusCode, id, answer)
	}
	for _, one := range []string{id, reported} {
		var r receipt.Receipt
		if status := w.Get(w.Admin+"/admin/receipts/"+one, &r); status != http.StatusOK || r.ID != id ||
			r.RequestID != reported {
			t.Errorf("by %s: status %d, %+v", one, status, r)
		}
	}
	if status := w.Get(w.Data+"/v1/receipts/"+reported, nil); status != http.StatusNotFound {
		t.Errorf("a client finds it by the request: status %d", status)
	}
	line := apptest.Between(log.String(), "request_id="+reported+" ", "\n")
	if !strings.Contains(line, " receipt="+id) {
		t.Errorf("the log says %q", line)
	}
	resp, _ = w.Post("/v1/chat/completions", hello)
	own := resp.Header.Get("X-Receipt-Id")
	if line = apptest.Between(log.String(), "request_id="+own+" ", "\n"); strings.Contains(line, "receipt=") {
		t.Errorf("one id is said twice: %q", line)
	}
}
