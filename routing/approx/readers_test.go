package approx

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

// Readers take no lock: whatever is cut, joined, shortened, forgotten or held block by block meanwhile, no query is
// told of a block that was not routed.
func TestReadersBesideAWriterSeeWhatWasRouted(t *testing.T) {
	const routed, long = 40, 64
	x := open(t, Config{Blocks: 100})
	// of each, the first 40 blocks are routed; they part from each other at multiples of 5
	var prompts [6][]kvpool.BlockHash
	for i := range prompts {
		prompts[i] = append(chain(5*i, 1), chain(long-5*i, kvpool.BlockHash(1000*(i+1)))...)
	}
	var over atomic.Bool
	var reading sync.WaitGroup
	for range 2 {
		reading.Go(func() {
			for i := 0; !over.Load(); i++ {
				if n := depth(x, 0, prompts[i%len(prompts)], start); n > routed {
					t.Errorf("%d blocks of a prompt of which %d were routed", n, routed)
					return
				}
			}
		})
	}
	draw := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		p := prompts[draw.IntN(len(prompts))]
		switch draw.IntN(40) {
		case 0:
			x.Heard(index.Batch{Host: 0, Ops: []index.Op{{Kind: index.Remove, Blocks: p[draw.IntN(routed):routed]}}})
		case 1:
			x.Forget(0)
		case 2:
			x.Last(0, time.Duration(1+draw.IntN(2))*time.Minute)
		default:
			x.Routed(0, p[:1+draw.IntN(routed)], start)
		}
	}
	over.Store(true)
	reading.Wait()
	x.Forget(0)
	x.Routed(0, prompts[3][:routed], start)
	if n := depth(x, 0, prompts[3], start); n != routed {
		t.Errorf("%d blocks deep, want %d", n, routed)
	}
}
