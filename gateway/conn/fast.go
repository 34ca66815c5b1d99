package conn

import (
	"net/http"
	"strconv"
	"time"

	"octet/gateway/head"
	"octet/internal/http1/server"
)

// fast is a connection of our own server.
type fast struct{ *server.Answer }

var _ Conn = fast{}

// Start implements Writer.
func (f fast) Start(status int, length int64, lines []byte) {
	if len(f.Header()) > 0 {
		start(f.Answer, status, length, lines)
		return
	}
	f.Answer.Start(status, length, lines)
}

// Detach implements Parker.
func (f fast) Detach(rest func() (over bool)) bool {
	f.Answer.Detach(rest)
	return true
}

// wrapped is a connection of our own server with another handler's writer around it, which is to see what is written.
type wrapped struct {
	std
	answer *server.Answer
}

var _ Conn = (*wrapped)(nil)

// Began implements Head.
func (w *wrapped) Began() time.Time { return w.answer.Began() }

// Fields implements Head.
func (w *wrapped) Fields() (names, values []string, ok bool) { return w.answer.Fields() }

// AtHand implements Body.
func (w *wrapped) AtHand() bool { return w.answer.AtHand() }

// Lend implements Body.
func (w *wrapped) Lend() ([]byte, bool) { return w.answer.Lend() }

// Interrupt implements Body.
func (w *wrapped) Interrupt() { w.answer.Interrupt() }

// start sends a head by way of the header's map.
func start(w http.ResponseWriter, status int, length int64, lines []byte) {
	h := w.Header()
	head.Lines(lines).Into(h)
	if length >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	w.WriteHeader(status)
}

// send is Write and Flush.
func send(w http.ResponseWriter, p []byte) error {
	if len(p) > 0 {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return http.NewResponseController(w).Flush()
}
