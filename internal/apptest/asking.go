package apptest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// Ask sends a request; header pairs follow the body.
func (w *World) Ask(ctx context.Context, path, body string, headers ...string) *http.Response {
	w.T.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", w.Data+path, strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	w.Authorize(req)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Authorize makes a request one of the world's tenant.
func (w *World) Authorize(r *http.Request) {
	if w.Key != "" {
		r.Header.Set("Authorization", "Bearer "+w.Key)
	}
}

// Post is Ask with the whole answer read.
func (w *World) Post(path, body string, headers ...string) (*http.Response, []byte) {
	w.T.Helper()
	resp := w.Ask(w.T.Context(), path, body, headers...)
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Logf("reading %s: %v", path, err)
	}
	return resp, answer
}

// Get reads a path of a listener as JSON into v.
func (w *World) Get(url string, v any) int {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), "GET", url, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Authorize(req)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	if v != nil {
		if err := json.Unmarshal(answer, v); err != nil {
			w.T.Fatalf("%s: %v in %s", url, err, answer)
		}
	}
	return resp.StatusCode
}

// Fault arms a fault at an engine.
func (w *World) Fault(replica, fault string) {
	w.T.Helper()
	resp, err := http.Post(w.Engines[replica].URL+"/admin/faults", "application/json", strings.NewReader(fault))
	if err != nil {
		w.T.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode >= 300 {
		w.T.Fatalf("fault %s: status %d", fault, resp.StatusCode)
	}
}
