package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A storm of unsure requests, some of whose clients leave, before an engine that fails now and then: every answer is
// whole or a typed error, all ledgers come back to their baseline, and there is a place for the next shadow.
//
//nolint:lll // raw text that cannot be broken
func TestAStormOfShadowsLeavesNothingBehind(t *testing.T) {
	w, file := newShadowWorld(t, proseEngines(), "shadow.max_concurrent=3", "shadow.timeout=1s")
	w.Fault("systems-0", `{"kind":"hang","times":2}`)
	w.Fault("systems-0", `{"kind":"die_after_tokens","k":3,"times":3}`)
	var all sync.WaitGroup
	for i := range 60 { // fewer than debug runs at once, so that none is sent to the second choice
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%5 == 0 {
				time.AfterFunc(time.Duration(i)*100*time.Microsecond, cancel)
			}
			w.storm(ctx, i)
		})
	}
	all.Wait()
	eventually(t, "no shadow", func() bool { return w.shadows() == 0 })
	eventually(t, "ledgers at their baseline", w.Quiet)
	w.calm("systems-0")
	before, _, _ := recordsOf(t, file)
	for range 3 {
		if resp, _ := w.Post("/v1/chat/completions", asking("unsure 0.60", false), "X-Intent", "review"); resp.Header.Get("X-Shadow") != "systems" {
			t.Errorf("no place is left: %v", resp.Header)
		}
		before = append(before, w.example(file, len(before)+1))
	}
}

// calm clears the faults of an engine.
func (w *world) calm(replica string) {
	req, err := http.NewRequestWithContext(w.T.Context(), http.MethodDelete, w.Engines[replica].URL+"/admin/faults",
		http.NoBody)
	if err != nil {
		w.T.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	resp.Body.Close()
}

func (w *world) storm(ctx context.Context, i int) {
	req, err := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/chat/completions",
		strings.NewReader(asking(fmt.Sprintf("unsure 0.60 %d", i), i%2 == 0)))
	if err != nil {
		w.T.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Intent", "review")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return // it left
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		w.T.Errorf("request %d: status %d", i, resp.StatusCode)
	}
	if i%2 != 0 {
		return
	}
	if s := readStream(resp.Body); ctx.Err() == nil && (!s.done || s.failed != nil) {
		w.T.Errorf("request %d: %+v", i, s)
	}
}
