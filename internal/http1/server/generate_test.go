package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator writes scripts: valid requests, pipelined, with faults of the kinds that parsers differ about.
type generator struct {
	*rand.Rand
	buf []byte
}

func newGenerator(seed uint64) *generator { return &generator{Rand: rand.New(rand.NewPCG(seed, 1))} }

func (g *generator) pick(from []string) string { return from[g.IntN(len(from))] }
func (g *generator) one(in int) bool           { return g.IntN(in) == 0 }

var (
	methods  = strings.Split("GET GET POST POST POST POST HEAD PUT OPTIONS DELETE CONNECT PRI get G(T P\x00ST", " ")
	versions = strings.Split(
		"HTTP/1.1 HTTP/1.1 HTTP/1.1 HTTP/1.1 HTTP/1.1 HTTP/1.1 HTTP/1.0 HTTP/1.0 HTTP/1.2 HTTP/2.0 HTTP/0.9 http/1.1 "+
			"HTTP/1.10 HTTP/01.1 HTTP/1 HTTP HTTP/1.1\t", " ")
	targets = []string{
		"/", "*", "//x/y", "/a?b=c", "/a?", "/%41", "/%zz", "/a%2Fb", "/a b", "/\x01", "/\xff", "", "http://h/p?q",
		"http://h:80", "http://h:x/", "h:443",
		"/a#f", "https://u@h/", "/a;b", "/[", "?q", "a", "/\x7f", "http:///p", "/a/../b", "/\u212a", "http://[::1]/",
		"/%", "file:p",
	}
	letters = "aaaahhxewwWBflzLtnck123499pq"
	fields  = []string{
		"Host: b", "Host:", "Host: a b", "Host: a\x00", "Host: \u00e9", "host: c", "X-A: 1", "x-lower-case: v", "X-A:2",
		"X-Tab:\t v \t", "X-Empty:", "X-8bit: \xff\x80",
		"X-Nul: \x00", "X-Ctl: a\x01b", "X-Del: \x7f", "X-CR: a\rb", "X Y: v", "X-Y : v", ": v", "nocolon", "X\xc3: v",
		"X\x00: v", " X-Lead: v", "\tX: v",
		"Connection: close", "Connection: keep-alive", "Connection: Close", "Connection: close, te",
		"Connection: te , keep-alive", "Connection: xclose", "Connection: close x",
		"Connection: clo\u017fe", "Connection:", "Expect: 100-continue", "Expect: 100-Continue", "Expect: 200-ok",
		"Expect:", "Expect: x, 100-continue", "Expect: 100-continuex",
		"Pragma: no-cache", "Cache-Control: x", "Pragma: no-cache, x", "Trailer: X-T", "Trailer: Content-Length",
		"Trailer: X,Transfer-Encoding", "TE: trailers", "Upgrade: h2c",
		"Content-Type: application/json", "Transfer-Encoding", "Content-Length", "Cookie: a=b; c=d", "X-Fold: a\r\n b",
		"X-Fold:\r\n\tb", "Proxy-Connection: close", "Keep-Alive: 5",
	}
	lengths = []string{
		"%d", "%d", "%d", "%d", " %d ", "+%d", "-%d", "0x%x", "%d,%[1]d", "%d, 6", "", "0%d", "00000000000000000000%d",
		"99999999999999999999", "9223372036854775807", "%d;x", "%d.0",
		"\v%d", "%d\r\nContent-Length: %[1]d", "%d\r\nContent-Length: 3", "%d_0", "1e1", "\u0661",
	}
	codings = []string{
		"chunked", "chunked", "chunked", "chunked", "Chunked", " chunked ", "xchunked", "chunked, chunked", "identity",
		"gzip, chunked", "chun\u212aed", "\vchunked", "chunked\r\nTransfer-Encoding: chunked",
		"chunked\r\nTransfer-Encoding: x", "", "chunked;q=1", "\"chunked\"", "chunked,", "chunked\x00",
	}
	codingNames = strings.Split(
		"Transfer-Encoding Transfer-Encoding Transfer-Encoding Transfer-Encoding transfer-encoding TRANSFER-ENCODING "+
			"Transfer_Encoding Transfer-Encoding\t X-Transfer-Encoding", " ")
	lineEnds   = []string{"\n", "\r", "\r\r\n", "\n\r\n", "", "\r\n\r\n", " \r\n"}
	extensions = []string{";a=b", ";", ";a=\"b;c\"", " ;x", ";\x01", ";a\rb", ";\xff", "\t", " ",
		";" + strings.Repeat("y", 300)}
)

// script writes one, which is valid until the next.
func (g *generator) script() *script {
	g.buf = g.buf[:0]
	requests := 1 + g.IntN(3)
	for range requests {
		from := len(g.buf)
		g.request()
		if g.one(3) {
			g.repeat(from)
		}
	}
	if g.one(2) {
		g.buf = append(g.buf, "GET /canary HTTP/1.1\r\nHost: canary\r\n\r\n"...)
	}
	if g.one(5) {
		g.mutate()
	}
	if g.one(6) && len(g.buf) > 0 {
		g.buf = g.buf[:g.IntN(len(g.buf))]
	}
	s := &script{input: g.buf, ending: endings[0]}
	if g.one(6) {
		s.ending = endings[g.IntN(len(endings))]
	}
	g.cut(s)
	return s
}

// repeat asks again and again what was written from there on, every other time with a byte of it changed, but for the
// first two most often: what is remembered of one head must not be taken for the next one's, and there is more to
// remember of the third.
func (g *generator) repeat(from int) {
	like := bytes.Clone(g.buf[from:])
	if len(like) > 2<<10 {
		return
	}
	for i := range 1 + g.IntN(6) {
		at := len(g.buf)
		g.buf = append(g.buf, like...)
		if i < 2 && !g.one(3) {
			continue
		}
		for range g.IntN(2) * (1 + g.IntN(2)) {
			g.buf[at+g.IntN(len(like))] = "\r\n :\t;,0aAzx1\x00\x7f\xff"[g.IntN(16)]
		}
	}
}

// line ends what is written, most often properly.
func (g *generator) line() {
	if g.one(150) {
		g.buf = append(g.buf, g.pick(lineEnds)...)
		return
	}
	g.buf = append(g.buf, "\r\n"...)
}

func (g *generator) request() {
	if g.one(30) {
		g.buf = append(g.buf, strings.Repeat("\r\n", 1+g.IntN(4))...)
	}
	method, target, version := "POST", g.plan(), "HTTP/1.1"
	if g.one(3) {
		method = g.pick(methods[:10])
	}
	if g.one(12) {
		version = "HTTP/1.0"
	}
	switch g.IntN(40) {
	case 0:
		method = g.pick(methods)
	case 1, 2:
		target = g.pick(targets)
	case 3:
		version = g.pick(versions)
	}
	g.buf = append(g.buf, method...)
	g.space()
	g.buf = append(g.buf, target...)
	g.space()
	g.buf = append(g.buf, version...)
	g.line()
	if !g.one(60) {
		g.field("Host: a")
	}
	for range g.IntN(4) {
		g.field(g.ordinary())
	}
	if g.one(200) {
		g.field("X-Long: " + strings.Repeat("z", g.IntN(6<<10)))
	}
	if g.one(200) {
		for i := range g.IntN(40) {
			g.field(fmt.Sprintf("X-%d: v", i))
		}
	}
	g.message()
}

func (g *generator) ordinary() string {
	if g.one(4) {
		return g.pick(fields)
	}
	return g.pick([]string{"X-A: 1", "Accept: */*", "content-type: application/json", "User-Agent: g",
		"Connection: keep-alive", "X-A: 2"})
}

func (g *generator) space() {
	if g.one(200) {
		g.buf = append(g.buf, g.pick([]string{"", "  ", "\t", " \t"})...)
		return
	}
	g.buf = append(g.buf, ' ')
}

func (g *generator) field(f string) {
	g.buf = append(g.buf, f...)
	g.line()
}

// plan is a path that has the handler do something.
func (g *generator) plan() string {
	if g.one(2) {
		return "/"
	}
	plan := []byte("/do/")
	for range 1 + g.IntN(5) {
		plan = append(plan, letters[g.IntN(len(letters))])
	}
	return string(plan)
}

// message writes the framing's fields, the empty line and a body.
func (g *generator) message() {
	n := g.IntN(20)
	switch {
	case g.one(20):
		n = g.IntN(20000)
	case g.one(2000):
		n = 200000 + g.IntN(200000)
	}
	body := filler[:min(n, len(filler))]
	kind := g.IntN(10)
	if kind < 5 && kind != 0 || g.one(25) {
		form := "%d"
		if g.one(8) {
			form = g.pick(lengths)
		}
		said := len(body)
		if g.one(25) {
			said = max(0, said+g.IntN(9)-4)
		}
		value := form
		if strings.Contains(form, "%") {
			value = fmt.Sprintf(form, said)
		}
		g.field("Content-Length: " + value)
	}
	chunked := kind >= 5 && kind < 8 || g.one(25)
	if chunked {
		name, coding := "Transfer-Encoding", "chunked"
		if g.one(8) {
			coding = g.pick(codings)
		}
		if g.one(20) {
			name = g.pick(codingNames)
		}
		g.field(name + ": " + coding)
	}
	if g.one(8) {
		g.field(g.ordinary())
	}
	g.line()
	switch {
	case chunked:
		g.chunks(body)
	case kind > 0 && kind < 5:
		g.buf = append(g.buf, body...)
	}
}

func (g *generator) chunks(body []byte) {
	for len(body) > 0 {
		n := 1 + g.IntN(len(body))
		g.chunk(body[:n])
		body = body[n:]
	}
	g.buf = append(g.buf, "0"...)
	g.extend()
	g.line()
	if g.one(8) {
		for range 1 + g.IntN(2) {
			g.field(g.pick([]string{"X-T: v", "x: y", "Content-Length: 5", "bad", " f: x", "X :y", ":", "X: \x01",
				"X-T:" + strings.Repeat("t", g.IntN(5000))}))
		}
	}
	g.line()
}

func (g *generator) chunk(p []byte) {
	size := fmt.Sprintf("%x", len(p))
	switch g.IntN(60) {
	case 0:
		size = "0" + size
	case 1:
		size = strings.ToUpper(size)
	case 2:
		size = "0x" + size
	case 3:
		size = fmt.Sprintf("%x", max(0, len(p)+g.IntN(5)-2))
	case 4:
		size = g.pick([]string{"", "-1", "+1", "g", "ffffffffffffffff", "fffffffffffffffff", "7fffffffffffffff",
			"8000000000000000", "00000000000000001", "1 1", "\u0661"})
	}
	g.buf = append(g.buf, size...)
	g.extend()
	g.line()
	g.buf = append(g.buf, p...)
	g.line()
}

func (g *generator) extend() {
	if g.one(25) {
		g.buf = append(g.buf, g.pick(extensions)...)
	}
}

// mutate changes some bytes for no reason.
func (g *generator) mutate() {
	for range 1 + g.IntN(3) {
		if len(g.buf) == 0 {
			return
		}
		at := g.IntN(len(g.buf))
		switch g.IntN(5) {
		case 0:
			g.buf[at] = byte(g.Uint32())
		case 1:
			g.buf[at] = "\r\n :\t;,0\x00\xff"[g.IntN(10)]
		case 2:
			g.buf = slices.Insert(g.buf, at, "\r\n :\t;,0\x00\xff"[g.IntN(10)])
		case 3:
			g.buf = slices.Delete(g.buf, at, min(len(g.buf), at+1+g.IntN(4)))
		case 4:
			end := min(len(g.buf), at+g.IntN(60))
			g.buf = slices.Insert(g.buf, at, bytes.Clone(g.buf[at:end])...)
		}
	}
}

// cut decides in which pieces the script arrives.
func (g *generator) cut(s *script) {
	switch g.IntN(4) {
	case 0:
		return
	case 1:
		if len(s.input) < 600 {
			for i := range s.input {
				s.cuts = append(s.cuts, i)
			}
			return
		}
	}
	for range g.IntN(6) {
		s.cuts = append(s.cuts, g.IntN(len(s.input)+1))
	}
	slices.Sort(s.cuts)
}
