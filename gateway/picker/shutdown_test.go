package picker

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	modes "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"octet/gateway/dispatch"
	"octet/gateway/intake"
	"octet/internal/await"
)

// The last request of a drain has left the line before the proxy has been told its end: the server stops behind that,
// and waits for nobody who watches its health.
func TestTheLastAnswerOfADrainIsSent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	line := func(w http.ResponseWriter, _ *http.Request, _ dispatch.Courier, _ intake.Among) {
		stop()
		close(done) // as the drain ends with the last request's seat
		await.True(t, "the server stops", func() bool {
			c, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
			if err == nil {
				_ = c.Close()
			}
			return err != nil
		})
		w.WriteHeader(http.StatusTeapot)
	}
	ended := make(chan error, 1)
	go func() { ended <- New(Config{Line: line}).Serve(ctx, l, done) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	watch, err := healthpb.NewHealthClient(conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	call, err := extproc.NewExternalProcessorClient(conn).Process(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	head := &extproc.HttpHeaders{Headers: headersOf(":method", "GET", ":path", "/"), EndOfStream: true}
	if err := call.Send(&extproc.ProcessingRequest{
		Request: &extproc.ProcessingRequest_RequestHeaders{RequestHeaders: head},
		ProtocolConfig: &extproc.ProtocolConfiguration{
			RequestBodyMode:  modes.ProcessingMode_FULL_DUPLEX_STREAMED,
			ResponseBodyMode: modes.ProcessingMode_FULL_DUPLEX_STREAMED}}); err != nil {
		t.Fatal(err)
	}
	m, err := call.Recv()
	if code := m.GetImmediateResponse().GetStatus().GetCode(); err != nil || code != http.StatusTeapot {
		t.Errorf("%v: %v", err, m)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// headersOf returns a head of pairs of names and values.
func headersOf(pairs ...string) *core.HeaderMap {
	m := new(core.HeaderMap)
	for i := 0; i < len(pairs); i += 2 {
		m.Headers = append(m.Headers, &core.HeaderValue{Key: pairs[i], RawValue: []byte(pairs[i+1])})
	}
	return m
}
