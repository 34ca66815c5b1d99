// Package dnstest is a small DNS server on real sockets, for tests of what is done with its answers.
package dnstest

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Records are what a server has, by name and type, as "name. A".
type Records = map[string][]dnsmessage.ResourceBody

// Answers are what a server says.
type Answers struct {
	Code    dnsmessage.RCode
	Garbage bool // no DNS message at all
	Silent  bool // nothing
	Records Records
}

// Server answers over UDP, and over TCP what does not fit.
type Server struct {
	mu      sync.Mutex
	answers Answers // guarded by mu
}

// Set changes what the server says from now on.
func (s *Server) Set(a Answers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = a
}

// answer returns the answer to a question, cut short where it may have at most so many bytes; nil for none.
func (s *Server) answer(question []byte, most int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var q dnsmessage.Message
	switch {
	case s.answers.Silent:
		return nil
	case q.Unpack(question) != nil || s.answers.Garbage:
		return []byte("no answer at all")
	}
	a := dnsmessage.Message{Header: dnsmessage.Header{ID: q.ID, Response: true, RCode: s.answers.Code,
		Authoritative: true, RecursionAvailable: true}, Questions: q.Questions}
	name := q.Questions[0].Name
	of := name.String() + " " + strings.TrimPrefix(q.Questions[0].Type.String(), "Type")
	for _, body := range s.answers.Records[of] {
		a.Answers = append(a.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET}, Body: body}) // TTL 0
	}
	out, err := a.Pack()
	if err != nil {
		return nil
	}
	if len(out) > most {
		a.Truncated, a.Answers = true, nil
		out, _ = a.Pack() // a question alone, which has been packed before
	}
	return out
}

// New starts a server, which ends with the test, and returns it with what asks it alone.
func New(t testing.TB) (*Server, *net.Resolver) {
	t.Helper()
	s := &Server{}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() {
		_, _ = udp.Close(), tcp.Close()
		serving.Wait()
	})
	serving.Go(func() { s.overUDP(udp) })
	serving.Go(func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			s.overTCP(c)
		}
	})
	return s, &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		at := udp.LocalAddr()
		if network == "tcp" {
			at = tcp.Addr()
		}
		return new(net.Dialer).DialContext(ctx, network, at.String())
	}}
}

// mostUDP is how long an answer over UDP may be, in bytes.
const mostUDP = 512

func (s *Server) overUDP(c net.PacketConn) {
	question := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(question)
		if err != nil {
			return
		}
		if a := s.answer(question[:n], mostUDP); a != nil {
			_, _ = c.WriteTo(a, from)
		}
	}
}

func (s *Server) overTCP(c net.Conn) {
	defer c.Close()
	head := make([]byte, 2)
	if _, err := io.ReadFull(c, head); err != nil {
		return
	}
	question := make([]byte, int(head[0])<<8|int(head[1]))
	if _, err := io.ReadFull(c, question); err != nil {
		return
	}
	a := s.answer(question, 1<<16-1)
	_, _ = c.Write(append([]byte{byte(len(a) >> 8), byte(len(a))}, a...))
}

// Address is an A or AAAA record.
func Address(text string) dnsmessage.ResourceBody {
	ip := netip.MustParseAddr(text)
	if ip.Is4() {
		return &dnsmessage.AResource{A: ip.As4()}
	}
	return &dnsmessage.AAAAResource{AAAA: ip.As16()}
}

// Service is an SRV record.
func Service(target string, port uint16) dnsmessage.ResourceBody {
	return &dnsmessage.SRVResource{Port: port, Target: dnsmessage.MustNewName(target)}
}

// Alias is a CNAME record.
func Alias(target string) dnsmessage.ResourceBody {
	return &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(target)}
}
