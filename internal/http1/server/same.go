package server

import "net/http"

// same is a head that is sent again and again: all but the digits of its Content-Length.
type same struct {
	before, after string       // those digits; "" before them is no such head
	slot          int          // of Content-Length in the connection's values
	request       http.Request // what the head makes of a request, but for the length
}

// mostDigits is how many digits a length surely has room for in 63 bits.
const mostDigits = 18

// locate returns the length of the head at the beginning of b, and where its digits lie; 0 is that it is another one,
// or not all there.
func (s *same) locate(b []byte) (end, from, to int, length int64) {
	from = len(s.before)
	if from == 0 || len(b) < from || string(b[:from]) != s.before {
		return 0, 0, 0, 0
	}
	for to = from; to < len(b) && '0' <= b[to] && b[to] <= '9' && to-from < mostDigits; to++ {
		length = length*10 + int64(b[to]-'0')
	}
	end = to + len(s.after)
	if length == 0 || len(b) < end || string(b[to:end]) != s.after {
		return 0, 0, 0, 0
	}
	return end, from, to, length
}

// resume makes req of the head that is unread where it is the one before but for its length, and takes it; false is
// that it is not.
func (rd *reader) resume(h *habit) bool {
	s := &h.same
	unread := rd.buf[rd.r:rd.w]
	end, from, to, length := s.locate(unread)
	if end == 0 || end > rd.server.maxHead() {
		return false
	}
	if string(unread[from:to]) != rd.values[s.slot] {
		rd.values[s.slot] = string(unread[from:to])
	}
	rd.r += end
	rd.inHead = false
	rd.url = h.url
	*rd.req = s.request
	rd.req.ContentLength = length
	rd.body.measured(length)
	return true
}

// place is where a field's value lies in a head, and among a connection's values.
type place struct{ from, slot int }

// remember has the next head like this one, which is made of the habit, told by comparing it, where nothing but a
// length says what comes behind it.
func (h *habit) remember(head string, length place, f *framing, rd *reader) {
	s := &h.same
	s.before = ""
	if f.expects > 0 || rd.req.ContentLength <= 0 {
		return
	}
	s.before, s.after, s.slot = head[:length.from], head[length.from+len(f.length):], length.slot
	s.request = *rd.req
}
