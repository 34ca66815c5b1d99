package front

import (
	"net"
	"sync"
)

// Watched is a listener that its own program asks for a sign of life. Over TLS such a question's handshake is neither
// counted nor logged: it is no client's, and fails where a client's certificate is demanded.
type Watched struct {
	net.Listener

	mu  sync.Mutex
	own map[string]struct{} // addresses that ask now, as the listener sees them; guarded by mu
}

// Asks says that a connection from addr is this program's own. It is called before the first byte is sent on it.
func (w *Watched) Asks(addr net.Addr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.own == nil {
		w.own = map[string]struct{}{}
	}
	w.own[addr.String()] = struct{}{}
}

// Ended returns true if a connection from addr was this program's own, which it then is no more. A nil Watched has
// none.
func (w *Watched) Ended(addr net.Addr) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, own := w.own[addr.String()]
	delete(w.own, addr.String())
	return own
}
