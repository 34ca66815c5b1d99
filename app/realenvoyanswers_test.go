package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// sized is a request with a prompt of some bytes; more follows its messages.
func sized(bytes int, more string) string {
	return fmt.Sprintf(`{"model":"debug","max_tokens":8,"messages":[{"role":"user","content":%q}]%s}`,
		strings.Repeat("why ", bytes/4), more)
}

// tooled are the tools of a request.
const tooled = `,"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object",` +
	`"properties":{"at":{"type":"string"}}}}}]`

// Over Envoy itself, a client has the answer that it would have at the data listener, and the receipt has its form.
func TestARealEnvoyCarriesAnswersAsTheGatewayItselfDoes(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, roomyWorld, roomyEngines())
	e := newRealEnvoy(t, w)
	rows := map[string]struct {
		body    string
		chunked bool
		fields  []string
	}{
		"1 KB":                 {body: sized(1<<10, "")},
		"100 KB":               {body: sized(100<<10, "")},
		"2 MB":                 {body: sized(2<<20, "")},
		"2 MB, chunked":        {body: sized(2<<20, ""), chunked: true},
		"1 KB, streamed":       {body: sized(1<<10, `,"stream":true`)},
		"100 KB, streamed":     {body: sized(100<<10, `,"stream":true`)},
		"2 MB, streamed":       {body: sized(2<<20, `,"stream":true`)},
		"tools":                {body: sized(20, tooled)},
		"tools, streamed":      {body: sized(20, tooled+`,"stream":true`)},
		"expect":               {body: pickedChat, fields: []string{"Expect", "100-continue"}},
		"chunked":              {body: pickedChat, chunked: true},
		"trailers":             {body: pickedChat, chunked: true, fields: []string{"Trailer", "X-Tail"}},
		"trailers, streamed":   {body: streamChat, chunked: true, fields: []string{"Trailer", "X-Tail"}},
		"a key and a cookie":   {body: pickedChat, fields: []string{"Authorization", "Bearer x", "Cookie", "a=b"}},
		"a destination of its": {body: pickedChat, fields: []string{"X-Gateway-Destination-Endpoint", "127.0.0.1:1"}},
	}
	for proto, client := range clientsOf(t) {
		for name, row := range rows {
			t.Run(proto+" "+name, func(t *testing.T) {
				var body io.Reader = strings.NewReader(row.body)
				if row.chunked {
					body = io.MultiReader(body)
				}
				resp, err := e.ask(t.Context(), client, body, row.fields...)
				if err != nil {
					t.Fatal(err)
				}
				sameAsDirect(t, w, resp, row.body)
			})
		}
	}
	e.back("all")
}

// sameAsDirect compares an answer with the one that the data listener gives to the same request.
func sameAsDirect(t *testing.T, w *world, resp *http.Response, body string) {
	t.Helper()
	text, err := wholeOf(t, resp)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d, %v: %.300s", resp.StatusCode, err, text)
	}
	heard := http.Header{}
	for _, engine := range w.Engines {
		if h := engine.Heard.Load(); h != nil && h.Get("X-Request-Id") == resp.Header.Get("X-Request-Id") {
			heard = *h
		}
	}
	for _, name := range []string{"Authorization", "Cookie", "X-Gateway-Destination-Endpoint-Subset", "X-Tail"} {
		if heard.Get(name) != "" {
			t.Errorf("the engine heard %s: %s", name, heard.Get(name))
		}
	}
	if heard.Get("X-Octet-Via") == "" {
		t.Errorf("the engine heard %v", heard)
	}
	direct, want := w.Post("/v1/chat/completions", body, "X-Request-Id", resp.Header.Get("X-Request-Id"))
	for _, name := range []string{"Content-Type", "Cache-Control", "X-Specialist", "X-Routed-By", "X-Request-Id",
		"X-Attempts"} {
		if got := resp.Header.Get(name); got != direct.Header.Get(name) {
			t.Errorf("%s: %q, want %q", name, got, direct.Header.Get(name))
		}
	}
	streams := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	if got, want := wordsOf(text, streams), wordsOf(string(want), streams); got != want || got == "" {
		t.Errorf("%.300s\nby the gateway itself: %.300s", got, want)
	}
	a := receiptShape(t, w, resp.Header.Get("X-Receipt-Id"))
	if b := receiptShape(t, w, direct.Header.Get("X-Receipt-Id")); a != b {
		t.Errorf("receipt %s\nby the gateway itself: %s", a, b)
	}
}

// wordsOf returns the text of an answer.
func wordsOf(answer string, streams bool) string {
	if streams {
		if s := readStream(strings.NewReader(answer)); s.done && s.clean {
			return s.text
		}
		return ""
	}
	var whole struct {
		Choices []struct{ Message json.RawMessage }
	}
	if json.Unmarshal([]byte(answer), &whole) != nil || len(whole.Choices) != 1 {
		return ""
	}
	return string(whole.Choices[0].Message)
}

// Over Envoy itself, a refusal is the data listener's: status, code, time to come back.
func TestARealEnvoyAnswersWhatIsRefused(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, smallEngines(), keyed("limits.body_bytes=1MiB",
		"auth.tenants[1].name=slow", "auth.tenants[1].key_sha256="+slowKeySHA,
		"auth.tenants[1].rate.requests_per_second=0.001", "auth.tenants[1].rate.burst=1")...)
	e := newRealEnvoy(t, w)
	w.Post("/v1/chat/completions", pickedChat, "Authorization", "Bearer slow") // the burst
	rows := map[string]struct {
		body   string
		fields []string
		status int
		code   string
		later  bool // it says when
	}{
		"bad JSON":      {`{"model":`, nil, 400, "invalid_json", false},
		"no body":       {"", nil, 400, "invalid_json", false},
		"not JSON":      {"x", []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type", false},
		"unknown model": {strings.Replace(pickedChat, "debug", "nope", 1), nil, 404, "model_not_found", false},
		"too large":     {sized(2<<20, ""), nil, 413, "payload_too_large", false},
		"too long":      {sized(200<<10, ""), nil, 400, "context_length_exceeded", false},
		"unknown key":   {pickedChat, []string{"Authorization", "Bearer nobody"}, 401, "invalid_api_key", false},
		"beyond a rate": {pickedChat, []string{"Authorization", "Bearer slow"}, 429, "quota_exceeded", true},
		"none is offered": {pickedChat, []string{"X-Gateway-Destination-Endpoint-Subset", "10.1.1.1:80"}, 503,
			"no_healthy_replica", false},
	}
	for proto, client := range clientsOf(t) {
		for name, row := range rows {
			resp, text, err := e.post(client, row.body, row.fields...)
			if err != nil {
				t.Errorf("%s %s: %v", proto, name, err)
			}
			var said errorBody
			if json.Unmarshal([]byte(text), &said) != nil || resp.StatusCode != row.status || said.RequestID == "" ||
				said.Error.Code != row.code || said.RequestID != resp.Header.Get("X-Request-Id") {
				t.Errorf("%s %s: %d %v %s", proto, name, resp.StatusCode, resp.Header, text)
			}
			if (resp.Header.Get("Retry-After") != "") != row.later {
				t.Errorf("%s %s: Retry-After: %q", proto, name, resp.Header.Get("Retry-After"))
			}
		}
	}
	e.back("refusals")
}

// slowKeySHA is the hash of the key "slow".
const slowKeySHA = "5e0cf7bd1dfa3831788b0cf6dedcdd228fba6f34dc238d371e746567e80bc7b6"

// Over Envoy itself, sixty streams at once have each their own tokens, all of them, in order.
func TestARealEnvoyKeepsStreamsApart(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, smallEngines())
	e := newRealEnvoy(t, w)
	const each, tokens = 30, 60
	var asking sync.WaitGroup
	for proto, client := range clientsOf(t) {
		for range each {
			asking.Go(func() {
				resp, err := e.ask(t.Context(), client, strings.NewReader(fmt.Sprintf(`{"model":"debug","stream":true,`+
					`"max_tokens":%d,"messages":[{"role":"user","content":"why"}]}`, tokens)))
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				got, want := readStream(resp.Body), indexText(resp.Header.Get("X-Request-Id"), tokens)
				if !got.done || !got.clean || got.text != want {
					t.Errorf("%s: %d, %+v, want %s", proto, resp.StatusCode, got, want)
				}
			})
		}
	}
	asking.Wait()
	e.back("sixty streams")
}

// Over Envoy itself, what was foretold and delivered of the cache is what it is at the data listener, in receipts,
// heads and metrics.
func TestARealEnvoyHasTheSameHits(t *testing.T) {
	envoyBinary(t)
	direct := newWorld(t, smallWorld, smallEngines())
	w := newWorld(t, smallWorld, smallEngines())
	e := newRealEnvoy(t, w)
	client := clientsOf(t)["HTTP/2"]
	for i := range 6 {
		body := sized(400*(i/2+1), "")
		a, _ := direct.Post("/v1/chat/completions", body)
		b, text, err := e.post(client, body)
		if err != nil || b.StatusCode != 200 {
			t.Fatalf("%v, %d: %s", err, b.StatusCode, text)
		}
		want, got := hitsOf(t, direct, a), hitsOf(t, w, b)
		if got != want || i > 0 && strings.Contains(got, `"delivered_cached_tokens":0`) {
			t.Errorf("request %d: %s\nby the gateway itself: %s", i, got, want)
		}
		quiet(t, direct)
		quiet(t, w)
	}
	for _, name := range []string{"octet_requests_total", "octet_predicted_hits_total",
		"octet_hit_tokens_total", "octet_tokens_total"} {
		if a, b := counted(direct, name), counted(w, name); a != b || a == "" {
			t.Errorf("%s\nby the gateway itself: %s", b, a)
		}
	}
}

// hitsOf returns what a receipt and a head say of the cache.
func hitsOf(t *testing.T, w *world, resp *http.Response) string {
	t.Helper()
	var receipt struct {
		Attempts []struct {
			Predicted int `json:"predicted_cached_tokens"`
			Delivered int `json:"delivered_cached_tokens"`
		}
		Result struct {
			Cached int `json:"cached_tokens"`
		}
	}
	eventually(t, "the receipt is kept", func() bool {
		return w.Get(w.Data+"/v1/receipts/"+resp.Header.Get("X-Receipt-Id"), &receipt) == 200
	})
	return fmt.Sprintf("%+v, %s", receipt, resp.Header.Get("X-Cached-Tokens"))
}

// counted returns the lines of a counter.
func counted(w *world, name string) (lines string) {
	for line := range strings.Lines(w.Metrics()) {
		if strings.HasPrefix(line, name) {
			lines += line
		}
	}
	return lines
}

// metadataHint has Envoy offer an endpoint by metadata, and take the picker's.
func metadataHint(at string) []string {
	const filters, modes = "http_filters:\n", "processing_mode:\n"
	return []string{filters, filters + `                  - name: envoy.filters.http.set_metadata
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.set_metadata.v3.Config
                      metadata:
                        - metadata_namespace: envoy.lb.subset_hint
                          value: {x-gateway-destination-endpoint-subset: "` + at + `"}
`, modes, `metadata_options:
                        forwarding_namespaces: {untyped: [envoy.lb.subset_hint]}
                        receiving_namespaces: {untyped: [envoy.lb]}
                      ` + modes}
}

// Over Envoy itself, an endpoint that it offers by metadata is taken, and no other.
func TestARealEnvoysOfferBindsThePicker(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, smallEngines())
	for _, name := range []string{"debug-0", "debug-1"} {
		e := newRealEnvoy(t, w, metadataHint(strings.TrimPrefix(w.Engines[name].URL, "http://"))...)
		for proto, client := range clientsOf(t) {
			resp, text, err := e.post(client, pickedChat)
			h := w.Engines[name].Heard.Load()
			if err != nil || resp.StatusCode != 200 || h == nil ||
				h.Get("X-Request-Id") != resp.Header.Get("X-Request-Id") {
				t.Errorf("%s: %d, %v: %s", proto, resp.StatusCode, err, text)
			}
		}
	}
	e := newRealEnvoy(t, w, metadataHint("10.1.1.1:80")...)
	for proto, client := range clientsOf(t) {
		resp, text, err := e.post(client, pickedChat)
		if err != nil || resp.StatusCode != 503 || !strings.Contains(text, "no_healthy_replica") {
			t.Errorf("%s: %d, %v: %s", proto, resp.StatusCode, err, text)
		}
	}
	quiet(t, w)
}

// Over Envoy itself, what has no place is answered 429, and what comes as the gateway drains 503.
func TestARealEnvoyAnswersWhatHasNoPlace(t *testing.T) {
	envoyBinary(t)
	w := newWorld(t, smallWorld, lingering(), "limits.ttft_timeout=1h", "limits.idle_timeout=1h",
		"specialists[0].scheduler.max_running=1", "specialists[0].scheduler.max_waiting=0")
	e := newRealEnvoy(t, w)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	clients := clientsOf(t)
	for range 2 {
		e.begun(ctx, clients["HTTP/2"])
	}
	direct, _ := w.Post("/v1/chat/completions", pickedChat)
	for proto, client := range clients {
		resp, text, err := e.post(client, pickedChat)
		if err != nil || resp.StatusCode != 429 || !strings.Contains(text, `"code":"queue_full"`) ||
			(resp.Header.Get("Retry-After") == "") != (direct.Header.Get("Retry-After") == "") {
			t.Errorf("%s: %d, %v, %v: %s", proto, resp.StatusCode, resp.Header, err, text)
		}
	}
	leave()
	e.back("both")
	w.Stop()
	for proto, client := range clients {
		resp, text, err := e.post(client, pickedChat)
		if err != nil || resp.StatusCode != 503 || !strings.Contains(text, `"code":"draining"`) {
			t.Errorf("%s: %d, %v: %s", proto, resp.StatusCode, err, text)
		}
	}
}
