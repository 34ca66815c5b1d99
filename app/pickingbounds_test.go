package app_test

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"octet/gateway/dispatch"
	"octet/gateway/intake"
)

// longChat is a request beyond what a stream of HTTP/2 has room for, of few tokens.
var longChat = "{" + strings.Repeat(" ", 1<<20) + pickedChat[1:]

// A proxy that accepts nothing has its call ended, and what its request held is free. No replica is blamed.
func TestAProxyThatTakesNothingIsGivenUp(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.write_timeout=1s")
	e := newEnvoy(t, w, false, nil)
	call, err := e.client.Process(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = call.Send(requestHead("POST", "/v1/chat/completions", false, nil))
	sendAll(call, longChat)
	eventually(t, "it has a place", func() bool { // which it keeps until it is given up
		admitted := uint64(0)
		for _, rep := range w.App.Server().Runtime().Replicas {
			if rep != nil {
				admitted += rep.Gate.Stats().Admitted
			}
		}
		return admitted > 0
	})
	quiet(t, w)
	for err == nil { // what was sent before it was given up
		var m *extproc.ProcessingResponse
		if m, err = call.Recv(); m.GetImmediateResponse() != nil {
			t.Fatalf("%s", m.GetImmediateResponse().GetBody())
		}
	}
	if got := status.Code(err); got != codes.DeadlineExceeded {
		t.Errorf("the call ends with %v", err)
	}
	for _, rep := range w.App.Server().Runtime().Replicas {
		if rep != nil && !rep.Fleet.Admits() {
			t.Errorf("%s is blamed", rep.Name)
		}
	}
}

// sendAll sends a body in pieces.
func sendAll(call extproc.ExternalProcessor_ProcessClient, body string) {
	for len(body) > 0 {
		n := min(len(body), 60<<10)
		_ = call.Send(requestPiece(body[:n], n == len(body))) // what fails shows in Recv
		body = body[n:]
	}
}

// What is passed on ends as it came: with its last piece, with an empty one, or with none but the head.
func TestWhatIsPassedOnEndsAsItCame(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	reads := func(rw http.ResponseWriter, r *http.Request, _ dispatch.Courier, _ intake.Among) {
		for room := make([]byte, 100); ; {
			if _, err := r.Body.Read(room); err != nil {
				break
			}
		}
		rw.WriteHeader(http.StatusInternalServerError)
	}
	half := len(pickedChat) / 2
	for name, pieces := range map[string][]string{"one": {pickedChat}, "two": {pickedChat[:half], pickedChat[half:]},
		"an empty last one": {pickedChat, ""}, "empty ones": {"", pickedChat, "", ""}} {
		call, err := newEnvoy(t, w, true, reads).client.Process(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = call.Send(requestHead("POST", "/v1/chat/completions", false, nil))
		for i, piece := range pieces {
			_ = call.Send(requestPiece(piece, i == len(pieces)-1))
		}
		var c carried
		asked, err := (&envoy{t: t}).told(call, &c)
		if err != nil || c.immediate {
			t.Errorf("%s: %v, %+v", name, err, c)
			continue
		}
		resp, err := http.DefaultClient.Do(asked)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := wholeOf(t, resp); resp.StatusCode != 200 || !strings.Contains(text, `"choices"`) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
}

// Bodies that are kept for a proxy that fails open are bounded: a request beyond that fails as without it.
func TestBodiesThatAreKeptAreBounded(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.queue_bytes=1KiB")
	fails := func(rw http.ResponseWriter, r *http.Request, _ dispatch.Courier, _ intake.Among) {
		for room := make([]byte, 4096); ; {
			if _, err := r.Body.Read(room); err != nil {
				break
			}
		}
		rw.WriteHeader(http.StatusInternalServerError)
	}
	e := newEnvoy(t, w, true, fails)
	long := strings.Replace(pickedChat, "why", strings.Repeat("why ", 400), 1)
	for range 3 { // what is kept is given back
		if got := e.post("/v1/chat/completions", pickedChat); got.immediate || got.status != 200 {
			t.Errorf("a short one: %+v", got)
		}
		if got := e.post("/v1/chat/completions", long); !got.immediate || got.status != 500 {
			t.Errorf("a long one: %+v", got)
		}
	}
	for range 20 {
		if got := e.post("/v1/chat/completions", pickedChat); got.immediate || got.status != 200 {
			t.Errorf("a short one: %+v", got)
		}
	}
}
