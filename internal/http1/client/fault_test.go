package client

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

const (
	counting = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
	chunking = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
)

// faults are the ways in which an engine can break off or babble.
var faults = map[string]struct {
	say  string
	end  string // close | reset | hang
	want error
	body string // received before the fault
}{
	"dies before the head":        {"", "close", ErrReset, ""},
	"resets before the head":      {"", "reset", ErrReset, ""},
	"hangs before the head":       {"", "hang", ErrTimeout, ""},
	"dies within the status line": {"HTTP/1.1 2", "close", ErrReset, ""},
	"dies within a header":        {"HTTP/1.1 200 OK\r\nContent-Le", "close", ErrReset, ""},
	"dies before the empty line":  {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n", "close", ErrReset, ""},
	"hangs within the head":       {"HTTP/1.1 200 OK\r\n", "hang", ErrTimeout, ""},
	"hangs after 100":             {"HTTP/1.1 100 Continue\r\n\r\n", "hang", ErrTimeout, ""},
	"dies after 100":              {"HTTP/1.1 100 Continue\r\n\r\n", "close", ErrReset, ""},
	"switches protocols":          {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "hang", ErrProtocol, ""},
	"never stops saying 100": {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100), "hang",
		ErrProtocol, ""},
	"garbage that would wait": {"garbage", "hang", ErrProtocol, ""},
	"one byte of garbage":     {"\x16", "hang", ErrProtocol, ""},
	"garbage that ends":       {"garbage\r\n\r\n", "close", ErrProtocol, ""},
	"an event without a head": {"data: x\n\n", "hang", ErrProtocol, ""},
	"HTTP/2":                  {"HTTP/2.0 200 OK\r\n\r\n", "close", ErrProtocol, ""},
	"bare LF":                 {"HTTP/1.1 200 OK\nContent-Length: 0\n\n", "hang", ErrProtocol, ""},
	"a folded header": {"HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\nContent-Length: 0\r\n\r\n", "hang",
		ErrProtocol, ""},
	"two lengths": {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "hang",
		ErrProtocol, ""},
	"length and chunks": {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"hang", ErrProtocol, ""},
	"an unknown encoding": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "hang",
		ErrProtocol, ""},
	"a head without end": {"HTTP/1.1 200 OK\r\nX: " + long, "hang", ErrTooLarge, ""},
	"a large head":       {"HTTP/1.1 200 OK\r\nX: " + long + "\r\n\r\n", "hang", ErrTooLarge, ""},
	"too many headers": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 129) + "\r\n", "hang",
		ErrTooLarge, ""},
	"dies after the head":           {counting, "close", ErrReset, ""},
	"dies before the counted end":   {counting + "123456789", "close", ErrReset, "123456789"},
	"resets before the counted end": {counting + "12345", "reset", ErrReset, "12345"},
	"hangs before the counted end":  {counting + "12345", "hang", ErrTimeout, "12345"},
	"dies after the chunked head":   {chunking, "close", ErrReset, ""},
	"dies within a chunk's size":    {chunking + "5\r\nhello\r\n1", "close", ErrReset, "hello"},
	"dies within a chunk":           {chunking + "5\r\nhel", "close", ErrReset, "hel"},
	"dies between chunks":           {chunking + "5\r\nhello\r\n", "close", ErrReset, "hello"},
	"dies before the last CRLF":     {chunking + "5\r\nhello\r\n0\r\n", "close", ErrReset, "hello"},
	"dies within the trailer":       {chunking + "5\r\nhello\r\n0\r\nA: b", "close", ErrReset, "hello"},
	"resets within a chunk":         {chunking + "5\r\nhel", "reset", ErrReset, "hel"},
	"hangs between chunks":          {chunking + "5\r\nhello\r\n", "hang", ErrTimeout, "hello"},
	"a chunk without size":          {chunking + "\r\nhello", "hang", ErrProtocol, ""},
	"a size that is no number":      {chunking + "5\r\nhello\r\nx\r\n", "hang", ErrProtocol, "hello"},
	"a size out of range":           {chunking + "8000000000000000\r\n", "hang", ErrProtocol, ""},
	"a size of too many digits":     {chunking + "00000000000000005\r\n", "hang", ErrProtocol, ""},
	"a chunk longer than its size":  {chunking + "2\r\nhello\r\n", "hang", ErrProtocol, "he"},
	"a bare LF after a size":        {chunking + "5\nhello\r\n", "hang", ErrProtocol, ""},
	"a bare CR after a size":        {chunking + "5\rhello\r\n", "hang", ErrProtocol, ""},
	"an extension without end":      {chunking + "5;" + long, "hang", ErrTooLarge, ""},
	"a trailer without end":         {chunking + "0\r\nA: " + long, "hang", ErrTooLarge, ""},
	"a trailer that is no header":   {chunking + "0\r\nfoo\r\n\r\n", "hang", ErrProtocol, ""},
	"dies in a body until the end":  {"HTTP/1.0 200 OK\r\n\r\nhello", "reset", ErrReset, "hello"},
	"hangs in a body until the end": {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", "hang", ErrTimeout,
		"hello"},
	"a status of two digits": {"HTTP/1.1 20 OK\r\n\r\n", "hang", ErrProtocol, ""},
	"a space before a header's colon": {"HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n", "hang", ErrProtocol,
		""},
}

var long = strings.Repeat("x", 40_000)

// Each fault has exactly one error, and none of them is a proper end.
func TestEveryFaultOfAnEngineHasItsError(t *testing.T) {
	for name, c := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			cl := dialUp(t, Config{URL: listen(t, func(p *peer) {
				p.request()
				p.say(c.say)
				switch c.end {
				case "reset":
					p.reset()
				case "hang":
					<-over
				}
			})})
			defer close(over)
			r := post("{}")
			r.HeaderTimeout, r.IdleTimeout = time.Minute, time.Minute
			if c.want == ErrTimeout {
				r.HeaderTimeout, r.IdleTimeout = 200*time.Millisecond, 200*time.Millisecond
			}
			_, body, err := exchange(cl, r)
			if !errors.Is(err, c.want) || body != c.body {
				t.Errorf("got %q, %v; want %q, %v", body, err, c.body, c.want)
			}
			for _, other := range []error{ErrConnect, ErrReset, ErrProtocol, ErrTimeout,
				ErrTooLarge} {
				if other != c.want && errors.Is(err, other) {
					t.Errorf("%v is %v, too", err, other)
				}
			}
			if n := cl.idleCount(); n != 0 {
				t.Errorf("%d connections were kept", n)
			}
		})
	}
}

func TestNothingSentIsErrConnect(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	refusing := dialUp(t, Config{URL: "http://" + l.Addr().String()})
	if _, _, err := exchange(refusing, post("{}")); !errors.Is(err, ErrConnect) {
		t.Errorf("refused: %v", err)
	}
	slow := dialUp(t, Config{URL: "http://h", DialTimeout: time.Millisecond,
		Dial: func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
	if _, _, err := exchange(slow, post("{}")); !errors.Is(err, ErrConnect) {
		t.Errorf("dial timeout: %v", err)
	}
}

func TestAnEngineThatDoesNotReadIsErrTimeout(t *testing.T) {
	over := make(chan struct{})
	c := dialUp(t, Config{URL: listen(t, func(*peer) { <-over }), WriteTimeout: 100 * time.Millisecond})
	defer close(over)
	if _, _, err := exchange(c, post(strings.Repeat("x", 32<<20))); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerBeforeTheEndOfTheRequestIsRead(t *testing.T) {
	c := dialUp(t, Config{URL: listen(t, func(p *peer) {
		_, _ = p.r.Peek(1)
		p.say("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
	})})
	status, body, err := exchange(c, post(strings.Repeat("x", 32<<20)))
	if status != 413 || body != "big" || err != nil {
		t.Errorf("got %d %q %v", status, body, err)
	}
	if c.idleCount() != 0 {
		t.Error("the connection was kept")
	}
}

func TestInformationalAnswersAreSkipped(t *testing.T) {
	c := dialUp(t, Config{URL: listen(t,
		each("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"+ok))})
	for range 2 {
		if status, body, err := exchange(c, post("{}")); status != 200 || body != "ok" || err != nil {
			t.Fatalf("got %d %q %v", status, body, err)
		}
	}
}
