package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"octet/gateway/ui"
)

// long is a name of 256 bytes that begins with markup.
func long(n int) string {
	name := fmt.Sprintf("%d %s ", n, hostile)
	return name + strings.Repeat("n", 256-len(name))
}

type object = map[string]any

// largeGateway answers as a gateway of 8 specialists with 32 replicas each, and 50 adapters on each, whose every text
// is markup.
func largeGateway(t *testing.T) string {
	t.Helper()
	state, breakers, reports := largeState()
	answers := map[string]any{
		"/admin/state": state, "/admin/breakers": breakers, "/admin/slo": object{"specialists": reports},
		"/admin/knobs": object{"knobs": []object{{"name": "escalation." + long(0), "value": 1, "default": 0,
			"override": object{"by": hostile, "why": hostile}}}},
		"/admin/index": object{"replicas": object{long(0): object{"misfit": hostile,
			hostile: object{hostile: []string{hostile}}}}},
		"/admin/doctor": []object{{"check": hostile, "replica": long(0), "status": "fail", "detail": hostile,
			"cure": hostile}},
		"/admin/findings": object{"asked": 255, "replicas": 256, "findings": []object{{"check": hostile,
			"replica": long(0), "status": "fail", "detail": hostile, "cure": hostile}}},
		"/admin/receipts/1":  hostileReceipt(),
		"/admin/calibration": object{"records": 1, "intents": []object{hostileIntent()}},
	}
	mux := http.NewServeMux()
	mux.Handle(ui.Root, ui.Handler())
	mux.HandleFunc("/admin/decisions", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		line, _ := json.Marshal(object{"receipt": hostile, "time": time.Unix(1e9, 0), "tenant": hostile,
			"specialist": long(0), "intent": hostile, "replica": long(0), "outcome": hostile, "routed_by": hostile,
			"shadow": hostile, "demoted": hostile, "attempts": 2, "status": 500})
		fmt.Fprintf(w, "data: %s\n\nevent: tally\ndata: {\"seen\":5000,\"shown\":1,\"per_second\":50}\n\n", line)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/admin/", func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

func largeState() (state, breakers, reports object) {
	var adapters, specialists []object
	for i := range 50 {
		adapters = append(adapters, object{"adapter": long(i), "served": long(i), "version": hostile, "state": hostile,
			"error": hostile})
	}
	standings, reports := object{}, object{}
	for i := range 8 {
		var replicas []object
		for j := range 32 {
			replicas = append(replicas, object{"name": long(32*i + j), "engine": hostile, "engine_says": hostile,
				"revision": hostile, "why": hostile, "breaker": hostile, "source": hostile, "total": 100, "free": 40,
				"used": 50, "reserved": 10, "cached": 20,
				"hits": object{"all": 1, "part": 0, "none": 0, "share": 1}, "adapters": adapters})
		}
		specialists = append(specialists, object{"name": long(i), "total": 3200, "free": 1280, "used": 1600,
			"reserved": 320, "cached": 640, "fallback": long(i + 1), "totals": object{},
			"hits": object{}, "replicas": replicas, "probation": []object{{"adapter": hostile}}})
		standings[long(i)] = object{"correctness": object{"standing": "shadow-only"}, "load": object{"step": 1}}
		reports[long(i)] = object{"window_seconds": 300, "ttft": object{}, "itl": object{}, "admission_ttft": object{},
			"intents": object{hostile: object{}}, "preempted_once": object{}, "deadline_missed": object{},
			"correctness": object{"rate": .5, "floor": .9, "standing": hostile, "kinds": object{hostile: object{}}}}
	}
	return object{"generation": 1, "open": 0, "started": "2026-01-01T00:00:00Z", "doctor": true,
			"specialists": specialists},
		object{"specialists": standings}, reports
}

func hostileReceipt() object {
	trace := object{"profile": hostile, "stages": []object{{"stage": hostile, "plugin": hostile, "ns": 1}},
		"candidates": []object{{"host": 1, "replica": long(0), "removed_by": hostile, "why": hostile},
			{"host": 2, "replica": hostile, "removed_by": "", "total": 1,
				"scores": object{hostile: object{"weighted": 1}}}}}
	return object{"id": hostile, "request_id": hostile, "kind": hostile, "time": time.Unix(1e9, 0),
		hostile: object{hostile: hostile},
		"asked": object{"model": hostile, "intent": hostile, "adapter": hostile, "policy": hostile},
		"decision": object{"specialist": long(0), "adapter": hostile, "routed_by": hostile, "rule": hostile,
			"cues": []string{hostile}, "probabilities": object{hostile: 1}, "demoted": hostile, "second": hostile},
		"prompt": object{"tokens": 1},
		"routing": []object{{"specialist": hostile, "trace": trace, "error": hostile, "skipped": hostile,
			"hit": object{"replica": hostile, "best_replica": hostile, "best": 2, "chosen": 1}}},
		"attempts": []object{{"replica": hostile, "outcome": hostile, "detail": hostile, "fallback": hostile, "ms": 1,
			hostile: hostile}},
		"result":   object{"code": hostile, "finish": hostile},
		"outcomes": []object{{"kind": hostile, "time": time.Unix(1e9, 0)}}}
}

func hostileIntent() object {
	return object{"intent": hostile, "requests": 1, "threshold": .5, "comparisons": 1, "classes": object{hostile: 1},
		"reliability": object{"basis": hostile, "samples": 1, "ece": .1, "bins": []object{{"low": 0, "high": .1,
			"samples": 1, "confidence": .05, "held": 1}}}, "thresholds": []object{{"threshold": .5}},
		"recommended": object{"why": hostile},
		"correctness": []object{{"lane": object{"specialist": hostile}}}}
}

// wide names the elements that reach beyond the window, in JavaScript.
const wide = `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 &&
	!e.closest(".scroll")).slice(0, 5).map((e) => e.nodeName + "." + e.className).join(" ")`

// Issue 22, bad input: 256 replicas × 8 specialists × 50 adapters on every view, names of 256 bytes, and markup in
// every text: it stays text, and the page stays within its window.
func TestALargeAndHostileGatewayStaysText(t *testing.T) {
	chromium(t)
	p := open(t, largeGateway(t))
	escape := func(name string) string { return value[string](p, fmt.Sprintf("encodeURIComponent(%q)", name)) }
	p.until(`document.querySelectorAll(".fleet .cell").length === 256`)
	for hash, says := range map[string]string{"#/": "Attention", "#/specialist/" + escape(long(0)): "Replicas",
		"#/replica/" + escape(long(0)): "What is known of its cache", "#/receipt/1": "What was delivered",
		"#/decisions": "5,000", "#/calibration": "Reliability", "#/doctor": "255 of 256",
		"#/playground": "What would happen?"} {
		p.view(hash, says)
		if hash != "#/playground" {
			p.says("<img src=x onerror=")
		}
		// a second drawing goes over the first
		p.do(chromedp.Evaluate[chromedp.Void](`dispatchEvent(new Event("hashchange")); null`))
		p.says(says)
		const made = `document.querySelectorAll("main img, main script, main iframe, [onerror]").length`
		if n := value[int](p, made); n != 0 {
			t.Errorf("%s: %d elements came of texts", hash, n)
		}
		if value[bool](p, `window.struck === 1`) {
			t.Fatalf("%s: a text ran", hash)
		}
		if value[bool](p, `document.documentElement.scrollWidth > innerWidth + 1`) {
			t.Errorf("%s is wider than its window: %s", hash, value[string](p, wide))
		}
	}
	p.quiet()
}
