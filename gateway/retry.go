package gateway

import "sync/atomic"

// retryBudget bounds retries to a share of requests, over the whole gateway: when everything fails, retries must not double
// the load. It is a bucket in thousandths of a retry: each request adds share, each retry takes one.
type retryBudget struct {
	share atomic.Int64 // thousandths added by each request
	level atomic.Int64 // thousandths
}

// reserve is what the bucket holds at most, and starts with: a quiet gateway may retry that often in a row.
const reserve = 10_000

func newRetryBudget(share float64) *retryBudget {
	b := &retryBudget{}
	b.setShare(share)
	if share > 0 {
		b.level.Store(reserve)
	}
	return b
}

func (b *retryBudget) setShare(share float64) { b.share.Store(int64(share * 1000)) }

// earn adds one request's share.
func (b *retryBudget) earn() {
	share := b.share.Load()
	if share > 0 && b.level.Load() < reserve && b.level.Add(share) > reserve {
		b.level.Store(reserve)
	}
}

// take spends one retry if the bucket holds one.
func (b *retryBudget) take() bool {
	for {
		have := b.level.Load()
		if have < 1000 {
			return false
		}
		if b.level.CompareAndSwap(have, have-1000) {
			return true
		}
	}
}
