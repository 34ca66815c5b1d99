// Package origin is an inference engine that answers instantly: what is measured before it is the gateway's own cost.
package origin

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Script is how streams are answered from now on; answers that are not streamed are always the same.
type Script struct {
	Every  time.Duration // between two events of a stream, which never ends; 0 is as fast as they are taken
	Events int           // of a stream without pace, until its [DONE]
	Hold   bool          // one event and then silence
	Usage  bool          // streams without pace have the usage that they were asked for
}

// Engine serves HTTP/1.1 on one listener. It knows as much of the protocol as the gateways need that are measured.
type Engine struct {
	script atomic.Pointer[Script]
	pacer  pacer
	conns  sync.Map
	wait   sync.WaitGroup
	l      net.Listener
}

// Listen starts an Engine on addr.
func Listen(addr string) (*Engine, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	e := &Engine{l: l}
	e.Play(Script{Events: 16})
	e.wait.Go(e.accept)
	return e, nil
}

// Addr returns host and port.
func (e *Engine) Addr() string { return e.l.Addr().String() }

// Play sets how streams that begin from now on are answered.
func (e *Engine) Play(s Script) { e.script.Store(&s) }

// Close ends all connections and waits for them.
func (e *Engine) Close() {
	_ = e.l.Close()
	e.conns.Range(func(c, _ any) bool {
		_ = c.(net.Conn).Close()
		return true
	})
	e.wait.Wait()
	e.pacer.stop()
}

func (e *Engine) accept() {
	for {
		c, err := e.l.Accept()
		if err != nil {
			return
		}
		e.conns.Store(c, nil)
		e.wait.Go(func() {
			defer e.conns.Delete(c)
			defer c.Close()
			_ = e.serve(c) // how a client leaves is its business
		})
	}
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (e *Engine) serve(c net.Conn) error {
	r := bufio.NewReaderSize(c, 2<<10)
	for {
		line, length, err := readHead(r)
		if err != nil {
			return err
		}
		asked, err := readBody(r, length)
		s := surfaceOf(line)
		switch {
		case err != nil:
			return err
		case s == nil:
			_, err = io.WriteString(c, models)
		case asked.stream:
			err = e.stream(c, s, asked.usage)
		default:
			_, err = io.WriteString(c, s.whole)
		}
		if err != nil {
			return err
		}
	}
}

var errHead = errors.New("origin: a request that is not understood")

// readHead reads up to the body; a chunked one is refused, because no gateway here should send any. target is the
// path of what is posted, nil of all else; it is valid until the next read.
func readHead(r *bufio.Reader) (target []byte, length int, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, 0, err
	}
	if rest, posted := bytes.CutPrefix(line, []byte("POST ")); posted {
		path, _, _ := bytes.Cut(rest, []byte(" "))
		target = bytes.Clone(path)
	}
	for {
		line, err = r.ReadSlice('\n')
		if err != nil {
			return nil, 0, err
		}
		if len(line) <= 2 {
			return target, length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, 0, fmt.Errorf("%w: length %q", errHead, value)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return nil, 0, fmt.Errorf("%w: chunked", errHead)
		}
	}
}

// asked is what a body asks for.
type asked struct {
	stream bool
	usage  int // noUsage, atEnd or always
}

// When a stream says its usage.
const (
	noUsage = iota
	atEnd
	always
)

// readBody reads the body and says what it asks for.
func readBody(r *bufio.Reader, length int) (what asked, err error) {
	if length == 0 {
		return what, nil
	}
	b := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(b)
	b.Reset()
	b.Grow(length)
	into := b.AvailableBuffer()[:length]
	if _, err := io.ReadFull(r, into); err != nil {
		return what, err
	}
	what.stream = asksFor(into, `"stream":`)
	switch {
	case !what.stream:
	case asksFor(into, `"continuous_usage_stats":`):
		what.usage = always
	case asksFor(into, `"include_usage":`):
		what.usage = atEnd
	}
	return what, nil
}

// asksFor looks for a member that is true, however it is spaced.
func asksFor(body []byte, member string) bool {
	_, after, found := bytes.Cut(body, []byte(member))
	return found && bytes.HasPrefix(bytes.TrimLeft(after, " "), []byte("true"))
}
