package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	modes "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"octet/gateway/dispatch"
	"octet/gateway/intake"
	"octet/internal/apptest"
)

const (
	pickedChat = `{"model":"debug","max_tokens":8,"messages":[{"role":"user","content":"why"}]}`
	streamChat = `{"model":"debug","max_tokens":8,"stream":true,"messages":[{"role":"user","content":"why"}]}`
)

// quiet waits until nothing is held any more.
func quiet(t testing.TB, w *world) {
	t.Helper()
	eventually(t, "nothing is held any more", w.Quiet)
}

// shapeOf returns the names in a receipt, by their places.
func shapeOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = shapeOf(member)
		}
		return v
	case []any:
		for i := range v {
			v[i] = shapeOf(v[i])
		}
		return v
	}
	return nil
}

func receiptShape(t *testing.T, w *world, id string) string {
	t.Helper()
	var receipt any
	eventually(t, "the receipt is kept", func() bool { return w.Get(w.Data+"/v1/receipts/"+id, &receipt) == 200 })
	shape, err := json.Marshal(shapeOf(receipt))
	if err != nil {
		t.Fatal(err)
	}
	return string(shape)
}

func TestAProxyCarriesAnswersAsTheGatewayItselfDoes(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	e := newEnvoy(t, w, false, nil)
	for name, body := range map[string]string{"whole": pickedChat, "streamed": streamChat} {
		direct, text := w.Post("/v1/chat/completions", body, "X-Request-Id", "r-"+name)
		got := e.post("/v1/chat/completions", body, "x-request-id", "r-"+name,
			"authorization", "Bearer theirs", "cookie", "a=b", "accept-encoding", "gzip")
		if got.err != nil || got.immediate || got.status != http.StatusOK {
			t.Fatalf("%s: %+v", name, got)
		}
		if name == "whole" && len(got.body) != len(text) || name == "streamed" &&
			readStream(strings.NewReader(got.body)).text != readStream(strings.NewReader(string(text))).text {
			t.Errorf("%s: %s\nby the gateway itself: %s", name, got.body, text)
		}
		for _, field := range []string{"Content-Type", "X-Specialist", "X-Routed-By", "X-Request-Id", "X-Attempts"} {
			if got.header.Get(field) != direct.Header.Get(field) {
				t.Errorf("%s: %s: %q, want %q", name, field, got.header.Get(field), direct.Header.Get(field))
			}
		}
		sent := got.asked.Header
		if sent.Get("Authorization") != "" || sent.Get("Cookie") != "" || sent.Get("X-Octet-Via") == "" {
			t.Errorf("%s: the engine was sent %v", name, sent)
		}
		a := receiptShape(t, w, got.header.Get("X-Receipt-Id"))
		b := receiptShape(t, w, direct.Header.Get("X-Receipt-Id"))
		if a != b {
			t.Errorf("%s: receipt %s\nby the gateway itself: %s", name, a, b)
		}
	}
	quiet(t, w)
}

func TestWhatIsRefusedIsAnsweredAtOnce(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.body_bytes=64KiB")
	e := newEnvoy(t, w, false, nil)
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"malformed": {`{"model":`, 400, "invalid_json"},
		"no model":  {`{"model":"nope","messages":[{"role":"user","content":"x"}]}`, 404, "model_not_found"},
		"too large": {strings.Repeat("x", 65<<10), 413, "payload_too_large"},
	} {
		got := e.post("/v1/chat/completions", c.body)
		var said errorBody
		_ = json.Unmarshal([]byte(got.body), &said)
		if !got.immediate || got.status != c.status || said.Error.Code != c.code {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := e.carry(t.Context(), requestHead("GET", "/v1/models", true, nil), "")
	if !got.immediate || got.status != 200 || !strings.Contains(got.body, `"debug"`) {
		t.Errorf("the models: %+v", got)
	}
	w.Stop()
	eventually(t, "it drains", func() bool {
		got = e.post("/v1/chat/completions", pickedChat)
		return got.immediate
	})
	if got.status != 503 || !strings.Contains(got.body, "draining") {
		t.Errorf("draining: %+v", got)
	}
}

func TestARefusalTellsWhenToComeBack(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), keyed("auth.tenants[0].rate.requests_per_second=0.01",
		"auth.tenants[0].rate.burst=1")...)
	e := newEnvoy(t, w, false, nil)
	first := e.post("/v1/chat/completions", pickedChat, "authorization", "Bearer "+apptest.Key)
	second := e.post("/v1/chat/completions", pickedChat, "authorization", "Bearer "+apptest.Key)
	if first.status != 200 || !second.immediate || second.status != 429 || second.header.Get("Retry-After") == "" {
		t.Errorf("%+v\n%+v", first, second)
	}
}

func TestOnlyOfferedEndpointsArePicked(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	e := newEnvoy(t, w, false, nil)
	for _, name := range []string{"debug-0", "debug-1", "debug-0"} {
		at := strings.TrimPrefix(w.Engines[name].URL, "http://")
		subset := []string{"10.1.1.1:80", at}
		got := e.carry(t.Context(), requestHead("POST", "/v1/chat/completions", false, subset), pickedChat)
		if got.status != 200 || got.to != at {
			t.Errorf("%s: %s, %d", at, got.to, got.status)
		}
		got = e.post("/v1/chat/completions", pickedChat, "x-gateway-destination-endpoint-subset",
			strings.Join(subset, ", "))
		if got.status != 200 || got.to != at {
			t.Errorf("by the head, %s: %s, %d", at, got.to, got.status)
		}
	}
	for _, subset := range [][]string{{"10.1.1.1:80"}, {}} {
		got := e.carry(t.Context(), requestHead("POST", "/v1/chat/completions", false, subset), pickedChat)
		if !got.immediate || got.status != 503 || !strings.Contains(got.body, "no_healthy_replica") {
			t.Errorf("%v: %+v", subset, got)
		}
	}
	quiet(t, w)
}

func TestAnEnginesFailureIsTheGatewaysError(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	e := newEnvoy(t, w, false, nil)
	call, err := e.client.Process(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = call.Send(requestHead("POST", "/v1/chat/completions", false, nil)), call.Send(requestPiece(pickedChat, true))
	var c carried
	if _, err := e.told(call, &c); err != nil || c.immediate {
		t.Fatalf("%v, %+v", err, c)
	}
	_, _ = call.Send(answerHead(false, ":status", "500")), call.Send(answerPiece([]byte("boom"), true))
	if err := replied(call, &c); err != nil {
		t.Fatal(err)
	}
	if !c.immediate || c.status < 500 || !strings.Contains(c.body, `"code"`) {
		t.Errorf("%+v", c)
	}
	quiet(t, w)
}

func TestAClientThatLeavesFreesWhatItsRequestHeld(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	e := newEnvoy(t, w, false, nil)
	for name, upTo := range map[string]int{"before its body": 0, "as its engine works": 1, "in its answer": 2} {
		ctx, leave := context.WithCancel(t.Context())
		call, err := e.client.Process(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_ = call.Send(requestHead("POST", "/v1/chat/completions", false, nil))
		var c carried
		if upTo > 0 {
			_ = call.Send(requestPiece(streamChat, true))
			if _, err := e.told(call, &c); err != nil || c.immediate {
				t.Fatalf("%s: %v, %+v", name, err, c)
			}
			if w.Quiet() {
				t.Errorf("%s: nothing is held", name)
			}
		}
		if upTo > 1 {
			_ = call.Send(answerHead(false, ":status", "200", "content-type", "text/event-stream"))
			_ = call.Send(answerPiece([]byte(`data: {"id":"1","object":"chat.completion.chunk","model":"debug",`+
				`"choices":[{"index":0,"delta":{"content":"a"}}]}`+"\n\n"), false))
			if m, err := call.Recv(); err != nil || m.GetResponseHeaders() == nil {
				t.Fatalf("%s: %v, %v", name, m, err)
			}
		}
		leave()
		eventually(t, name, func() bool { return w.App.Server().Inbound() == 0 })
		quiet(t, w)
	}
}

// A proxy that ends its side of a call in the midst of it, as it does once a client is gone, has the request end.
func TestAProxyThatEndsItsSideHasAClientThatLeft(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.ttft_timeout=1h", "limits.idle_timeout=1h")
	call, err := newEnvoy(t, w, false, nil).client.Process(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = call.Send(requestHead("POST", "/v1/chat/completions", false, nil)), call.Send(requestPiece(streamChat, true))
	var c carried
	if _, err := (&envoy{t: t}).told(call, &c); err != nil || c.immediate {
		t.Fatalf("%v, %+v", err, c)
	}
	_ = call.CloseSend()
	eventually(t, "it is over", func() bool { return w.App.Server().Inbound() == 0 })
	quiet(t, w)
}

func TestAProxyThatSpeaksOutOfTurnIsToldSo(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	e := newEnvoy(t, w, false, nil)
	buffered := requestHead("POST", "/v1/chat/completions", false, nil)
	buffered.ProtocolConfig.RequestBodyMode = modes.ProcessingMode_BUFFERED
	head := requestHead("POST", "/v1/chat/completions", false, nil)
	for name, c := range map[string]struct {
		sent []*extproc.ProcessingRequest
		want codes.Code
	}{
		"a body first": {[]*extproc.ProcessingRequest{requestPiece("x", true)}, codes.InvalidArgument},
		"another mode": {[]*extproc.ProcessingRequest{buffered}, codes.FailedPrecondition},
		"an answer to half": {[]*extproc.ProcessingRequest{head, answerHead(true, ":status", "200")},
			codes.InvalidArgument},
		"a second head":    {[]*extproc.ProcessingRequest{head, head}, codes.InvalidArgument},
		"an empty message": {[]*extproc.ProcessingRequest{{}}, codes.InvalidArgument},
		"a body behind its end": {[]*extproc.ProcessingRequest{head, requestPiece(pickedChat, true),
			requestPiece("x", true)}, codes.InvalidArgument},
		"an answer without head": {[]*extproc.ProcessingRequest{head, requestPiece(pickedChat, true),
			answerPiece([]byte("x"), true)}, codes.InvalidArgument},
	} {
		call, err := e.client.Process(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.sent {
			_ = call.Send(m)
		}
		for err == nil {
			_, err = call.Recv()
		}
		if got := status.Code(err); got != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	quiet(t, w)
	for _, rep := range w.App.Server().Runtime().Replicas {
		if rep != nil && !rep.Fleet.Admits() {
			t.Errorf("%s is blamed", rep.Name)
		}
	}
}

func TestWhatTheGatewayFailsWithGoesOnWhereThatIsAskedFor(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	fails := func(http.ResponseWriter, *http.Request, dispatch.Courier, intake.Among) { panic("planted") }
	halves := func(rw http.ResponseWriter, r *http.Request, _ dispatch.Courier, _ intake.Among) {
		_, _ = r.Body.Read(make([]byte, 10))
		rw.WriteHeader(http.StatusInternalServerError)
	}
	for name, line := range map[string]func(http.ResponseWriter, *http.Request, dispatch.Courier, intake.Among){
		"at once": fails, "within the body": halves} {
		got := newEnvoy(t, w, true, line).post("/v1/chat/completions", pickedChat)
		if got.err != nil || got.immediate || got.status != 200 || !strings.Contains(got.body, `"choices"`) {
			t.Errorf("%s, open: %+v", name, got)
		}
		got = newEnvoy(t, w, false, line).post("/v1/chat/completions", pickedChat)
		if !got.immediate || got.status != 500 {
			t.Errorf("%s, closed: %+v", name, got)
		}
	}
	quiet(t, w)
}
