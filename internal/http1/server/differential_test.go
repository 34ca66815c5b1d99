package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of both servers under test, small so that they are met.
const (
	headLimit  = 2 << 10
	fieldLimit = 24
)

// endings are what a scripted client does after its last byte.
var endings = []error{io.EOF, os.ErrDeadlineExceeded, errReset}

var errReset = errors.New("connection reset by peer")

// scripted is a client's side that was written down: its bytes in pieces, then its ending. It never blocks.
type scripted struct {
	mu     sync.Mutex
	pieces [][]byte
	ending error
	out    []byte
	asked  bool          // for more than there was
	done   chan struct{} // cap 1: what is served is over
	over   bool
}

func (s *scripted) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return 0, net.ErrClosed
	}
	if len(s.pieces) == 0 {
		s.asked = true
		return 0, s.ending
	}
	n := copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; len(s.pieces[0]) == 0 {
		s.pieces = s.pieces[1:]
	}
	return n, nil
}

func (s *scripted) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return 0, net.ErrClosed
	}
	s.out = append(s.out, p...)
	return len(p), nil
}

func (s *scripted) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over = true
		s.done <- struct{}{}
	}
	return nil
}

// CloseWrite is the end, too: net/http sleeps after it.
func (s *scripted) CloseWrite() error                { return s.Close() }
func (s *scripted) LocalAddr() net.Addr              { return nowhere{} }
func (s *scripted) RemoteAddr() net.Addr             { return nowhere{} }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }

type nowhere struct{}

func (nowhere) Network() string { return "script" }
func (nowhere) String() string  { return "192.0.2.1:1" }

// script is one execution's input.
type script struct {
	input  []byte
	cuts   []int // where input is cut into pieces, ascending
	ending error
}

func (s *script) client() *scripted {
	c := &scripted{ending: s.ending, done: make(chan struct{}, 1)}
	at := 0
	for _, cut := range s.cuts {
		if cut > at && cut < len(s.input) {
			c.pieces = append(c.pieces, s.input[at:cut])
			at = cut
		}
	}
	if at < len(s.input) {
		c.pieces = append(c.pieces, s.input[at:])
	}
	return c
}

// heard is what one server made of a script.
type heard struct {
	requests []string // as the handler saw them, one rendering each
	reasons  []string // our own refusals of bodies, by request
	unread   []bool   // whether a request's handler left some of its body
	aborted  bool
	answers  []reply
	left     string // of the output, after the last whole answer
	asked    bool
}

// pair is net/http's server and ours, with one handler. One script at a time.
type pair struct {
	theirs  *http.Server
	conns   chan net.Conn
	ours    *Server
	prompt  *Server // ours, with no time for anything
	hearing *heard
	late    bool // the script's client stops sending, and stays
	ended   chan struct{}
}

func newPair() *pair {
	p := &pair{conns: make(chan net.Conn), ended: make(chan struct{})}
	quiet := log.New(io.Discard, "", 0)
	p.theirs = &http.Server{Handler: p, MaxHeaderBytes: headLimit, ErrorLog: quiet}
	p.ours = &Server{Handler: p, MaxHeaderBytes: headLimit, MaxFields: fieldLimit, ErrorLog: quiet}
	p.prompt = &Server{Handler: p, MaxHeaderBytes: headLimit, MaxFields: fieldLimit, ErrorLog: quiet,
		ReadHeaderTimeout: 1, IdleTimeout: 1}
	go func() {
		defer close(p.ended)
		_ = p.theirs.Serve(p)
	}()
	return p
}

func (p *pair) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, http.ErrServerClosed
	}
	return c, nil
}

func (p *pair) Close() error   { return nil }
func (p *pair) Addr() net.Addr { return nowhere{} }

func (p *pair) end() {
	close(p.conns)
	<-p.ended
}

// askTheirs has net/http serve s.
func (p *pair) askTheirs(s *script) *heard {
	h := &heard{}
	p.hearing = h
	c := s.client()
	p.conns <- c
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	h.read(c)
	return h
}

// askOurs has front serve s, on this goroutine.
func (p *pair) askOurs(s *script) *heard {
	h := &heard{}
	p.hearing, p.late = h, errors.Is(s.ending, os.ErrDeadlineExceeded)
	c := s.client()
	server := p.ours
	if p.late {
		server = p.prompt
	}
	newConn(server, c).serve()
	h.read(c)
	return h
}

func (h *heard) read(c *scripted) {
	h.asked = c.asked
	h.take(c.out)
}

// take takes what was answered.
func (h *heard) take(out []byte) {
	h.answers, h.left = replies(out)
	// net/http sends them; HTTP/1.0 knows none
	h.answers = slices.DeleteFunc(h.answers, func(r reply) bool { return r.minor == "0" && r.status < 200 })
}

// ServeHTTP writes down what it is asked, then does what the path's last part says, a letter at a time.
func (p *pair) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := p.hearing
	at := len(h.requests)
	h.requests = append(h.requests, "")
	h.reasons = append(h.reasons, "")
	h.unread = append(h.unread, r.Body != http.NoBody)
	a := &act{w: w, r: r, seen: render(r)}
	if p.late {
		// the script has no clock: what fails to come is late at once
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
	}
	defer func() {
		h.requests[at] = a.seen.String()
		h.reasons[at] = a.reason
		h.unread[at] = h.unread[at] && !a.all
		if a.abort {
			h.aborted = true
		}
	}()
	a.play()
}

// render is all of a request that a handler can see, but its body.
func render(r *http.Request) *strings.Builder {
	b := new(strings.Builder)
	fmt.Fprintf(
		b,
		"%s %q %s %d.%d host=%q length=%d te=%v close=%v\nurl scheme=%q opaque=%q host=%q path=%q raw=%q query=%q "+
			"force=%v\n",
		r.Method, r.RequestURI, r.Proto, r.ProtoMajor, r.ProtoMinor, r.Host, r.ContentLength, r.TransferEncoding,
		r.Close,
		r.URL.Scheme, r.URL.Opaque, r.URL.Host, r.URL.Path, r.URL.RawPath, r.URL.RawQuery, r.URL.ForceQuery)
	names := make([]string, 0, len(r.Header))
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(b, "%s: %q\n", name, r.Header[name])
	}
	if ours, ok := r.Body.(*body); ok && !agrees(ours, r.Header) {
		fmt.Fprintf(b, "the list of fields says otherwise: %q\n", ours.c.names)
	}
	return b
}

// agrees says whether the list of fields, where there is one, is the header.
func agrees(b *body, header http.Header) bool {
	names, values, ok := b.c.answer.Fields()
	if !ok {
		return true
	}
	for i, name := range names {
		if !slices.Equal(header[name], values[i:i+1]) {
			return false
		}
	}
	return len(names) == len(header) && len(values) == len(names)
}

// act is a handler's part.
type act struct {
	w      http.ResponseWriter
	r      *http.Request
	seen   *strings.Builder
	reason string
	all    bool // the body was read to its end
	abort  bool
	spoke  bool
	got    int
	ended  bool // the body, one way or another
}

var filler = bytes.Repeat([]byte("0123456789abcdef"), 1<<13)

func (a *act) play() {
	a.w.Header().Set("X-Method", a.r.Method)
	path := a.r.URL.Path
	plan, ok := strings.CutPrefix(path, "/do/")
	if !ok || len(plan) > 12 {
		plan = "ae"
	}
	for i := range len(plan) {
		a.do(plan[i])
	}
}

func (a *act) do(letter byte) {
	h := a.w.Header()
	a.spoke = a.spoke || strings.IndexByte("ewWBf", letter) >= 0
	switch letter {
	case 'a', 'h':
		if a.spoke || a.ended {
			return // net/http throws away what is left once an answer begins; ours lets handlers read on
		}
		a.read(map[byte]int{'a': -1, 'h': 3}[letter])
	case 'x':
		_ = a.r.Body.Close()
	case 'e':
		fmt.Fprintf(a.w, "%d", a.got)
	case 'w':
		_, _ = a.w.Write(filler[:7])
	case 'W':
		_, _ = a.w.Write(filler[:5000])
	case 'B':
		_, _ = a.w.Write(filler[:70000])
	case 'f':
		_ = http.NewResponseController(a.w).Flush()
	case 'l':
		h.Set("Content-Length", "14")
	case 'z':
		h.Set("Content-Length", "0")
	case 'L':
		h.Set("Content-Length", "5014")
	case 't':
		h.Set("Content-Type", "text/x-own")
	case 'n':
		h["Date"] = nil
		h["X-Two"] = []string{"a", " b\r\nX-Injected: c ", "\n"}
		h["X Bad"] = []string{"v"}
	case 'c':
		h.Set("Connection", "close")
	case 'k':
		h.Set("Connection", "keep-alive")
	case '1':
		a.w.WriteHeader(http.StatusEarlyHints)
	case '2':
		a.w.WriteHeader(http.StatusNoContent)
	case '3':
		a.w.WriteHeader(http.StatusNotModified)
	case '4':
		a.w.WriteHeader(http.StatusNotFound)
	case '9':
		a.w.WriteHeader(999)
	case 'p':
		a.abort = true
		panic(http.ErrAbortHandler)
	case 'q':
		a.abort = true
		panic("a handler's own")
	}
}

// read reads most bytes of the body, all for -1, and writes down what came and how it ended.
func (a *act) read(most int) {
	var got []byte
	var err error
	if most < 0 {
		got, err = io.ReadAll(a.r.Body)
		if err == nil {
			err = io.EOF
		}
	} else {
		got = make([]byte, most)
		var n int
		for n < most && err == nil {
			var m int
			m, err = a.r.Body.Read(got[n:])
			n += m
		}
		got = got[:n]
	}
	a.all = a.all || errors.Is(err, io.EOF)
	a.ended = true
	a.got += len(got)
	var bad *refusal
	if errors.As(err, &bad) {
		a.reason = bad.text
	}
	if len(got) == most {
		err = nil // whether an end is seen with the bytes before it is a matter of how they came
	}
	fmt.Fprintf(a.seen, "body %d %q %s\n", len(got), got[:min(len(got), 4096)], class(err))
}

// class is what kind of error ended a body.
func class(err error) string {
	for _, known := range []error{nil, io.EOF, io.ErrUnexpectedEOF, os.ErrDeadlineExceeded, errReset,
		http.ErrBodyReadAfterClose} {
		if errors.Is(err, known) {
			return fmt.Sprint(known)
		}
	}
	return "malformed"
}
