package server

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// reply is one answer as it went over the wire.
type reply struct {
	status   int
	minor    string
	fields   []string // sorted, without those that frame and without Date
	body     string
	close    bool   // it says so, or its version does
	own      bool   // the server's, not the handler's
	whole    bool   // it ended as it had said
	toEnd    bool   // only the connection's end marks its own
	problem  string // what is not proper HTTP in it
	byteSize int
}

// replies takes an output apart, strictly. What is left has no whole head.
func replies(out []byte) (all []reply, left string) {
	for len(out) > 0 {
		end := bytes.Index(out, []byte("\r\n\r\n"))
		if end < 0 {
			return all, string(out)
		}
		r, framing := readReplyHead(string(out[:end]))
		out = out[end+4:]
		n := framing.body(&r, out)
		r.byteSize = n
		out = out[n:]
		all = append(all, r)
	}
	return all, ""
}

// replyFraming is what a reply's head says of its length.
type replyFraming struct {
	length  int
	chunked bool
	none    bool
}

func readReplyHead(head string) (reply, replyFraming) {
	lines := strings.Split(head, "\r\n")
	var r reply
	f := replyFraming{length: -1}
	if len(lines[0]) < 12 || !strings.HasPrefix(lines[0], "HTTP/1.") {
		r.problem = "status line " + strconv.Quote(lines[0])
		return r, f
	}
	r.minor = lines[0][7:8]
	r.status, _ = strconv.Atoi(lines[0][9:12])
	r.own = true
	stay := false
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ": ")
		if !ok || strings.ContainsAny(line, "\r\n") || !token(name) {
			r.problem = "field " + strconv.Quote(line)
		}
		switch name {
		case "Content-Length":
			if f.length >= 0 {
				r.problem = "two lengths"
			}
			f.length, _ = strconv.Atoi(value)
			continue
		case "Transfer-Encoding":
			f.chunked = true
			continue
		case "Connection":
			r.close = r.close || value == "close"
			stay = stay || value == "keep-alive"
			continue
		case "Date":
			continue
		case "X-Method":
			r.own = false
			f.none = value == "HEAD"
		}
		r.fields = append(r.fields, line)
	}
	if f.chunked && f.length >= 0 {
		r.problem = "two framings"
	}
	r.close = r.close || r.minor == "0" && !stay
	slices.Sort(r.fields)
	return r, f
}

// body reads the body from out, and returns how much of out it is.
func (f *replyFraming) body(r *reply, out []byte) int {
	switch {
	case f.none || r.status < 200 || r.status == 204 || r.status == 304:
		if r.status != 304 && !f.none && (f.length > 0 || f.chunked) {
			r.problem = "a length without a body"
		}
		r.whole = true
		return 0
	case f.chunked:
		return chunkedReply(r, out)
	case f.length >= 0:
		n := min(f.length, len(out))
		r.body, r.whole = string(out[:n]), n == f.length
		return n
	}
	r.body, r.whole, r.toEnd = string(out), true, true
	if !r.close {
		r.problem = "an end that nothing marks"
	}
	return len(out)
}

func chunkedReply(r *reply, out []byte) int {
	var body strings.Builder
	at := 0
	for {
		n := bytes.Index(out[at:], []byte("\r\n"))
		if n < 0 {
			break
		}
		size, err := strconv.ParseUint(string(out[at:at+n]), 16, 31)
		if err != nil {
			r.problem = "chunk size " + strconv.Quote(string(out[at:at+n]))
			break
		}
		at += n + 2
		if at+int(size)+2 > len(out) {
			body.Write(out[min(at, len(out)):min(at+int(size), len(out))])
			at = len(out)
			break
		}
		body.Write(out[at : at+int(size)])
		if string(out[at+int(size):at+int(size)+2]) != "\r\n" {
			r.problem = "a chunk's end"
		}
		at += int(size) + 2
		if size == 0 {
			r.whole = true
			break
		}
	}
	r.body = body.String()
	if !r.whole {
		at = len(out)
	}
	return at
}
