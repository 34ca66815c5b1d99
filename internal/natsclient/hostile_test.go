package natsclient

import (
	"bufio"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

const info = `INFO {"server_id":"x","version":"2.10.0","proto":1,"max_payload":1048576,"headers":true}` + "\r\n"

// hostile is what a server says that wants its client's memory.
var hostile = map[string]string{
	"an endless message":         "MSG a 1 9223372036854775807\r\n",
	"a message of 2 GB":          "MSG a 1 2000000000\r\nx",
	"a message with reply":       "msg a 1 b 2000000000\r\nx",
	"tabs":                       "MSG\ta\t1\t2000000000\r\nx",
	"an endless message, headed": "HMSG a 1 12 9223372036854775807\r\n",
	"headers beyond it":          "HMSG a 1 5000000000 12\r\n",
	"no size":                    "MSG a 1\r\n",
	"a negative size":            "MSG a 1 -5\r\n",
	"no number":                  "MSG a 1 12x\r\n",
	"a line without an end":      "MSG " + strings.Repeat("a", 1<<20),
	"an error without an end":    "-ERR '" + strings.Repeat("a", 1<<20),
	"an INFO without an end":     "INFO " + strings.Repeat("a", 1<<20),
	"a long end of a message":    "MSG a 1 1\r\nxMSG a 1 2000000000\r\n",
	"another protocol":           "HTTP/1.1 400 Bad Request\r\n\r\n",
}

const bound = 1 << 20

// serve answers each connection by hello, and its first lines by other.
func serve(t *testing.T, hello, other string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answer(c, hello, other)
		}
	}()
	return "nats://" + l.Addr().String()
}

func answer(c net.Conn, hello, other string) {
	defer c.Close()
	_, _ = c.Write([]byte(hello))
	for in := bufio.NewScanner(c); in.Scan(); {
		if strings.HasPrefix(in.Text(), "PING") {
			_, _ = c.Write([]byte(other))
		}
	}
}

// cost is what a connection that is tried for a moment takes.
func cost(t *testing.T, url string) (taken uint64, lost error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ended := make(chan error, 1)
	c, err := Connect(Config{URL: url, MaxMessage: bound, Timeout: 5 * time.Second}, nats.NoReconnect(),
		nats.ClosedHandler(func(c *nats.Conn) { ended <- c.LastError() }))
	if err == nil {
		select {
		case err = <-ended:
		case <-time.After(20 * time.Second):
			t.Error("still connected")
		}
		c.Close()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

func TestAHostileServerCostsAnError(t *testing.T) {
	for name, words := range hostile {
		for when, url := range map[string]string{
			"for INFO": serve(t, words, ""), "for PONG": serve(t, info, words),
			"later": serve(t, info, "PONG\r\n"+words),
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				if taken, err := cost(t, url); err == nil || taken > 10*bound {
					t.Errorf("%d MB, %v", taken>>20, err)
				}
			})
		}
		f := framing{most: bound}
		if err := f.take([]byte(words)); err == nil {
			t.Errorf("%s: passes", name)
		}
	}
}

func TestAConnectionThatSaysTooMuchEndsByItsName(t *testing.T) {
	if _, err := cost(t, serve(t, info, "PONG\r\nMSG a 1 2000000000\r\nx")); !errors.Is(err, ErrProtocol) {
		t.Error(err)
	}
}

func TestOrdinaryWordsPassWhole(t *testing.T) {
	for _, words := range []string{
		info, "PING\r\n", "PONG\r\n", "+OK\r\n", "-ERR 'no'\r\n", "MSG a 1 5\r\nhello\r\n", "MSG a 1 b 0\r\n\r\n",
		"HMSG a 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n", "hmsg a 1 b 12 12\r\nNATS/1.0\r\n\r\n\r\n",
	} {
		for size := 1; size <= len(words); size++ {
			f := framing{most: 64}
			for range 20 {
				for rest := words; rest != ""; {
					part := rest[:min(size, len(rest))]
					rest = rest[len(part):]
					if err := f.take([]byte(part)); err != nil {
						t.Fatalf("%q by %d: %v", words, size, err)
					}
				}
				if f.skip != 0 || f.end != "" || len(f.line) != 0 {
					t.Fatalf("%q by %d leaves %+v", words, size, f)
				}
			}
		}
	}
}

func TestWebsocketsAreRefused(t *testing.T) {
	for _, url := range []string{"ws://127.0.0.1:1", "wss://127.0.0.1:1", "nats://127.0.0.1:1,ws://127.0.0.1:1"} {
		if _, err := Connect(Config{URL: url}); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// FuzzFraming: however the bytes are cut, framing judges them alike, and asks for no more than its bound.
func FuzzFraming(f *testing.F) {
	for _, words := range hostile {
		f.Add([]byte(words[:min(len(words), 64)]), 3)
	}
	f.Add([]byte(info+"HMSG a 1 b 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPING\r\n"), 7)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		whole, cut := framing{most: 4096}, framing{most: 4096}
		want := whole.take(b)
		var got error
		for rest := b; len(rest) > 0 && got == nil; {
			n := min(max(size, 1), len(rest))
			got = cut.take(rest[:n])
			rest = rest[n:]
		}
		if (want == nil) != (got == nil) {
			t.Fatalf("whole %v, cut %v", want, got)
		}
		if whole.skip > 4096 || len(whole.line) > maxInfo+maxLine {
			t.Fatalf("%+v", whole)
		}
	})
}
