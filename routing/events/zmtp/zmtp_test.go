package zmtp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var small = Limits{Message: 1 << 20, Frames: 4}

// pair returns the two ends of a connection.
func pair(t *testing.T, kind, peer string) (a, b *Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	opened := make(chan *Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		conn, err := Open(c, peer, small)
		if err != nil {
			t.Error(err)
		}
		opened <- conn
	}()
	e, err := ParseEndpoint("tcp://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	a, err = e.Dial(t.Context(), kind, small)
	if err != nil {
		t.Fatal(err)
	}
	b = <-opened
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

func TestMessagesArriveWhole(t *testing.T) {
	a, b := pair(t, "DEALER", "ROUTER")
	for _, want := range [][][]byte{{{}}, {nil, {1}}, {bytes.Repeat([]byte{7}, 255)},
		{bytes.Repeat([]byte{8}, 256), {9}}, {bytes.Repeat([]byte{3}, 200_000)}} {
		if err := a.Send(want...); err != nil {
			t.Fatal(err)
		}
		got, err := b.Receive()
		if err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%d frames came of %d, %v", len(got), len(want), err)
		}
	}
}

func TestSubscriptionsComeInEitherForm(t *testing.T) {
	sub, pub := pair(t, "SUB", "PUB")
	if err := sub.Subscribe("kv@"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		want []byte
	}{{"SUBSCRIBE", []byte("\x01x")}, {"CANCEL", []byte("\x00x")}} {
		if err := sub.command(c.name, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := sub.command("PING", []byte("\x00\x0actx")); err != nil {
		t.Fatal(err)
	}
	if err := sub.command("NEWER", nil); err != nil {
		t.Fatal(err)
	}
	if err := sub.Send([]byte("end")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\x01kv@", "\x01x", "\x00x", "end"} {
		got, err := pub.Receive()
		if err != nil || len(got) != 1 || string(got[0]) != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	if _, body, err := sub.frame(maxCommand); err != nil || string(body) != "\x04PONGctx" {
		t.Errorf("%q, %v", body, err)
	}
}

// hello is what a peer says first.
func hello(kind string) []byte {
	b := make([]byte, greetingLen)
	b[0], b[9], b[10] = 0xff, 0x7f, 3
	copy(b[12:], "NULL")
	return appendFrame(b, flagCommand, append([]byte("\x05READY"), property("Socket-Type", kind)...))
}

// canned is a connection whose peer has said all that it will.
type canned struct {
	net.Conn
	in io.Reader
}

func (c canned) Read(b []byte) (int, error)       { return c.in.Read(b) }
func (canned) Write(b []byte) (int, error)        { return len(b), nil }
func (canned) SetDeadline(time.Time) error        { return nil }
func (canned) SetWriteDeadline(_ time.Time) error { return nil }

func TestPeersThatSpeakOtherwiseAreRefused(t *testing.T) {
	old := hello("PUB")
	old[10] = 2
	plain := hello("PUB")
	copy(plain[12:], "PLAIN")
	late := hello("PUB")[:greetingLen]
	for name, said := range map[string][]byte{
		"nothing": nil, "HTTP": []byte("GET / HTTP/1.1\r\n" + string(make([]byte, 100))), "version 2": old,
		"a password":      plain,
		"of another kind": hello("REQ"), "no READY": appendFrame(late, 0, []byte("x")),
		"half a READY":               append(slices.Clone(late), flagCommand, 9, 5),
		"a property that is cut off": appendFrame(slices.Clone(late), flagCommand, []byte("\x05READY\x0bSocket")),
		"a huge READY":               append(slices.Clone(late), flagCommand|flagLong, 0xff, 0, 0, 0, 0, 0, 0, 0),
	} {
		if _, err := Open(canned{in: bytes.NewReader(said)}, "SUB", small); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
}

func TestMessagesBeyondTheLimitsEndAConnection(t *testing.T) {
	long := binary.BigEndian.AppendUint64([]byte{flagLong}, 1<<40)
	for name, said := range map[string][]byte{
		"a huge frame": long, "many frames": bytes.Repeat([]byte{flagMore, 0}, 9), "unknown flags": {0x40, 0},
		"a command inside a message": {flagMore, 0, flagCommand, 2, 1, 'X'},
		"a command without a name":   {flagCommand, 0},
		"a refusal":                  append([]byte{flagCommand, 8}, "\x05ERROR\x01x"...),
		"many large frames":          bytes.Repeat(appendFrame(nil, flagMore, make([]byte, 400_000)), 3),
	} {
		c, err := Open(canned{in: bytes.NewReader(append(hello("PUB"), said...))}, "SUB", small)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Receive(); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestEndpointsAreReadAsZeroMQWritesThem(t *testing.T) {
	for text, want := range map[string]Endpoint{
		"tcp://h:1":       {network: "tcp", address: "h:1"},
		"tcp://*:5557":    {network: "tcp", address: ":5557", any: true},
		"tcp://0.0.0.0:1": {network: "tcp", address: "0.0.0.0:1", any: true},
		"tcp://[::]:1":    {network: "tcp", address: "[::]:1", any: true},
		"tcp://127.0.0.1:*": {
			network: "tcp", address: "127.0.0.1:0",
		},
		"ipc:///tmp/x": {network: "unix", address: "/tmp/x"},
	} {
		if got, err := ParseEndpoint(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "tcp://", "tcp://h", "udp://h:1", "ipc://", "inproc://x"} {
		if _, err := ParseEndpoint(text); !errors.Is(err, ErrEndpoint) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestUnixSocketsAndDialsThatEnd(t *testing.T) {
	e, err := ParseEndpoint("ipc://" + filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Dial(t.Context(), "SUB", small); err == nil || !e.Local() {
		t.Error("dialled nobody")
	}
	l, err := e.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := e.Dial(ctx, "SUB", small); err == nil { // a peer that accepts and says nothing
		t.Error("opened a silent one")
	}
}

// Whatever a peer says, memory follows what came, and every message keeps the limits.
func FuzzReceive(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, flagMore, []byte("topic")), 0, []byte("payload")))
	f.Add(binary.BigEndian.AppendUint64([]byte{flagLong}, 1<<20))
	f.Add([]byte{flagCommand, 5, 4, 'P', 'I', 'N', 'G', flagCommand, 3, 2, 'X', 'Y'})
	f.Fuzz(func(t *testing.T, said []byte) {
		c, err := Open(canned{in: bytes.NewReader(append(hello("PUB"), said...))}, "SUB", small)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for {
			m, err := c.Receive()
			if err != nil {
				break
			}
			size := 0
			for _, frame := range m {
				size += len(frame)
			}
			if len(m) == 0 || len(m) > small.Frames || size > small.Message {
				t.Fatalf("%d frames of %d bytes", len(m), size)
			}
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 512<<10+uint64(len(said))*256 {
			t.Fatalf("%d bytes took %d of memory", len(said), took)
		}
	})
}
