package emulator

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const flood = 2 << 20 // bytes

// errStruck ends an answer to which nothing more is to be written: a fault or an error has had the last word.
var errStruck = errors.New("emulator: the answer has ended on the wire")

// finishReason is why an answer has ended, in a body.
var finishReason = regexp.MustCompile(`"finish_reason":"[a-z_]*"`)

// wire is the way of one answer to its client, with at most one fault on it. Its methods return errStruck when they
// were the last; that a client is gone is seen in its request's context alone.
type wire struct {
	w        http.ResponseWriter
	ctl      *http.ResponseController
	ctx      context.Context // ends when the client leaves or the engine stops
	fault    Fault
	slow     time.Duration // between two tokens under Slow
	streamed bool
	begun    bool // the headers are out
	tokens   int  // passed so far
}

// accept is called before a request is given to the scheduler.
func (x *wire) accept() error {
	switch x.fault.Kind {
	case DieBeforeHeaders:
		return x.die()
	case Hang:
		return x.hang()
	case Status:
		return x.fail(&problem{Message: "The engine was told to refuse.", Type: http.StatusText(x.fault.K),
			Code: x.fault.K})
	case BadHead:
		return x.raw("\x16\x03\x01 this is no HTTP\r\n\r\n")
	case HalfHead:
		return x.raw("HTTP/1.1 200 OK\r\nContent-Ty")
	case HugeHead:
		return x.raw("HTTP/1.1 200 OK\r\nX-Filler: " + strings.Repeat("x", flood) + "\r\n\r\n")
	}
	return nil
}

// begin is called when the scheduler has taken the request: the time for a stream's headers.
func (x *wire) begin() error {
	if x.streamed || x.fault.Kind == DieAfterHeaders {
		x.send(nil)
	}
	if x.fault.Kind == DieAfterHeaders {
		return x.die()
	}
	return nil
}

// pass is called before each token is written, and strikes when its turn has come.
func (x *wire) pass() error {
	if x.fault.Kind == Slow && x.tokens > 0 {
		if pause(x.ctx, x.slow) != nil {
			return x.die()
		}
	}
	if x.tokens == x.fault.K && (x.streamed || x.fault.Kind != DieAfterTokens && x.fault.Kind != Abort) {
		if err := x.strike(); err != nil {
			return err
		}
	}
	x.tokens++
	return nil
}

// finish is called with what is left to write when every token has passed: a whole body, or the end of a stream.
func (x *wire) finish(rest []byte) error {
	if !x.streamed {
		if x.fault.Kind == Abort {
			rest = finishReason.ReplaceAll(rest, []byte(`"finish_reason":"abort"`))
			x.fault = Fault{}
		}
		x.w.Header().Set("Content-Length", strconv.Itoa(len(rest)))
		if x.fault.Kind == DieAfterTokens {
			x.send(rest[:len(rest)/2])
		}
	}
	if err := x.strike(); err != nil {
		return err
	}
	x.send(rest)
	return nil
}

// strike does what a fault does once its tokens have passed; without such a fault, nothing.
func (x *wire) strike() error {
	if x.fault.Kind != "" && x.fault.Kind != Slow {
		x.w.Header().Del("Content-Length")
	}
	switch x.fault.Kind {
	case DieAfterTokens:
		return x.die()
	case HangAfterTokens:
		return x.hang()
	case Close:
		return x.raw("")
	case Cut:
		return errStruck
	case HalfEvent:
		x.send([]byte(`data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"conte`))
		return x.die()
	case Flood:
		x.send([]byte(`data: {"id":"flood","filler":"` + strings.Repeat("x", flood)))
		return x.hang()
	case BadFrame:
		return x.raw("not a length\r\n")
	case Garbage:
		x.send([]byte("\x00\xff\xfe{\"id\": [not json\n\ndata: {\"choices\":[{\n\n"))
		return errStruck
	case Abort:
		x.send([]byte(`data: {"object":"chat.completion.chunk","choices":[{"index":0,"text":"","delta":{},` +
			`"finish_reason":"abort"}]}` + "\n\n" + `data: {"object":"chat.completion.chunk","choices":[],` +
			`"usage":{"prompt_tokens":1,"completion_tokens":1}}` + "\n\ndata: [DONE]\n\n"))
		return errStruck
	case ErrorEvent:
		return x.fail(&problem{Message: "EngineCore encountered an issue.", Type: "InternalServerError",
			Code: http.StatusInternalServerError})
	}
	return nil
}

// fail tells the client about err: an error answer, or once a stream has begun an error object and [DONE].
func (x *wire) fail(err error) error {
	if !x.begun {
		writeProblem(x.w, err)
		return errStruck
	}
	event := append([]byte("data: "), problemOf(err).body()...)
	x.send(append(event, "\n\ndata: [DONE]\n\n"...))
	return errStruck
}

// send writes b, the headers before it, and flushes both.
func (x *wire) send(b []byte) {
	if !x.begun {
		x.begun = true
		kind := "application/json"
		if x.streamed {
			kind = "text/event-stream; charset=utf-8"
		}
		x.w.Header().Set("Content-Type", kind)
		x.w.WriteHeader(http.StatusOK)
	}
	_, _ = x.w.Write(b)
	_ = x.ctl.Flush()
}

// hang waits until the client leaves or the engine stops.
func (x *wire) hang() error {
	<-x.ctx.Done()
	return x.die()
}

// raw writes b past HTTP, and closes the connection.
func (x *wire) raw(b string) error {
	conn, _, err := x.ctl.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(conn, b)
	_ = conn.Close()
	return errStruck
}

// die resets the connection, so that the client reads an error and not an end.
func (x *wire) die() error {
	conn, _, err := x.ctl.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	return errStruck
}
