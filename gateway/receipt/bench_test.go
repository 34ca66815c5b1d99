package receipt

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"octet/classifier"
)

// draft makes the receipt of a request that went well.
func draft(d *Draft, id string) *Receipt {
	*d = Draft{}
	d.Begin(id)
	d.Open("fedcba9876543210fedcba9876543210", "chat", time.Now(), Asked{Model: "template", Policy: "greedy"})
	d.Decide(&classifier.Verdict{Specialist: "template", RoutedBy: classifier.ByModel, Rule: "model template",
		Intent: classifier.Unspecified}, "", "", nil)
	d.r.Routing = append(d.r.Routing, Routing{Specialist: "template", Hit: Hit{Replica: "template-0"}})
	d.Attempt("template", "", "template-0", 0, 0).Close(time.Millisecond, OK, "")
	d.End(Result{Status: 200, Specialist: "template", Finish: "stop", Done: true})
	return d.Receipt()
}

// BenchmarkReceipt is what making a receipt costs, and keeping it; and what the default number of them holds.
func BenchmarkReceipt(b *testing.B) {
	const keep = 10000
	ids := make([]string, 4*keep)
	for i := range ids {
		ids[i] = fmt.Sprintf("%032x", i*0x9e3779b97f4a7c)
	}
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var d Draft
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			draft(&d, ids[i%len(ids)])
		}
	})
	before := held()
	g, r := NewRing(keep), draft(&d, "")
	for i := range keep {
		r.ID = ids[i]
		g.Put(r)
	}
	kept := held() - before
	b.Run("put", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r.ID = ids[i%len(ids)]
			g.Put(r)
		}
		b.ReportMetric(float64(kept)/keep, "B/kept")
	})
	runtime.KeepAlive(g)
}
