package picker

import (
	"context"
	"sync"
	"time"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// readyEvery is how often Ready is asked, until it says so.
const readyEvery = 100 * time.Millisecond

// announce says that the picker serves, as soon as it does: else a proxy's orchestrator ends the one before while this
// one knows no replica yet. What it comes to later, with its replicas gone, the proxy is told as each request's answer.
func (p *Picker) announce(ctx context.Context, running *sync.WaitGroup, well *health.Server) {
	say := func(as healthpb.HealthCheckResponse_ServingStatus) {
		well.SetServingStatus(extproc.ExternalProcessor_ServiceDesc.ServiceName, as)
	}
	if p.cfg.Ready == nil || p.cfg.Ready() {
		say(healthpb.HealthCheckResponse_SERVING)
		return
	}
	say(healthpb.HealthCheckResponse_NOT_SERVING)
	running.Go(func() {
		again := time.NewTicker(readyEvery)
		defer again.Stop()
		for !p.cfg.Ready() {
			select {
			case <-again.C:
			case <-ctx.Done():
				return
			}
		}
		say(healthpb.HealthCheckResponse_SERVING) // nothing, once it has been shut down
	})
}

// healths is the service of health. Watching it ends as the server stops, which waits for all calls.
type healths struct {
	*health.Server
	stopping context.Context
}

// Watch implements healthpb.HealthServer.
func (h healths) Watch(r *healthpb.HealthCheckRequest,
	to grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	ctx, cancel := context.WithCancel(to.Context())
	defer cancel()
	defer context.AfterFunc(h.stopping, cancel)()
	return h.Server.Watch(r, watching{to, ctx})
}

// watching is a stream that ends with ctx.
type watching struct {
	grpc.ServerStreamingServer[healthpb.HealthCheckResponse]
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (w watching) Context() context.Context { return w.ctx }
