package zmqstream

import (
	"strings"
	"sync"
	"time"

	"octet/routing/events/zmtp"
)

// maxTopics bounds what one subscriber may ask for.
const maxTopics = 256

// peers are the connections of a Publisher, and which of them want its messages.
type peers struct {
	most int // messages that wait for one of them

	mu          sync.Mutex
	closed      bool
	open        map[*zmtp.Conn]struct{}
	subscribers map[*subscriber]struct{}
}

// subscriber is one SUB socket.
type subscriber struct {
	topics map[string]int // how often each prefix was asked for; guarded by peers.mu
	queue  chan envelope
}

type envelope struct {
	topic string
	message
}

// keep notes a connection, so that close ends it. It reports false when everything has ended already.
func (p *peers) keep(c *zmtp.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	if p.open == nil {
		p.open = map[*zmtp.Conn]struct{}{}
	}
	p.open[c] = struct{}{}
	return true
}

func (p *peers) drop(c *zmtp.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

func (p *peers) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.open {
		_ = c.Close() // its own goroutines see it end
	}
}

// serve sends one subscriber what it has subscribed to, until its connection ends.
func (p *peers) serve(conn *zmtp.Conn) {
	s := &subscriber{topics: map[string]int{}, queue: make(chan envelope, p.most)}
	p.mu.Lock()
	if p.subscribers == nil {
		p.subscribers = map[*subscriber]struct{}{}
	}
	p.subscribers[s] = struct{}{}
	p.mu.Unlock()
	var writing sync.WaitGroup
	ended := make(chan struct{})
	writing.Go(func() { s.write(conn, ended) })
	defer writing.Wait()
	defer close(ended)
	defer p.leave(s)
	for {
		frames, err := conn.Receive()
		if err != nil {
			return
		}
		if len(frames) == 1 && len(frames[0]) > 0 && !p.subscribe(s, frames[0][0], string(frames[0][1:])) {
			return
		}
	}
}

// subscribe carries out a subscription or its end. It reports false when the peer asks for too much.
func (p *peers) subscribe(s *subscriber, on byte, topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case on == 1:
		s.topics[topic]++
	case on == 0 && s.topics[topic] > 1:
		s.topics[topic]--
	case on == 0:
		delete(s.topics, topic)
	}
	return len(s.topics) <= maxTopics
}

func (p *peers) leave(s *subscriber) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subscribers, s)
}

// send queues m for its subscribers. For a subscriber whose queue is full it is lost, as with ZeroMQ.
func (p *peers) send(topic string, m message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.subscribers {
		if !s.wants(topic) {
			continue
		}
		select {
		case s.queue <- envelope{topic, m}:
		default:
		}
	}
}

func (s *subscriber) wants(topic string) bool {
	for prefix := range s.topics {
		if strings.HasPrefix(topic, prefix) {
			return true
		}
	}
	return false
}

func (s *subscriber) write(conn *zmtp.Conn, ended <-chan struct{}) {
	for {
		select {
		case e := <-s.queue:
			if conn.Send([]byte(e.topic), e.number(), e.payload) != nil {
				_ = conn.Close() // serve sees it end
				return
			}
		case <-ended:
			return
		}
	}
}

// flush waits until nothing is queued, or for that long.
func (p *peers) flush(most time.Duration) {
	for until := time.Now().Add(most); p.queued() > 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond) //nolint:forbidigo // bounded by most, at the end of a publisher
	}
}

func (p *peers) queued() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.subscribers {
		n += len(s.queue)
	}
	return n
}
