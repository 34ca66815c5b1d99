package picker

import (
	"net/http"
	"slices"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// writer is the answer to a call's client. Once an engine answers, what is written goes on as it is written; else it is
// collected, and is one immediate response.
type writer struct {
	call   *call
	header http.Header
	status int // 0 before the head
	now    bool
	body   []byte    // of an immediate response
	until  time.Time // writes may wait until then; zero means no limit
	err    error     // of the head, or the first of a write
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	engine := w.call.answers
	if w.now = engine == nil || status != http.StatusOK; w.now {
		return
	}
	fields := w.fields()
	w.err = w.call.send(answerHead(fields, unwanted(engine.names, fields)), w.until)
}

// fields returns the head as the proxy is to set it.
func (w *writer) fields() (fields []*core.HeaderValueOption) {
	names := make([]string, 0, len(w.header))
	for name := range w.header {
		if name != "Connection" && (name != "Content-Length" || !w.now) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for i, value := range w.header[name] {
			fields = append(fields, set(strings.ToLower(name), value, i > 0))
		}
	}
	return fields
}

// unwanted returns the fields of an engine's head that the answer does not have: what the engine says of itself.
func unwanted(names []string, fields []*core.HeaderValueOption) (without []string) {
	for _, name := range names {
		is := func(f *core.HeaderValueOption) bool { return f.GetHeader().GetKey() == name }
		if !slices.ContainsFunc(fields, is) && name != "date" && !strings.HasPrefix(name, "x-envoy-") {
			without = append(without, name)
		}
	}
	return without
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.now {
		w.body = append(w.body, p...)
		return len(p), nil
	}
	for rest := p; len(rest) > 0 && w.err == nil; {
		n := min(len(rest), mostPiece)
		w.err = w.call.send(answerPiece(append([]byte(nil), rest[:n]...), false), w.until)
		rest = rest[n:]
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// FlushError flushes as http.ResponseController has it: what is written is sent already.
func (w *writer) FlushError() error { return w.err }

// Flush implements http.Flusher.
func (*writer) Flush() {}

// SetReadDeadline is http.ResponseController's.
func (w *writer) SetReadDeadline(t time.Time) error {
	w.call.reads.set(t)
	return nil
}

// SetWriteDeadline is http.ResponseController's. It binds writes alone.
func (w *writer) SetWriteDeadline(t time.Time) error {
	w.until = t
	return nil
}

// end ends the answer, when the line has.
func (w *writer) end() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.now {
		return w.call.send(immediate(w.status, w.fields(), w.body), w.until)
	}
	if w.err != nil {
		return w.err
	}
	trailers, err := w.call.answers.finish()
	if err != nil {
		return err
	}
	if trailers {
		return w.call.send(answerTrailers(), w.until)
	}
	return w.call.send(answerPiece(nil, true), w.until)
}
