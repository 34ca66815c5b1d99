package load

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"octet/bench/origin"
)

func engine(t *testing.T) *origin.Engine {
	t.Helper()
	e, err := origin.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func TestEveryEventOfABurstIsCountedOnce(t *testing.T) {
	e := engine(t)
	e.Play(origin.Script{Events: 1000})
	got, err := Requests{Addr: e.Addr(), Bodies: Chat("template", 1<<10, true), Status: 200}.Closed(3,
		50*time.Millisecond)
	if err != nil || got.Requests == 0 || got.Events != got.Requests*1001 { // and [DONE]
		t.Fatalf("%d streams had %d events: %v", got.Requests, got.Events, err)
	}
}

func TestConversationsDifferInTheirLastTenthOnly(t *testing.T) {
	const size = 64 << 10
	all := Talk("template", size)
	for i := range all {
		_, all[i], _ = bytes.Cut(all[i], []byte("\r\n\r\n"))
	}
	for i, one := range all[1:] {
		same := 0
		for same < min(len(one), len(all[i])) && one[same] == all[i][same] {
			same++
		}
		if len(one) < size*95/100 || len(one) > size*105/100 || same < size*85/100 || same > size*92/100 {
			t.Fatalf("%d bytes, of which %d are those of another", len(one), same)
		}
	}
}

func TestBodiesHaveTheSizeThatWasAskedFor(t *testing.T) {
	e := engine(t)
	for _, size := range []int{1 << 10, 16 << 10, 64 << 10} {
		all := Chat("template", size, false)
		for _, one := range all {
			if head := len(one) - size; head < 0 || head > 250 {
				t.Fatalf("a request of %d bytes for a body of %d", len(one), size)
			}
		}
		got, err := Requests{Addr: e.Addr(), Bodies: all, Status: 200}.Closed(2, 20*time.Millisecond)
		if err != nil || got.Requests == 0 || got.Quantile(0.5) <= 0 || got.Quantile(0.5) > got.Quantile(0.99) {
			t.Errorf("%d bytes: %d requests, p50 %v: %v", size, got.Requests, got.Quantile(0.5), err)
		}
	}
}

func TestPacedStreamsGoOnUntilTheyAreLeft(t *testing.T) {
	e := engine(t)
	e.Play(origin.Script{Every: 2 * time.Millisecond})
	s, err := Requests{Addr: e.Addr(), Bodies: Chat("template", 1<<10, true), Status: 200}.Open(40)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for before := s.Events(); s.Events() < before+200; {
		time.Sleep(time.Millisecond) // real time: the origin's own goroutines
	}
}

func TestAnAnswerThatIsNotTheOneAskedForIsAnError(t *testing.T) {
	e := engine(t)
	_, err := Requests{Addr: e.Addr(), Bodies: Chat("template", 1<<10, false), Status: 429}.Closed(2, time.Second)
	if !errors.Is(err, ErrAnswer) {
		t.Fatal(err)
	}
}

// Over TLS, and on connections that are kept, the same is asked and counted.
func TestKeptConnectionsOverTLSAreAskedAgain(t *testing.T) {
	e := engine(t)
	e.Play(origin.Script{Events: 100})
	at, client, accepted := secured(t, e.Addr())
	r, closeAll, err := Requests{Addr: at, TLS: client, Bodies: Chat("template", 1<<10, true), Status: 200}.Keep(2)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	for range 2 {
		got, err := r.Closed(2, 20*time.Millisecond)
		if err != nil || got.Requests == 0 || got.Events != got.Requests*101 {
			t.Fatalf("%d streams had %d events: %v", got.Requests, got.Events, err)
		}
	}
	all, err := Requests{Addr: at, TLS: client, Bodies: Chat("template", 1<<10, false), Status: 200}.Idle(5)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	if n := accepted.Load(); n != 7 {
		t.Errorf("%d connections were opened, not 2 and 5", n)
	}
}

// secured has a listener that speaks TLS in front of an engine.
func secured(t *testing.T, engine string) (at string, client *tls.Config, accepted *atomic.Int64) {
	t.Helper()
	borrowed := httptest.NewUnstartedServer(nil) // for its certificate
	borrowed.StartTLS()
	t.Cleanup(borrowed.Close)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: borrowed.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	accepted = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			to, err := net.Dial("tcp", engine)
			if err != nil {
				_ = c.Close()
				return
			}
			go func() { _, _ = io.Copy(to, c); _ = to.Close() }()
			go func() { _, _ = io.Copy(c, to); _ = c.Close() }()
		}
	}()
	roots := x509.NewCertPool()
	roots.AddCert(borrowed.Certificate())
	return l.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}, accepted
}

// What is compared has about the same size.
func TestLoopsAreOfOneSizeAtAllDoors(t *testing.T) {
	chats := Loops("template")
	for name, loops := range map[string][][]byte{
		"Messages": MessagesLoops("template"), "Responses": ResponsesLoops("template"),
	} {
		for i := range chats {
			_, one, _ := bytes.Cut(chats[i], []byte("\r\n\r\n"))
			_, other, _ := bytes.Cut(loops[i], []byte("\r\n\r\n"))
			if !json.Valid(one) || !json.Valid(other) || len(other) < 15<<10 || len(other) > 17<<10 ||
				len(one) < len(other)*9/10 || len(one) > len(other) {
				t.Fatalf("%d bytes of a chat, %d of %s", len(one), len(other), name)
			}
		}
	}
}
