package main

import (
	"errors"
	"fmt"
	"time"

	"octet/bench/load"
	"octet/bench/origin"
	"octet/bench/usage"
)

// row is one figure of each gateway.
type row struct {
	name    string
	unit    string
	floor   float64 // the ratio to nginx that is asked for; zero means no goal
	aim     float64
	more    bool // a larger figure is better
	fresh   bool // each measurement gets a process of its own
	only    []kind
	measure func(b *bench, p *peer) (float64, error)
}

// bench is what all measurements share.
type bench struct {
	engine *origin.Engine
	span   time.Duration // of one measurement
	conns  int           // of a closed loop
}

// cpuOf returns the processor time that the peer uses for each of what work counts; or, where instructions are counted,
// those.
func cpuOf(p *peer, work func() (int, error)) (float64, error) {
	if countInstructions {
		return instructionsOf(p, work)
	}
	before, err := usage.CPU(p.family)
	if err != nil {
		return 0, err
	}
	n, err := work()
	if err != nil {
		return 0, err
	}
	after, err := usage.CPU(p.family)
	if err != nil || n == 0 {
		return 0, errors.Join(err, errNothing)
	}
	return float64((after - before).Nanoseconds()) / 1e3 / float64(n), nil
}

// countInstructions has the rows of processor time count thousands of instructions instead.
var countInstructions bool

func instructionsOf(p *peer, work func() (int, error)) (float64, error) {
	counter, err := usage.Instructions(p.family)
	if err != nil {
		return 0, err
	}
	n, err := work()
	if err != nil || n == 0 {
		return 0, errors.Join(err, counter.Close(), errNothing)
	}
	sum, err := counter.Count()
	return float64(sum) / 1e3 / float64(n), errors.Join(err, counter.Close())
}

var errNothing = errors.New("nothing was counted")

func ask(p *peer, model string, size int, stream bool) load.Requests {
	return load.Requests{Addr: p.addr, TLS: p.client, Bodies: load.Chat(model, size, stream), Status: 200}
}

// warm has caches, pools and connections filled before anything is counted.
func (b *bench) warm(r load.Requests) error {
	_, err := r.Closed(b.conns, b.span/5)
	return err
}

// unaryCPU is microseconds of processor time for a request that is not streamed.
func unaryCPU(model string, size int) func(*bench, *peer) (float64, error) {
	return func(b *bench, p *peer) (float64, error) {
		r, closeAll, err := ask(p, model, size, false).Keep(b.conns)
		if err != nil {
			return 0, err
		}
		defer closeAll()
		if err := b.warm(r); err != nil {
			return 0, err
		}
		return cpuOf(p, func() (int, error) {
			got, err := r.Closed(b.conns, b.span)
			return got.Requests, err
		})
	}
}

// talkCPU is microseconds of processor time for the next turn of a conversation of 64 KiB, of which all but a tenth was
// asked before.
func talkCPU(b *bench, p *peer) (float64, error) {
	r := load.Requests{Addr: p.addr, Bodies: load.Talk("template", 64<<10), Status: 200}
	if err := b.warm(r); err != nil {
		return 0, err
	}
	return cpuOf(p, func() (int, error) {
		got, err := r.Closed(b.conns, b.span)
		return got.Requests, err
	})
}

// requestRate is requests a second in a closed loop; the client and the engine share the other core, and may be what
// bounds it.
func requestRate(b *bench, p *peer) (float64, error) {
	r := ask(p, "template", 1<<10, false)
	if err := b.warm(r); err != nil {
		return 0, err
	}
	got, err := r.Closed(4*b.conns, b.span)
	return float64(got.Requests) / got.Took.Seconds(), err
}

// latency is microseconds of a request on the only connection, beyond those without a gateway.
func latency(size int, q float64) func(*bench, *peer) (float64, error) {
	return func(b *bench, p *peer) (float64, error) {
		r := ask(p, "template", size, false)
		straight := r
		straight.Addr = b.engine.Addr()
		through, err := quantile(b, r, q)
		if err != nil {
			return 0, err
		}
		without, err := quantile(b, straight, q)
		return through - without, err
	}
}

func quantile(b *bench, r load.Requests, q float64) (float64, error) {
	if _, err := r.Closed(1, b.span/10); err != nil {
		return 0, err
	}
	got, err := r.Closed(1, b.span/2)
	return float64(got.Quantile(q).Nanoseconds()) / 1e3, err
}

// pacedCPU is microseconds for an event of 200 streams that have one each every 10 ms.
func pacedCPU(b *bench, p *peer) (float64, error) {
	b.engine.Play(origin.Script{Every: 10 * time.Millisecond})
	s, err := ask(p, "template", 1<<10, true).Open(200)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	time.Sleep(b.span / 5)
	return cpuOf(p, func() (int, error) {
		before := s.Events()
		time.Sleep(b.span)
		return int(s.Events() - before), nil
	})
}

// burstEvents is the length of a burst's stream: what opening it costs is spread over as many events.
const burstEvents = 4096

// burstCPU is microseconds for an event of streams that come as fast as they are taken.
func burstCPU(b *bench, p *peer) (float64, error) {
	b.engine.Play(origin.Script{Events: burstEvents})
	r, closeAll, err := ask(p, "template", 1<<10, true).Keep(8)
	if err != nil {
		return 0, err
	}
	defer closeAll()
	if _, err := r.Closed(8, b.span/5); err != nil {
		return 0, err
	}
	return cpuOf(p, func() (int, error) {
		got, err := r.Closed(8, b.span)
		if want := got.Requests * (burstEvents + 1); err == nil &&
			(got.Events < want-got.Requests || got.Events > want+got.Requests) {
			return 0, fmt.Errorf("%d streams had %d events", got.Requests, got.Events)
		}
		return got.Events, err
	})
}

// streamMemory is KiB of resident memory for an open stream: the slope from few to many, so that what a process has
// anyway does not count.
func streamMemory(b *bench, p *peer) (float64, error) {
	const few, many = 500, 3000
	b.engine.Play(origin.Script{Hold: true})
	r := ask(p, "template", 1<<10, true)
	sizes := [2]int64{}
	var open []*load.Streams
	defer func() {
		for _, s := range open {
			s.Close()
		}
	}()
	for i, n := range []int{few, many - few} {
		s, err := r.Open(n)
		if err != nil {
			return 0, err
		}
		open = append(open, s)
		time.Sleep(2 * time.Second)
		if sizes[i], err = usage.RSS(p.family); err != nil {
			return 0, err
		}
	}
	return float64(sizes[1]-sizes[0]) / 1024 / (many - few), nil
}

// refusals is how many answers 429 a core gives in a second. Streams that hold what there is are opened first.
func refusals(holders int) func(*bench, *peer) (float64, error) {
	return func(b *bench, p *peer) (float64, error) {
		b.engine.Play(origin.Script{Hold: true})
		if holders > 0 {
			s, err := ask(p, "template", 1<<10, true).Open(holders)
			if err != nil {
				return 0, err
			}
			defer s.Close()
		} else {
			ask(p, "template", 1<<10, false).Once() // the one that the rate allows
		}
		r := ask(p, "template", 1<<10, false)
		r.Status = 429
		if err := b.warm(r); err != nil {
			return 0, err
		}
		micros, err := cpuOf(p, func() (int, error) {
			got, err := r.Closed(b.conns, b.span)
			return got.Requests, err
		})
		return 1e6 / micros, err
	}
}
