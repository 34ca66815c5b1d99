package redisclient

import (
	"bufio"
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// hostile are answers that cost a client that believes them its memory, its stack or its life. Those that state a
// length state it alone; those that go on for ever are long enough.
var hostile = map[string]string{
	"an endless array":      "*9223372036854775807\r\n",
	"a billion elements":    "*1000000000\r\n",
	"an endless string":     "$9223372036854775807\r\n",
	"a string of 2 GB":      "$2000000000\r\n",
	"an endless map":        "%9223372036854775807\r\n",
	"a map that overflows":  "%4611686018427387904\r\n",
	"a billion pairs":       "%1000000000\r\n",
	"an endless set":        "~9223372036854775807\r\n",
	"an endless push":       ">9223372036854775807\r\n",
	"a billion pushes":      ">1000000000\r\n",
	"an endless attribute":  "|9223372036854775807\r\n",
	"an endless error":      "!9223372036854775807\r\n",
	"an endless verbatim":   "=9223372036854775807\r\n",
	"a negative array":      "*-9223372036854775808\r\n",
	"a deep array":          strings.Repeat("*1\r\n", 1<<20),
	"a deep map":            strings.Repeat("%1\r\n+a\r\n", 1<<19),
	"a deep set":            strings.Repeat("~1\r\n", 1<<20),
	"a deep attribute":      strings.Repeat("|1\r\n", 1<<20),
	"attributes for ever":   strings.Repeat("|0\r\n", 1<<20),
	"attributes of pairs":   strings.Repeat("|1\r\n+a\r\n+b\r\n", 1<<18),
	"arrays beside another": "*100000\r\n" + strings.Repeat("*100000\r\n", 100),
	"a line without an end": "+" + strings.Repeat("x", 1<<20),
	"a number without one":  ":" + strings.Repeat("1", 1<<20),
	"a big number":          "(" + strings.Repeat("9", 1<<20) + "\r\n",
	"many strings":          "*100000\r\n" + strings.Repeat("$1000\r\n"+strings.Repeat("x", 1000)+"\r\n", 20000),
	"streamed for ever":     "$?\r\n" + strings.Repeat(";1000\r\n"+strings.Repeat("x", 1000)+"\r\n", 20000),
	"a streamed part":       "$?\r\n;9223372036854775807\r\n",
	"elements for ever":     "*?\r\n" + strings.Repeat("_\r\n", 1<<20),
	"another protocol":      "HTTP/1.1 400 Bad Request\r\n",
	"an end of nothing":     ".\r\n",
	"a part of nothing":     ";5\r\nhello\r\n",
}

const bound = 16 << 20

// serve answers the first command of each connection by hello, and all later ones by other.
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
	return l.Addr().String()
}

func answer(c net.Conn, hello, other string) {
	defer c.Close()
	buf := make([]byte, 4096)
	for say := hello; ; say = other {
		if _, err := c.Read(buf); err != nil {
			return
		}
		if _, err := c.Write([]byte(say)); err != nil {
			return
		}
	}
}

const greeting = "%1\r\n+server\r\n+redis\r\n"

func TestAHostileServerCostsAnError(t *testing.T) {
	for name, reply := range hostile {
		for when, hello := range map[string]string{"to a command": greeting, "to HELLO": reply} {
			t.Run(name+" "+when, func(t *testing.T) {
				c := New(redis.Options{Addr: serve(t, hello, reply), PoolSize: 1, DialTimeout: 5 * time.Second,
					ReadTimeout: 5 * time.Second}, bound)
				defer c.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := c.XRead(ctx, &redis.XReadArgs{Streams: []string{"s", "0"}, Block: -1}).Result()
				_, again := c.Do(ctx, "ECHO", "x").Result()
				runtime.ReadMemStats(&after)
				// what the library does not read at all ends as its own error
				ours := reply[1] != '?' && name != "many strings"
				if err == nil || again == nil || ours && !errors.Is(err, ErrReply) {
					t.Errorf("%v, then %v", err, again)
				}
				if cost := after.TotalAlloc - before.TotalAlloc; cost > 10*bound {
					t.Errorf("%d MB were taken", cost>>20)
				}
			})
		}
	}
}

func TestFramingRefusesAllOfThem(t *testing.T) {
	for name, reply := range hostile {
		f := framing{most: bound}
		if err := f.take([]byte(reply)); err == nil {
			t.Errorf("%s: passes, leaving %+v", name, f.elements)
		}
	}
}

func TestOrdinaryRepliesPassWhole(t *testing.T) {
	for _, reply := range []string{
		"+OK\r\n", "-ERR no\r\n", ":1\r\n", "$5\r\nhello\r\n", "$0\r\n\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n", "_\r\n",
		",1.5\r\n", "#t\r\n", "(12345\r\n",
		"*2\r\n+a\r\n*1\r\n$1\r\nb\r\n", "%1\r\n+a\r\n:1\r\n", "~2\r\n:1\r\n:2\r\n", "!3\r\nERR\r\n", "=5\r\ntxt:a\r\n",
		">2\r\n+x\r\n+y\r\n",
		"|1\r\n+a\r\n+b\r\n+OK\r\n", "|0\r\n:1\r\n", "*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n", "$?\r\n;2\r\nab\r\n;0\r\n",
		"*?\r\n:1\r\n:2\r\n.\r\n", "%?\r\n+a\r\n:1\r\n.\r\n",
		"%0\r\n", "~0\r\n", "*1\r\n*0\r\n", "*1\r\n$-1\r\n",
	} {
		for size := 1; size <= len(reply); size++ {
			f := framing{most: 64}
			for range 20 { // replies do not add up
				for rest := reply; rest != ""; {
					part := rest[:min(size, len(rest))]
					rest = rest[len(part):]
					if err := f.take([]byte(part)); err != nil {
						t.Fatalf("%q by %d: %v", reply, size, err)
					}
				}
				if len(f.open) != 0 || f.bytes != 0 || f.elements != 0 || f.skip != 0 || len(f.line) != 0 {
					t.Fatalf("%q by %d leaves %+v", reply, size, f)
				}
			}
		}
	}
}

// FuzzFraming: however the bytes are cut, framing judges them alike, and a reply that the library reads to its end is
// within the bounds.
func FuzzFraming(f *testing.F) {
	for _, reply := range hostile {
		f.Add([]byte(reply[:min(len(reply), 64)]), 3)
	}
	f.Add([]byte("*2\r\n$3\r\nabc\r\n%1\r\n+a\r\n|1\r\n:1\r\n:2\r\n_\r\n"), 5)
	f.Add([]byte("$?\r\n;2\r\nab\r\n;0\r\n*?\r\n:1\r\n.\r\n"), 2)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		whole := framing{most: 4096}
		want := whole.take(b)
		cut := framing{most: 4096}
		var got error
		for rest := b; len(rest) > 0 && got == nil; {
			n := min(max(size, 1), len(rest))
			got = cut.take(rest[:n])
			rest = rest[n:]
		}
		if (want == nil) != (got == nil) {
			t.Fatalf("whole %v, cut %v", want, got)
		}
		for _, s := range []*framing{&whole, &cut} {
			if len(s.open) > MaxDepth || len(s.line) > maxLine || want == nil &&
				(s.elements > MaxElements || s.skip > 4098) {
				t.Fatalf("%+v", s)
			}
		}
		if want == nil {
			readAll(t, b)
		}
	})
}

// readAll has the library read what framing has let through.
func readAll(t *testing.T, b []byte) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		defer theirs.Close()
		in := bufio.NewReader(theirs)
		if _, err := in.ReadByte(); err == nil {
			_, _ = theirs.Write(b)
		}
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o := redis.Options{PoolSize: 1, Protocol: 2, ReadTimeout: time.Second, MaxRetries: -1, DialerRetries: 1,
		DisableIdentity: true}
	o.Dialer = guarded(func(context.Context, string, string) (net.Conn, error) { return ours, nil }, 4096)
	c := redis.NewClient(&o)
	_, _ = c.Do(context.Background(), "PING").Result()
	_ = c.Close()
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 64<<20 {
		t.Fatalf("%d MB for %q", cost>>20, b)
	}
}
