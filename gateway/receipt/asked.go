package receipt

import (
	"bytes"
	"maps"
	"slices"
)

// Asked returns the newest receipt in memory of a request with that id, any tenant's, rendered; false if there is none.
// It looks through all that is kept, which an operator's question may cost: what a client reports is the request's id.
func (rs *Rings) Asked(requestID string) (newest *Receipt, ok bool) {
	rs.mu.Lock()
	rings := maps.Clone(rs.rings)
	rs.mu.Unlock()
	for _, g := range rings {
		if r, ok := g.asked([]byte(requestID)); ok && (newest == nil || r.Time.After(newest.Time)) {
			newest = r
		}
	}
	if newest == nil {
		return nil, false
	}
	newest.render()
	return newest, true
}

// asked returns the ring's receipt that Rings.Asked looks for. The lock is held for a page at a time: requests that end
// wait for no more.
func (g *Ring) asked(requestID []byte) (r *Receipt, ok bool) {
	g.mu.Lock()
	n := g.put
	g.mu.Unlock()
	for n > 0 && r == nil {
		r, n = g.askedBefore(n, requestID)
	}
	return r, r != nil
}

// askedBefore looks through the page of the last receipt before the n-th. It returns what it found there, and how many
// receipts are left to look through; 0 where none before that page is kept.
func (g *Ring) askedBefore(n int, requestID []byte) (r *Receipt, left int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	oldest := max(0, g.put-g.keep)
	behind, _ := slices.BinarySearchFunc(g.pages, n, func(p *page, n int) int { return p.first - n })
	if n <= oldest || behind == 0 {
		return nil, 0
	}
	p := g.pages[behind-1]
	if !bytes.Contains(p.text, requestID) {
		return nil, p.first
	}
	for i := min(n-p.first, len(p.entries)) - 1; i >= max(0, oldest-p.first); i-- {
		if bytes.Contains(p.textOf(i), requestID) && p.decode(i).RequestID == string(requestID) {
			return g.readAt(p, i), 0
		}
	}
	return nil, p.first
}

// textOf returns a receipt as it is written.
func (p *page) textOf(i int) []byte {
	if i+1 < len(p.entries) {
		return p.text[p.entries[i].at:p.entries[i+1].at]
	}
	return p.text[p.entries[i].at:]
}
