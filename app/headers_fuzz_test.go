package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// spoken are the headers in which a client may speak to the gateway; all others change nothing.
var spoken = []string{
	"x-intent", "x-priority", "x-deadline-ms", "x-ttft-deadline-ms", "x-adapter", "x-session-id", "x-request-id",
	"x-explain",
	"authorization", "content-type", "content-encoding", "content-length", "idempotency-key", "host",
	"origin", "sec-fetch-site", "x-octet-via", // a page of another site, and a request that has come round, are refused
}

// meddling are names by which a client might try to be another one, or to choose the replica that answers.
var meddling = []string{
	"x-gateway-destination-endpoint", "x-gateway-destination-endpoint-subset", "X-Gateway-Destination-Endpoint-Served",
	"x_gateway_destination_endpoint",
	"x-prefiller-host-port", "X_Prefiller_Host_Port", "x-prefiller-host-ports", "x-data-parallel-host-port",
	"x-data-parallel-rank", "X-DATA-PARALLEL-RANK",
	"x-tenant", "X-Tenant-Id", "x_tenant", "x-octet-tenant", "x-shadow", "X_Shadow", "x-shadow-of", "x-specialist",
	"X-Specialist", "x-replica", "x-routed-by",
	"x-attempts", "x-cached-tokens", "x-receipt-id", "x-queue-ms", "x-slo-ttft-ms", "x-confidence", "server-timing",
	"x-gateway-model-name", "x-gateway-inference-objective",
	"x-gateway-inference-fairness-id", "x-request-priority", "x-forwarded-for", "x-forwarded-host", "x-real-ip",
	"forwarded", "via", "te", "trailer", "upgrade",
	"connection", "keep-alive", "proxy-connection", "proxy-authorization", "transfer-encoding", "expect", "cookie",
	"origin", "referer", "x-vllm-priority",
	"x-envoy-original-dst-host", "x-session-token", "x-lora-adapter", "x_priority", "x_deadline_ms", "X-Intent ", "",
	" ", ":authority", "x\x00y", "é",
}

// Promise 4: whatever else a client puts into a header, in whatever case, with _ for -, once or often, listed in
// Connection or not, the answer is the same and the engine hears none of it.
func FuzzClientHeaders(f *testing.F) {
	for i, name := range meddling {
		f.Add(name, "127.0.0.1:1", i%3, i%2 == 0)
		f.Add(name, "systems", i%3, i%2 == 1)
	}
	w := newWorld(f, smallWorld, smallEngines())
	data := w.App.Server().DataHandler()
	ask := func(header http.Header) *httptest.ResponseRecorder {
		r := posted("/v1/chat/completions", hello)
		maps.Copy(r.Header, header)
		r.Header.Set("X-Request-Id", "fuzz")
		rec := httptest.NewRecorder()
		data.ServeHTTP(rec, r)
		return rec
	}
	heard := func() http.Header {
		for _, name := range []string{"debug-0", "debug-1"} {
			if h := w.Engines[name].Heard.Swap(nil); h != nil {
				return *h
			}
		}
		return nil
	}
	ask(nil)
	plain := heard()
	f.Fuzz(func(t *testing.T, name, value string, times int, listed bool) {
		if slices.Contains(spoken, strings.ToLower(name)) {
			return
		}
		header := http.Header{}
		for range 1 + max(times, -times)%3 {
			header[name] = append(header[name], value)
		}
		if canonical := http.CanonicalHeaderKey(name); canonical != name {
			header[canonical] = []string{value}
		}
		if listed {
			header["Connection"] = append(header["Connection"], name)
		}
		rec := ask(header)
		if len(name)+len(value) > 1<<12 && rec.Code == 431 {
			return
		}
		h := rec.Header()
		if rec.Code != 200 || h.Get("X-Specialist") != "debug" || h.Get("X-Shadow") != "" ||
			h.Get("X-Routed-By") != "model" || h.Get("X-Request-Id") != "fuzz" {
			t.Fatalf("%q: %q: status %d, %v: %s", name, value, rec.Code, h, rec.Body)
		}
		got := heard()
		got.Del("X-Octet-Cache-Hint") // ours: the first request has left its blocks
		if len(got) != len(plain) {
			t.Fatalf("%q: the engine heard %v, without it %v", name, got, plain)
		}
		for k, v := range plain {
			if fmt.Sprint(got[k]) != fmt.Sprint(v) {
				t.Fatalf("%q: the engine heard %s: %v, without it %v", name, k, got[k], v)
			}
		}
		if r := httptest.NewRequest("GET", "/v1/receipts/"+h.Get("X-Receipt-Id"), nil); true {
			rec := httptest.NewRecorder()
			if data.ServeHTTP(rec, r); rec.Code != 200 { // kept for the anonymous client that it was
				t.Fatalf("%q: the receipt is status %d: %s", name, rec.Code, rec.Body)
			}
		}
	})
}
