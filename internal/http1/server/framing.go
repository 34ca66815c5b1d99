package server

import (
	"net/http"
	"strconv"
	"strings"

	"octet/internal/http1/field"
)

// framing is what a head says of its message's length and of the connection.
type framing struct {
	host                  string
	hosts                 int
	length                string
	lengths               int
	coding                string
	codings               int
	trailer               string // all Trailer fields, one after another
	expect                string // of the first Expect field
	expects               int
	close, stay           bool // Connection
	connections           int
	closeFirst, stayFirst bool   // in the first Connection field, however it is parted: what net/http's answers go by
	pragma                string // the first Pragma field
	pragmas               int
	cached                bool // Cache-Control is given
}

// kind is what a field means to the server itself.
type kind uint8

const (
	otherField kind = iota
	hostField
	lengthField
	codingField
	trailerField
	expectField
	connectionField
	pragmaField
	cacheField
)

// kindOf takes a canonical name.
func kindOf(name string) kind {
	switch name {
	case "Host":
		return hostField
	case "Content-Length":
		return lengthField
	case "Transfer-Encoding":
		return codingField
	case "Trailer":
		return trailerField
	case "Expect":
		return expectField
	case "Connection":
		return connectionField
	case "Pragma":
		return pragmaField
	case "Cache-Control":
		return cacheField
	}
	return otherField
}

// hidden says whether handlers do not get to see a field.
func (k kind) hidden() bool { return k == hostField || k == codingField }

// note takes down a field that the server itself obeys.
func (f *framing) note(k kind, value string) {
	switch k {
	case hostField:
		f.host = value
		f.hosts++
	case lengthField:
		f.length = value
		f.lengths++
	case codingField:
		f.coding = value
		f.codings++
	case trailerField:
		f.trailer += "," + value
	case expectField:
		if f.expects++; f.expects == 1 {
			f.expect = value
		}
	case connectionField:
		if f.connections++; f.connections == 1 {
			f.closeFirst, f.stayFirst = listed(value, "close", ", \t"), listed(value, "keep-alive", ", \t")
		}
		f.close = f.close || listed(value, "close", ",")
		f.stay = f.stay || listed(value, "keep-alive", ",")
	case pragmaField:
		if f.pragmas++; f.pragmas == 1 {
			f.pragma = value
		}
	case cacheField:
		f.cached = true
	default: // a field of the handler's
	}
}

// frame decides where the request's body ends and what becomes of its connection.
func (rd *reader) frame(f *framing) *refusal {
	r := rd.req
	old := r.ProtoMinor == 0
	if f.hosts > 1 || f.hosts == 0 && !old && r.Method != http.MethodConnect || !all(f.host, hostByte) {
		return errHost
	}
	r.Host = rd.url.Host
	if r.Host == "" {
		r.Host = f.host
	}
	if f.pragma == "no-cache" && !f.cached {
		rd.keep("Cache-Control", "no-cache")
	}
	r.Close = f.close || old && !f.stay
	rd.last = r.Close || f.closeFirst || old && !f.stayFirst
	if bad := rd.frameBody(f, old); bad != nil {
		return bad
	}
	rd.post = r.Method == http.MethodPost
	return rd.expect(f, old)
}

// frameBody is RFC 9112, section 6, without its leniencies.
func (rd *reader) frameBody(f *framing, old bool) *refusal {
	r := rd.req
	switch {
	case f.codings > 0 && old:
		return errCodingIn10
	case f.codings > 1 || f.codings == 1 && !field.Fold(f.coding, "chunked"):
		return errCoding
	case f.codings == 1 && f.lengths > 0:
		return errBothFramings
	case f.codings == 1:
		return rd.frameChunks(f)
	case f.lengths > 1:
		return errLengthTwice
	case f.lengths == 0 || f.length == "0":
		rd.body.none()
		r.Body = http.NoBody
		return nil
	}
	n, err := strconv.ParseUint(f.length, 10, 63)
	if err != nil {
		return errLength
	}
	r.ContentLength = int64(n)
	if n == 0 {
		rd.body.none()
		r.Body = http.NoBody
		return nil
	}
	rd.body.measured(int64(n))
	r.Body = &rd.body
	return nil
}

var chunkedCoding = []string{"chunked"}

func (rd *reader) frameChunks(f *framing) *refusal {
	for name := range strings.SplitSeq(f.trailer, ",") {
		switch canonical(field.Trim(name)) {
		case "Transfer-Encoding", "Trailer", "Content-Length":
			return errTrailer
		}
	}
	delete(rd.header, "Trailer")
	rd.body.chunks()
	rd.req.Body, rd.req.ContentLength, rd.req.TransferEncoding = &rd.body, -1, chunkedCoding
	return nil
}

func (rd *reader) expect(f *framing, old bool) *refusal {
	switch {
	case f.expects == 0 || f.expect == "":
	case !listed(f.expect, "100-continue", ", \t"):
		return errExpectation
	case !old && rd.req.ContentLength != 0:
		rd.body.waits, rd.body.expected = true, true
	}
	return nil
}

// listed reports whether a list has the word, which is in lower case, between any of the separators and blanks around
// it.
func listed(list, word, separators string) bool {
	for list != "" {
		part := list
		if i := strings.IndexAny(list, separators); i >= 0 {
			part, list = list[:i], list[i+1:]
		} else {
			list = ""
		}
		if field.Fold(field.Trim(part), word) {
			return true
		}
	}
	return false
}
