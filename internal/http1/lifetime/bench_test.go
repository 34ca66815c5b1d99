package lifetime

import (
	"context"
	"testing"
)

// BenchmarkTurn is what a turn of a request does with its context.
func BenchmarkTurn(b *testing.B) {
	var parent Context
	parent.Begin(context.Background())
	l := new(counter)
	b.ReportAllocs()
	for b.Loop() {
		c := new(Context)
		c.Begin(&parent)
		w := Listen(c, l)
		w.Stop()
		c.Cancel(nil)
	}
}
