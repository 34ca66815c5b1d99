package server

import (
	"net/http"
	"net/url"
	"strings"

	"octet/internal/http1/field"
)

// habit is what a connection's requests have in common. A head that is like the one before leaves the header map as it
// is, with other values under its names. It begins with the second request: a connection for one remembers nothing.
type habit struct {
	field.Habit
	kept   int // fields that are in the header
	room   int // the capacity of values when the head began: what has moved since is not under the header's names
	url    url.URL
	method string
	target string
	same   same
}

// forget ends the habit for a head that is not like it.
func (rd *reader) forget() {
	switch h := rd.habit; {
	case h != nil:
		h.Forget()
		h.same.before = ""
		h.kept, h.room = 0, cap(rd.values)
	case rd.asked:
		rd.habit = &habit{room: cap(rd.values)}
	}
	rd.asked = true
}

// learn takes down the next field. Nil learns nothing.
func (h *habit) learn(spelt string, k kind) {
	if h == nil {
		return
	}
	h.Learn(spelt, uint8(k))
	if !k.hidden() {
		h.kept++
	}
}

// keep makes a habit of the head that c has parsed, if it is fit for one: HTTP/1.1, each field there once, and its
// value where the header has it.
func (h *habit) keep(line string, rd *reader) {
	if h != nil && rd.req.ProtoMinor == 1 && len(rd.values) == h.kept && cap(rd.values) == h.room {
		h.Keep(line)
		h.url = rd.url
		h.method, h.target = rd.req.Method, rd.req.RequestURI
	}
}

// readHead makes req of the head that is unread, and takes it; false is that more of it has to come. A header to which
// a field was added, or from which one was taken, is begun anew.
func (rd *reader) readHead() (whole bool, bad *refusal) {
	if h := rd.habit; h != nil && rd.scan.seen == 0 && rd.skipped == 0 && len(rd.header) == h.kept {
		if rd.resume(h) {
			return true, nil
		}
		if end := h.Locate(rd.buf[rd.r:rd.w]); end > 0 && end <= rd.server.maxHead() {
			return true, rd.repeat(end)
		}
	}
	end, bad := rd.findHead()
	if end == 0 || bad != nil {
		return false, bad
	}
	return true, rd.parse(end)
}

// repeat makes req of a head like the one before.
func (rd *reader) repeat(end int) *refusal {
	head := string(rd.buf[rd.r : rd.r+end]) // the one copy that all strings of the request share
	rd.r += end
	rd.headSize = end
	rd.scan, rd.inHead = scan{}, false
	rd.blankRequest()
	h := rd.habit
	rd.url = h.url
	rd.req.Method, rd.req.RequestURI = h.method, h.target
	rd.req.Proto, rd.req.ProtoMajor, rd.req.ProtoMinor = "HTTP/1.1", 1, 1
	var f framing
	slot, length := 0, place{}
	for _, custom := range h.Fields() {
		line := head[custom.From:custom.To]
		k, value := kind(custom.Kind), field.Trim(line)
		f.note(k, value)
		if k == lengthField {
			length = place{int(custom.From) + strings.Index(line, value), slot}
		}
		if !k.hidden() {
			rd.values[slot] = value
			slot++
		}
	}
	bad := rd.frame(&f)
	if bad == nil {
		h.remember(head, length, &f, rd)
	}
	return bad
}

// largeHead is what an idle connection may keep of the last head, in bytes.
const largeHead = 2 << 10

// forgetLarge has a connection that waits for its next request keep nothing of a large head: what it is spared by a
// head like the one before is not worth that memory, of which a client that is silent could pin as much as it likes.
func (c *conn) forgetLarge() {
	if c.headSize <= largeHead {
		return
	}
	c.headSize, c.asked, c.habit = 0, false, nil
	c.header, c.values, c.names = http.Header{}, nil, nil
	c.url = url.URL{}
	c.blankRequest()
	c.answer.header = http.Header{}
}
