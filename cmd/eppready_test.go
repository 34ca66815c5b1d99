package cmd

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"octet/app"
	"octet/config"
	"octet/internal/await"
)

// A picker serves once a replica has answered, as /readyz says it: a new one that knows none yet does not take the
// place of one that does. A fleet that is lost later is told to each request, with its typed error; a drain is told.
func TestAPickerServesOnceAReplicaHasAnswered(t *testing.T) {
	var up atomic.Bool
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !up.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer engine.Close()
	cfg, err := config.Parse("octet.yaml", []byte(`
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
fleet: {probe_interval: 20ms}
specialists: [{name: debug, tokenizer: builtin, replicas: [{url: "`+engine.URL+`", engine: vllm, blocks: 64}]}]`),
		config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := begin(t.Context(), cfg, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.ServePicking(ctx, g.data, g.admin, app.PickerOptions{Listener: asked}) }()
	conn, err := grpc.NewClient(asked.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	says := func() healthpb.HealthCheckResponse_ServingStatus {
		said, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{
			Service: extproc.ExternalProcessor_ServiceDesc.ServiceName})
		if err != nil {
			t.Fatal(err)
		}
		return said.GetStatus()
	}
	ready := func() bool {
		resp, err := http.Get("http://" + g.data.Addr().String() + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}
	if got := says(); got != healthpb.HealthCheckResponse_NOT_SERVING || ready() {
		t.Errorf("without a replica it is %v", got)
	}
	up.Store(true)
	await.True(t, "it serves", func() bool { return says() == healthpb.HealthCheckResponse_SERVING })
	up.Store(false)
	await.True(t, "the replica is lost", func() bool { return !ready() })
	if got := says(); got != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("with its replica gone it is %v", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
