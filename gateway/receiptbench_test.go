package gateway

import (
	"testing"
	"time"
)

func benchReceipt() *Receipt {
	r := &Receipt{ID: "0123456789abcdef0123456789abcdef", RequestID: "fedcba9876543210fedcba9876543210",
		Time: time.Now()}
	r.Asked.Model, r.Decision.Specialist, r.Decision.Rule, r.Decision.intent, r.Result.Specialist, r.Result.Finish =
		"template", "template", "model template", "unspecified", "template", "stop"
	r.Attempts = []Attempt{{Specialist: "template", Replica: "template-0", Outcome: outcomeOK}}
	r.legs, r.refs = make([]byte, 110), make([]legRefs, 1)
	return r
}

// BenchmarkReceipt is what keeping one costs.
func BenchmarkReceipt(b *testing.B) {
	r := benchReceipt()
	b.Run("write", func(b *testing.B) {
		var text []byte
		for b.Loop() {
			text = r.appendTo(text[:0])
		}
	})
	b.Run("put", func(b *testing.B) {
		g := newReceipts(10000).ring("t")
		for b.Loop() {
			g.put(r)
		}
	})
}
