package otlp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	octet "octet/gateway/trace"
)

// MEGA-73: the share samples the traces that OpenTelemetry's own sampler does, so that a trace is whole over services
// of one share.
func TestTheShareSamplesAsOpenTelemetryDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0, 1e-9, 0.01, 0.25, 0.5, 0.999, 1} {
		theirs, ours := trace.TraceIDRatioBased(share), octet.New(share, false, nil)
		sampled := 0
		for i := range 4000 {
			low := rng.Uint64()
			switch bound := uint64(share*(1<<63)) << 1; i { // at the edges too
			case 0, 1, 2, 3:
				low = bound - 2 + uint64(i)
			case 4, 5:
				low = uint64(i - 4)
			}
			id := fmt.Sprintf("%016x%016x", rng.Uint64(), low)
			whole, err := oteltrace.TraceIDFromHex(id)
			if err != nil {
				t.Fatal(err)
			}
			want := theirs.ShouldSample(trace.SamplingParameters{TraceID: whole}).Decision == trace.RecordAndSample
			var d octet.Draft
			if ours.Begin(&d, id, "", ""); d.Sampled() != want {
				t.Errorf("share %v: %s sampled is %v, OpenTelemetry says %v", share, id, d.Sampled(), want)
			}
			if want {
				sampled++
			}
		}
		t.Logf("share %v: %d of 4000", share, sampled)
	}
}
