package server

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
)

// scan is how far a head was searched, relative to conn.r.
type scan struct {
	at    int // everything before it is whole lines
	seen  int // no line ends between at and here
	lines int // the request line counts
}

// findHead returns the length of the head at the beginning of what is unread, its empty line included; 0 is not all
// here yet. Up to four bytes of empty lines before it are passed over where the request before was a POST, as old
// clients send some.
func (c *conn) findHead() (int, *refusal) {
	c.skipEmptyLines()
	unread := c.buf[c.r:c.w]
	for {
		n := bytes.IndexByte(unread[c.scan.seen:], '\n')
		if n < 0 {
			c.scan.seen = len(unread)
			return 0, c.tooLarge(len(unread))
		}
		line := unread[c.scan.at : c.scan.seen+n]
		if len(line) == 0 || line[len(line)-1] != '\r' {
			return 0, errBareLF
		}
		c.scan.at = c.scan.seen + n + 1
		c.scan.seen = c.scan.at
		if len(line) == 1 {
			end := c.scan.at
			return end, c.tooLarge(end)
		}
		c.scan.lines++
		if most := c.server.MaxFields; most > 0 && c.scan.lines > most+1 {
			return 0, errFields
		}
	}
}

func (c *conn) skipEmptyLines() {
	for c.post && c.skipped < 4 && c.r < c.w && (c.buf[c.r] == '\r' || c.buf[c.r] == '\n') {
		c.r++
		c.skipped++
	}
}

func (c *conn) tooLarge(head int) *refusal {
	if head > c.server.maxHead() {
		return errHeadSize
	}
	return nil
}

// parse makes req of the head that is the first end unread bytes, and takes them.
func (c *conn) parse(end int) *refusal {
	head := string(c.buf[c.r : c.r+end-2]) // the one copy that all strings of the request share
	c.r += end
	c.headSize = end
	c.scan, c.skipped, c.inHead = scan{}, 0, false
	clear(c.header)
	c.values, c.names, c.twice = c.values[:0], c.names[:0], false
	c.forget()
	c.blankRequest()

	line, fields, _ := strings.Cut(head, "\r\n")
	if bad := c.parseLine(line); bad != nil {
		return bad
	}
	var f framing
	if bad := c.parseFields(fields, &f); bad != nil {
		return bad
	}
	if f.pragmas == 0 && f.trailer == "" { // which would change the header once more
		c.habit.keep(head[:len(line)+2], c)
	}
	return c.frame(&f)
}

// blankRequest makes req one that says nothing yet.
func (c *conn) blankRequest() {
	*c.req = *c.blank
	c.req.Header, c.req.URL = c.header, &c.url
}

// parseLine takes the request line apart.
func (c *conn) parseLine(line string) *refusal {
	method, rest, ok := strings.Cut(line, " ")
	target, proto, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 {
		return errRequestLine
	}
	if !token(method) {
		return errMethod
	}
	switch proto {
	case "HTTP/1.1":
		c.req.Proto, c.req.ProtoMajor, c.req.ProtoMinor = "HTTP/1.1", 1, 1
	case "HTTP/1.0":
		c.req.Proto, c.req.ProtoMajor, c.req.ProtoMinor = "HTTP/1.0", 1, 0
	default:
		if _, _, ok := http.ParseHTTPVersion(proto); ok {
			return errVersion
		}
		return errRequestLine
	}
	c.req.Method, c.req.RequestURI = method, target
	return c.parseTarget(method, target)
}

// parseTarget sets url as net/http does.
func (c *conn) parseTarget(method, target string) *refusal {
	if plainPath(target) {
		c.url = url.URL{Path: target}
		return nil
	}
	authority := method == http.MethodConnect && !strings.HasPrefix(target, "/")
	if authority {
		target = "http://" + target
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return errTarget
	}
	if authority {
		u.Scheme = ""
	}
	c.url = *u
	return nil
}

// parseFields takes the header's lines, each of which ends in CRLF, apart.
func (c *conn) parseFields(rest string, f *framing) *refusal {
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = line[:len(line)-1]
		if line[0] == ' ' || line[0] == '\t' {
			return errFold
		}
		colon := strings.IndexByte(line, ':')
		if colon <= 0 {
			if colon == 0 {
				return errNoName
			}
			return errFieldName
		}
		name := canonical(line[:colon])
		if name == "" {
			return errFieldName
		}
		value := trim(line[colon+1:])
		if !printable(value) {
			return errFieldValue
		}
		k := kindOf(name)
		f.note(k, value)
		if !k.hidden() {
			c.keep(name, value)
		}
		c.habit.learn(line[:colon+1], k)
	}
	return nil
}

// keep adds a field to the request's header.
func (c *conn) keep(name, value string) {
	if earlier, twice := c.header[name]; twice {
		c.header[name], c.twice = append(earlier, value), true
		return
	}
	c.values, c.names = append(c.values, value), append(c.names, name)
	n := len(c.values)
	c.header[name] = c.values[n-1 : n : n]
}
