package front

import (
	"net/url"

	"octet/internal/field"
)

// habit is what a connection's requests have in common: clients ask the same in the same words, but for some fields' values. A head
// that is like the one before is read in one pass, and the header map stays as it is, with other values under its names. It begins with
// the second request: a connection for one remembers nothing.
type habit struct {
	asked  bool   // there was a request
	room   int    // the capacity of values when the head began: what has moved since is not under the header's names
	line   string // the request line with its CRLF; "" is no habit
	url    url.URL
	method string
	target string
	fields []custom
	kept   int // fields that are in the header
}

// custom is one field of a habit.
type custom struct {
	spelt    string // the name as it is sent, with its colon
	from, to int32  // where its value lies in the head under way
	kind     kind
}

// mostCustoms is how many fields a habit may have.
const mostCustoms = 32

// begin forgets the habit for a head that is not like it. room is the capacity of the header's values.
func (h *habit) begin(room int) { h.line, h.fields, h.kept, h.room = "", h.fields[:0], 0, room }

// learn takes down the next field.
func (h *habit) learn(spelt string, k kind) {
	if !h.asked || len(h.fields) > mostCustoms {
		return
	}
	h.fields = append(h.fields, custom{spelt: spelt, kind: k})
	if !k.hidden() {
		h.kept++
	}
}

// settle makes a habit of the head that c has parsed, if it is fit for one: HTTP/1.1, each field is there once, and the header shows
// them as they are.
func (h *habit) settle(line string, c *conn) {
	fit := h.asked && c.req.ProtoMinor == 1 && len(h.fields) <= mostCustoms
	fit = fit && len(c.values) == h.kept && len(c.header) == h.kept && cap(c.values) == h.room
	for i := range h.fields {
		fit = fit && h.fields[i].kind != trailerField && h.fields[i].kind != pragmaField
	}
	if fit {
		h.line, h.url, h.method, h.target = line, c.url, c.req.Method, c.req.RequestURI
	}
	h.asked = true
}

// locate finds the values of a head that is like the one before, and returns its length; 0 is that it is not, or not all here.
func (h *habit) locate(b []byte) int {
	at := len(h.line)
	if at == 0 || len(b) < at || string(b[:at]) != h.line {
		return 0
	}
	for i := range h.fields {
		f := &h.fields[i]
		from := at + len(f.spelt)
		if len(b) < from || string(b[at:from]) != f.spelt {
			return 0
		}
		end := field.Control(b, from)
		if end+1 >= len(b) || b[end] != '\r' || b[end+1] != '\n' {
			return 0
		}
		f.from, f.to, at = int32(from), int32(end), end+2
	}
	if len(b) < at+2 || b[at] != '\r' || b[at+1] != '\n' {
		return 0
	}
	return at + 2
}

// readHead makes req of the head that is unread, and takes it; false is that more of it has to come.
func (c *conn) readHead() (whole bool, bad *refusal) {
	if c.scan.seen == 0 && c.skipped == 0 && len(c.header) == c.habit.kept {
		if end := c.habit.locate(c.buf[c.r:c.w]); end > 0 && end <= c.server.maxHead() {
			return true, c.repeat(end)
		}
	}
	end, bad := c.findHead()
	if end == 0 || bad != nil {
		return false, bad
	}
	return true, c.parse(end)
}

// repeat makes req of the head that locate has found.
func (c *conn) repeat(end int) *refusal {
	head := string(c.buf[c.r : c.r+end]) // the one copy that all strings of the request share
	c.r += end
	c.scan, c.inHead = scan{}, false
	c.blankRequest()
	h := &c.habit
	c.url, c.req.Method, c.req.RequestURI = h.url, h.method, h.target
	c.req.Proto, c.req.ProtoMajor, c.req.ProtoMinor = "HTTP/1.1", 1, 1
	var f framing
	slot := 0
	for i := range h.fields {
		custom := &h.fields[i]
		value := field.Trim(head[custom.from:custom.to])
		f.note(custom.kind, value)
		if !custom.kind.hidden() {
			c.values[slot] = value
			slot++
		}
	}
	return c.frame(&f)
}
