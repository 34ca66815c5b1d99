package server

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
)

// reader makes requests of what a connection receives: their heads, and where their bodies end.
type reader struct {
	server *Server
	input
	scan     scan   // how far the head in buf[r:w] was searched for its end
	skipped  int    // bytes of empty lines before it
	inHead   bool   // a head is waited for: the link's limit is its
	headSize int    // of the last head, in bytes
	post     bool   // the request before was a POST
	asked    bool   // there was a request before
	last     bool   // the client wants no answer after this one
	habit    *habit // nil before the second request

	blank  *http.Request // with the connection's context and nothing else
	req    *http.Request
	url    url.URL
	header http.Header
	values []string // of header
	names  []string // of values
	twice  bool     // a field of header came more than once
	body   body
}

// scan is how far a head was searched, relative to conn.r.
type scan struct {
	at    int // everything before it is whole lines
	seen  int // no line ends between at and here
	lines int // the request line counts
}

// findHead returns the length of the head at the beginning of what is unread, its empty line included; 0 is not all
// here yet. Up to four bytes of empty lines before it are passed over where the request before was a POST, as old
// clients send some.
func (rd *reader) findHead() (int, *refusal) {
	rd.skipEmptyLines()
	unread := rd.buf[rd.r:rd.w]
	for {
		n := bytes.IndexByte(unread[rd.scan.seen:], '\n')
		if n < 0 {
			rd.scan.seen = len(unread)
			return 0, rd.tooLarge(len(unread))
		}
		line := unread[rd.scan.at : rd.scan.seen+n]
		if len(line) == 0 || line[len(line)-1] != '\r' {
			return 0, errBareLF
		}
		rd.scan.at = rd.scan.seen + n + 1
		rd.scan.seen = rd.scan.at
		if len(line) == 1 {
			end := rd.scan.at
			return end, rd.tooLarge(end)
		}
		rd.scan.lines++
		if most := rd.server.MaxFields; most > 0 && rd.scan.lines > most+1 {
			return 0, errFields
		}
	}
}

func (rd *reader) skipEmptyLines() {
	for rd.post && rd.skipped < 4 && rd.r < rd.w && (rd.buf[rd.r] == '\r' || rd.buf[rd.r] == '\n') {
		rd.r++
		rd.skipped++
	}
}

func (rd *reader) tooLarge(head int) *refusal {
	if head > rd.server.maxHead() {
		return errHeadSize
	}
	return nil
}

// parse makes req of the head that is the first end unread bytes, and takes them.
func (rd *reader) parse(end int) *refusal {
	head := string(rd.buf[rd.r : rd.r+end-2]) // the one copy that all strings of the request share
	rd.r += end
	rd.headSize = end
	rd.scan, rd.skipped, rd.inHead = scan{}, 0, false
	clear(rd.header)
	rd.values, rd.names, rd.twice = rd.values[:0], rd.names[:0], false
	rd.forget()
	rd.blankRequest()

	line, fields, _ := strings.Cut(head, "\r\n")
	if bad := rd.parseLine(line); bad != nil {
		return bad
	}
	var f framing
	if bad := rd.parseFields(fields, &f); bad != nil {
		return bad
	}
	if f.pragmas == 0 && f.trailer == "" { // which would change the header once more
		rd.habit.keep(head[:len(line)+2], rd)
	}
	return rd.frame(&f)
}

// blankRequest makes req one that says nothing yet.
func (rd *reader) blankRequest() {
	*rd.req = *rd.blank
	rd.req.Header, rd.req.URL = rd.header, &rd.url
}

// parseLine takes the request line apart.
func (rd *reader) parseLine(line string) *refusal {
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
		rd.req.Proto, rd.req.ProtoMajor, rd.req.ProtoMinor = "HTTP/1.1", 1, 1
	case "HTTP/1.0":
		rd.req.Proto, rd.req.ProtoMajor, rd.req.ProtoMinor = "HTTP/1.0", 1, 0
	default:
		if _, _, ok := http.ParseHTTPVersion(proto); ok {
			return errVersion
		}
		return errRequestLine
	}
	rd.req.Method, rd.req.RequestURI = method, target
	return rd.parseTarget(method, target)
}

// parseTarget sets url as net/http does.
func (rd *reader) parseTarget(method, target string) *refusal {
	if plainPath(target) {
		rd.url = url.URL{Path: target}
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
	rd.url = *u
	return nil
}

// parseFields takes the header's lines, each of which ends in CRLF, apart.
func (rd *reader) parseFields(rest string, f *framing) *refusal {
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
			rd.keep(name, value)
		}
		rd.habit.learn(line[:colon+1], k)
	}
	return nil
}

// keep adds a field to the request's header.
func (rd *reader) keep(name, value string) {
	if earlier, twice := rd.header[name]; twice {
		rd.header[name], rd.twice = append(earlier, value), true
		return
	}
	rd.values, rd.names = append(rd.values, value), append(rd.names, name)
	n := len(rd.values)
	rd.header[name] = rd.values[n-1 : n : n]
}
