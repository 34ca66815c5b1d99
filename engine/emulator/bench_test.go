package emulator_test

import (
	"io"
	"net/http"
	"testing"

	"octet/engine/emulator"
)

// BenchmarkStream measures what a streamed token costs from the scheduler to a client that only reads, without any
// model time.
func BenchmarkStream(b *testing.B) {
	r := benchRig(b)
	b.ReportAllocs()
	for n := b.N; n > 0; n -= 1000 {
		resp, err := r.post(b.Context(), "/v1/completions", "bench", `{"prompt":"p","stream":true,"max_tokens":1000}`)
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatal(resp, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func benchRig(b *testing.B) *rig {
	return start(b, emulator.Config{PrefillTPS: 1e12, Step: -1, StepPerSeq: -1})
}
