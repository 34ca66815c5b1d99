package server

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	fuzzCount = flag.Int("fuzzcount", 20000,
		"scripts that TestOursHearsWhatTheirsHears runs; 10000000 is the proof that the front may serve")
	fuzzSeed    = flag.Uint64("fuzzseed", 1, "of the first worker's scripts")
	fuzzWorkers = flag.Int("fuzzworkers", 1, "that run side by side")
	fuzzFaults  = flag.Int("fuzzfaults", 3, "that are shown before a worker gives up")
)

// tally is what a run came to.
type tally struct {
	mu       sync.Mutex
	why      map[string]int
	requests atomic.Int64
	done     atomic.Int64
}

func (y *tally) add(why string) {
	y.mu.Lock()
	y.why[why]++
	y.mu.Unlock()
}

// Random scripts, played to net/http and to ours, which must hear the same requests and give the same answers, but for
// what ours refuses for a reason that is listed and that an oracle finds in the script.
func TestOursHearsWhatTheirsHears(t *testing.T) {
	y := &tally{why: map[string]int{}}
	var working sync.WaitGroup
	start := time.Now()
	for i := range *fuzzWorkers {
		working.Go(func() { y.work(t, *fuzzSeed+uint64(i), *fuzzCount / *fuzzWorkers) })
	}
	working.Wait()
	if testing.Verbose() {
		fmt.Fprintf(os.Stderr, "%d scripts, %d requests heard by both, %v\n", y.done.Load(), y.requests.Load(),
			time.Since(start).Round(time.Second))
		for _, why := range slices.Sorted(maps.Keys(y.why)) {
			fmt.Fprintf(os.Stderr, "%9d %s\n", y.why[why], why)
		}
	}
}

func (y *tally) work(t *testing.T, seed uint64, count int) {
	p := newPair()
	defer p.end()
	g := newGenerator(seed)
	faults := 0
	for i := range count {
		s := g.script()
		theirs, ours := p.askTheirs(s), p.askOurs(s)
		wrong, why := compare(s, theirs, ours)
		y.done.Add(1)
		y.requests.Add(int64(len(ours.requests)))
		if why != "" {
			y.add(why)
		}
		if wrong == "" {
			continue
		}
		t.Errorf("seed %d, script %d, ending %v, cuts %v:\n%q\n%s", seed, i, s.ending, s.cuts,
			s.input[:min(len(s.input), 3000)], wrong)
		if faults++; faults >= *fuzzFaults {
			return
		}
	}
}
