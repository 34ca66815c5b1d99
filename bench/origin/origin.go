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
		get, length, err := readHead(r)
		if err != nil {
			return err
		}
		stream, err := readBody(r, length)
		switch {
		case err != nil:
			return err
		case get:
			_, err = io.WriteString(c, models)
		case stream:
			err = e.stream(c)
		default:
			_, err = io.WriteString(c, answer)
		}
		if err != nil {
			return err
		}
	}
}

var errHead = errors.New("origin: a request that is not understood")

// readHead reads up to the body; a chunked one is refused, because no gateway here should send any.
func readHead(r *bufio.Reader) (get bool, length int, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return false, 0, err
	}
	get = bytes.HasPrefix(line, []byte("GET "))
	for {
		line, err = r.ReadSlice('\n')
		if err != nil {
			return false, 0, err
		}
		if len(line) <= 2 {
			return get, length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return false, 0, fmt.Errorf("%w: length %q", errHead, value)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return false, 0, fmt.Errorf("%w: chunked", errHead)
		}
	}
}

// readBody reads the body and says whether it asks for a stream.
func readBody(r *bufio.Reader, length int) (stream bool, err error) {
	if length == 0 {
		return false, nil
	}
	b := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(b)
	b.Reset()
	b.Grow(length)
	into := b.AvailableBuffer()[:length]
	if _, err := io.ReadFull(r, into); err != nil {
		return false, err
	}
	return asksForStream(into), nil
}

// asksForStream looks for the member however it is spaced.
func asksForStream(body []byte) bool {
	_, after, found := bytes.Cut(body, []byte(`"stream":`))
	return found && bytes.HasPrefix(bytes.TrimLeft(after, " "), []byte("true"))
}
