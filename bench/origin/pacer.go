package origin

import (
	"io"
	"net"
	"sync"
	"time"
)

// pacer writes one event to each of many streams at their pace, spread evenly over it, from one goroutine: a timer for
// each stream would be the largest cost of the machine.
type pacer struct {
	mu      sync.Mutex
	streams []net.Conn // nil where one has ended
	every   time.Duration
	running bool
	end     chan struct{}
	ended   chan struct{}
}

const tick = time.Millisecond

func (p *pacer) add(c net.Conn, every time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.every = every
	p.streams = append(p.streams, c)
	if !p.running {
		p.running, p.end, p.ended = true, make(chan struct{}), make(chan struct{})
		go p.run()
	}
}

func (p *pacer) stop() {
	p.mu.Lock()
	running := p.running
	p.running = false
	p.mu.Unlock()
	if running {
		close(p.end)
		<-p.ended
	}
}

func (p *pacer) run() {
	defer close(p.ended)
	t := time.NewTicker(tick)
	defer t.Stop()
	start, done := time.Now(), 0
	for {
		select {
		case <-p.end:
			return
		case <-t.C:
		}
		now := int(time.Since(start) / tick)
		for ; done < now; done++ {
			p.write(done)
		}
	}
}

// write serves the streams whose turn the tick is. Ticks that were missed are made up for, so that the rate holds.
func (p *pacer) write(tickNo int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := max(int(p.every/tick), 1)
	alive := false
	for i, c := range p.streams {
		if c == nil {
			continue
		}
		alive = true
		if i%n != tickNo%n {
			continue
		}
		if _, err := io.WriteString(c, chats.event); err != nil {
			p.streams[i] = nil
		}
	}
	if !alive {
		p.streams = p.streams[:0]
	}
}
