package front

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"octet/gateway/apierr"
)

// secureListener accepts connections whose TLS handshake is done. Each handshake has a goroutine; they are bounded in
// time and in number.
type secureListener struct {
	net.Listener
	server   *plainServer
	watched  *Watched      // nil if the program does not ask it
	accepted chan accepted // holds none: what is not taken waits with its handshake's goroutine
	closing  chan struct{} // closed by Close
	once     sync.Once
	running  sync.WaitGroup // the loop and the handshakes
}

type accepted struct {
	nc  net.Conn
	err error
}

// listenSecure begins to accept from l.
func (p *plainServer) listenSecure(l net.Listener) *secureListener {
	watched, _ := l.(*Watched)
	s := &secureListener{Listener: l, server: p, watched: watched, accepted: make(chan accepted),
		closing: make(chan struct{})}
	s.running.Go(s.run)
	return s
}

// Accept returns the next connection whose handshake is done.
func (l *secureListener) Accept() (net.Conn, error) {
	select {
	case a := <-l.accepted:
		return a.nc, a.err
	case <-l.closing:
		return nil, net.ErrClosed
	}
}

// Close ends the listener.
func (l *secureListener) Close() error {
	l.once.Do(func() { close(l.closing) })
	return l.Listener.Close()
}

// wait returns when the loop and all handshakes have ended.
func (l *secureListener) wait() {
	_ = l.Close() // it is closed most often
	l.running.Wait()
}

// run accepts until the listener fails or is closed. net/http waits after an error that passes.
func (l *secureListener) run() {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			if !l.deliver(accepted{err: err}) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		s, leaves, no := l.server.enter(nc)
		if leaves != nil {
			_ = leaves.Close() // its error changes nothing
		}
		if no != nil {
			l.watched.Ended(nc.RemoteAddr())
			_ = nc.Close() // nothing was read, and an answer would need a handshake
			continue
		}
		crowded := l.server.shakes.begin(s)
		if crowded != nil {
			_ = crowded.Close() // its handshake fails
		}
		l.running.Go(func() { l.shake(s) })
	}
}

// deliver hands a connection or an error to Accept. It returns false if nothing is accepted any more.
func (l *secureListener) deliver(a accepted) bool {
	select {
	case l.accepted <- a:
		return true
	case <-l.closing:
		return false
	}
}

// shake makes a handshake and hands the connection on.
func (l *secureListener) shake(s *seat) {
	p := l.server
	if p.shakeTime > 0 {
		_ = s.SetDeadline(time.Now().Add(p.shakeTime))
	}
	over := tls.Server(s, p.secure)
	err := over.Handshake()
	own := l.watched.Ended(s.RemoteAddr())
	outcome := p.shakes.end(s, own, err)
	if err != nil {
		if !own {
			p.ErrorLog.Printf("front: TLS handshake with %s: %s: %v", s.RemoteAddr(), outcome, err)
		}
		p.part(s, err)
		return
	}
	_ = s.SetDeadline(time.Time{}) // net/http sets its own
	var nc net.Conn = over
	if over.ConnectionState().NegotiatedProtocol != "h2" {
		nc = p.strict(over, s)
	}
	if !l.deliver(accepted{nc: nc}) {
		_ = s.Close() // nothing is served any more
	}
}

// SpeaksTLS is what a client is told that speaks plain HTTP to a listener that speaks TLS.
const SpeaksTLS = "this listener speaks TLS: ask for https://"

// What is read of a client after its handshake has failed: with unread bytes the connection's end would overtake the
// reason, an alert or an answer.
const (
	mostUnread  = 64 << 10 // bytes
	partingTime = 100 * time.Millisecond
)

// part closes a connection whose handshake has failed with err. The client has the reason first, if it reads it.
func (p *plainServer) part(s *seat, err error) {
	defer func() { _ = s.Close() }() // its error changes nothing
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed) {
		return
	}
	if speaksHTTP(err) {
		tell(s, apierr.New(apierr.InvalidRequest, "", SpeaksTLS), p.newID())
	}
	if s.CloseWrite() != nil {
		return
	}
	_ = s.SetReadDeadline(time.Now().Add(partingTime))
	_, _ = io.CopyN(io.Discard, s, mostUnread) // until the client has closed, or the time is over
}

// speaksHTTP returns true if a handshake has failed because the client has sent a request instead.
func speaksHTTP(err error) bool {
	var record tls.RecordHeaderError
	if !errors.As(err, &record) || record.Conn == nil {
		return false
	}
	switch string(record.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET", "PATCH", "PRI *", "CONNE", "TRACE":
		return true
	}
	return false
}
