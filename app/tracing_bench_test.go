package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkTraced is BenchmarkComplete without traces, with their times taken down and none made, and with a share of
// them made and sent.
func BenchmarkTraced(b *testing.B) {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer receiver.Close()
	for _, sample := range []string{"off", "0", "0.01", "1"} {
		b.Run("sample="+sample, func(b *testing.B) {
			file := benchConfig
			if sample != "off" {
				file += fmt.Sprintf("tracing: {otlp: %q, sample: %s, per_second: 100000}\n", receiver.URL, sample)
			}
			benchRequests(b, benchHandler(b, file, benchEngine{}), "/v1/chat/completions", benchBody(1<<10, false),
				false)
		})
	}
}
