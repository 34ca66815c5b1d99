package intake

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/ensemble"
)

// Arriving are the bodies on their way. They take no places among the open requests: bodies that never come cannot fill
// those. Where there are too many, in all or of one tenant or address, the one that is on its way for longest gives
// way: whatever its sender does, new ones come in, and what arrives quickly is not what is struck. The zero value is
// ready.
type Arriving struct {
	n atomic.Int64 // uploads; changed under mu

	mu      sync.Mutex
	oldest  *Upload // guarded by mu, as all below; or nil
	newest  *Upload
	all     sum
	tenants map[string]*sum // without those that have nothing on the way
	sources map[netip.Addr]*sum
}

// sum is of some of them.
type sum struct {
	bodies int
	bytes  int64
}

func (s *sum) add(bodies int, bytes int64) {
	s.bodies += bodies
	s.bytes += bytes
}

func (s *sum) exceeds(l ensemble.Inbound, share float64) bool {
	return l.Bodies > 0 && float64(s.bodies) > max(share*float64(l.Bodies), 1) || l.Bytes > 0 &&
		float64(s.bytes) > share*float64(l.Bytes)
}

// Upload is one body on its way. Its fields are guarded by the Arriving's mu.
type Upload struct {
	limits       ensemble.Inbound
	tenant       string
	source       netip.Addr
	bytes        int64
	interrupt    func()
	refused      *apierr.Error // it had to give way; then it is in no list
	older, newer *Upload
}

// Count returns how many bodies are on their way.
func (b *Arriving) Count() int64 { return b.n.Load() }

// Expect counts a body among those on their way; nil if it is at hand. End ends it.
func (b *Arriving) Expect(c conn.Body, r *http.Request, l ensemble.Inbound, tenant string) *Upload {
	if c.AtHand() {
		return nil
	}
	return b.begin(l, tenant, conn.AddressOf(r.RemoteAddr), c.Interrupt)
}

// begin counts a body that is to be waited for. interrupt has its reader look at Grow; it is called under the lock, so
// that it never meets the connection's next request, and must not wait.
func (b *Arriving) begin(l ensemble.Inbound, tenant string, source netip.Addr, interrupt func()) *Upload {
	if l.Share <= 0 {
		l.Share = 1
	}
	u := &Upload{limits: l, tenant: tenant, source: source, interrupt: interrupt}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tenants == nil {
		b.tenants, b.sources = map[string]*sum{}, map[netip.Addr]*sum{}
	}
	if u.older = b.newest; u.older != nil {
		u.older.newer = u
	} else {
		b.oldest = u
	}
	b.newest = u
	b.add(u, 1, 0)
	b.trim(u)
	return u
}

// Grow counts n more bytes of a body, and returns why it is to be given up; nil otherwise, and for a nil Upload.
func (b *Arriving) Grow(u *Upload, n int) *apierr.Error {
	if u == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if u.refused == nil && n > 0 {
		u.bytes += int64(n)
		b.add(u, 0, int64(n))
		b.trim(u)
	}
	return u.refused
}

// End forgets a body that is whole, or given up. It does nothing for a nil Upload.
func (b *Arriving) End(u *Upload) {
	if u == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if u.refused == nil {
		b.remove(u)
	}
}

// add changes the sums that u counts in. Under mu.
func (b *Arriving) add(u *Upload, bodies int, bytes int64) {
	b.all.add(bodies, bytes)
	addTo(b.tenants, u.tenant, bodies, bytes)
	addTo(b.sources, u.source, bodies, bytes)
	b.n.Add(int64(bodies))
}

func addTo[K comparable](sums map[K]*sum, of K, bodies int, bytes int64) {
	s := sums[of]
	if s == nil {
		s = new(sum)
		sums[of] = s
	}
	if s.add(bodies, bytes); s.bodies == 0 {
		delete(sums, of)
	}
}

// trim has the oldest give way until nothing that u counts in is beyond its bound. Under mu.
func (b *Arriving) trim(u *Upload) {
	l := u.limits
	for u.refused == nil && b.all.exceeds(l, 1) {
		b.giveWay(func(*Upload) bool { return true }, apierr.New(apierr.Overloaded, "", fmt.Sprintf(
			"the body took long to come, and others wait: limits.arriving_bodies is %d, limits.arriving_bytes %d",
			l.Bodies, l.Bytes)))
	}
	for u.refused == nil && b.tenants[u.tenant].exceeds(l, l.Share) {
		b.giveWay(func(o *Upload) bool { return o.tenant == u.tenant }, apierr.New(apierr.QuotaExceeded, "",
			"the body took long to come, and others of this key wait: its share is limits.arriving_share"))
	}
	for u.refused == nil && b.sources[u.source].exceeds(l, l.Share) {
		b.giveWay(func(o *Upload) bool { return o.source == u.source }, apierr.New(apierr.QuotaExceeded, "",
			"the body took long to come, and others of this address wait: its share is limits.arriving_share"))
	}
}

// giveWay gives up the oldest of some. Under mu; there is one.
func (b *Arriving) giveWay(of func(*Upload) bool, why *apierr.Error) {
	u := b.oldest
	for !of(u) {
		u = u.newer
	}
	b.remove(u)
	why.Cause = os.ErrDeadlineExceeded // as for any other body that is late: the client has not left
	u.refused = why
	u.interrupt()
}

// remove takes u out of the list and the sums. Under mu.
func (b *Arriving) remove(u *Upload) {
	if u.older != nil {
		u.older.newer = u.newer
	} else {
		b.oldest = u.newer
	}
	if u.newer != nil {
		u.newer.older = u.older
	} else {
		b.newest = u.older
	}
	u.older, u.newer = nil, nil
	b.add(u, -1, -u.bytes)
}

// Bytes returns what was received of all bodies on their way.
func (b *Arriving) Bytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.bytes
}
