package emulator

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"octet/engine"
)

// A door is a surface beside chat completions, served as vLLM serves it: what is asked becomes a chat, and what the
// chat answers, whole or in chunks, faults and all, becomes the door's on its way out.

// Doors that an engine can serve.
const (
	DoorMessages  = "messages"
	DoorResponses = "responses"
)

// surface is a door's own words. It is one answer's.
type surface interface {
	// chat returns the chat completion that body asks for.
	chat(body []byte) (any, error)
	// events appends what a chunk becomes; with a nil chunk it is the head of the stream, with done its end.
	events(dst []byte, k *doorChunk, done bool) []byte
	// whole returns the body of an answer in one piece.
	whole(k *doorChunk) []byte
	// problem appends an error, as a body or as the last event of a stream.
	problem(dst []byte, p *problem, event bool) []byte
}

// serveDoors adds the routes of the doors that e serves.
func (h handlers) serveDoors(mux *http.ServeMux) {
	if slices.Contains(h.cfg.Doors, DoorMessages) {
		mux.HandleFunc("POST "+engine.MessagesPath, func(w http.ResponseWriter, r *http.Request) {
			h.through(w, r, new(messagesSurface))
		})
		mux.HandleFunc("POST "+engine.MessagesPath+"/count_tokens", h.countTokens)
	}
	if slices.Contains(h.cfg.Doors, DoorResponses) {
		mux.HandleFunc("POST "+engine.ResponsesPath, func(w http.ResponseWriter, r *http.Request) {
			h.through(w, r, new(responsesSurface))
		})
	}
}

// through serves a request of a surface as a chat.
func (h handlers) through(w http.ResponseWriter, r *http.Request, s surface) {
	d := &doorWriter{ResponseWriter: w, surface: s}
	chat, err := readDoor(r, s)
	if err != nil {
		writeProblem(d, err)
		return
	}
	asked := r.Clone(r.Context())
	asked.URL.Path, asked.Body = "/v1/chat/completions", io.NopCloser(bytes.NewReader(chat))
	h.chat(d, asked)
}

// readDoor returns the chat completion that a request of a surface asks for.
func readDoor(r *http.Request, s surface) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, badRequest("", "reading the body: %v", err)
	}
	chat, err := s.chat(body)
	if err != nil {
		return nil, err
	}
	return mustJSON(chat), nil
}

// countTokens answers how many tokens the prompt of a message is.
func (h handlers) countTokens(w http.ResponseWriter, r *http.Request) {
	s := new(messagesSurface)
	d := &doorWriter{ResponseWriter: w, surface: s}
	chat, err := readDoor(r, s)
	if err != nil {
		writeProblem(d, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(chat))
	a, err := h.readAsk(r, true)
	if err != nil {
		writeProblem(d, err)
		return
	}
	writeJSON(w, http.StatusOK, mustJSON(map[string]int{"input_tokens": len(a.prompts[0].tokens)}))
}

// doorChunk is a chunk of a chat, or a whole one, as a door reads it.
type doorChunk struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Created int64  `json:"created"`
	Choices []struct {
		Delta   doorMessage `json:"delta"`
		Message doorMessage `json:"message"`
		Finish  string      `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage   `json:"usage"`
	Error *problem `json:"error"`
}

type doorMessage struct {
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning_content"`
	Calls     []doorCall `json:"tool_calls"`
}

// doorCall is a call of a tool, or a piece of one: only its beginning has an id.
type doorCall struct {
	ID       string       `json:"id,omitzero"`
	Type     string       `json:"type,omitzero"`
	Function doorFunction `json:"function"`
}

type doorFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// doorWriter turns the answer of a chat into a surface's. Bytes that are none pass as they are, as faults do.
type doorWriter struct {
	http.ResponseWriter
	surface surface
	began   bool
	status  int
}

// Unwrap lets what the connection can do be asked for.
func (d *doorWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// WriteHeader implements http.ResponseWriter. How long the answer will be is not known any more.
func (d *doorWriter) WriteHeader(status int) {
	d.status = status
	d.Header().Del("Content-Length")
	d.ResponseWriter.WriteHeader(status)
}

func (d *doorWriter) streams() bool {
	return d.status == http.StatusOK && d.Header().Get("Content-Type") != "application/json"
}

// Write implements http.ResponseWriter.
func (d *doorWriter) Write(p []byte) (int, error) {
	var out []byte
	if d.streams() {
		out = d.events(p)
	} else {
		out = d.body(p)
	}
	_, err := d.ResponseWriter.Write(out)
	return len(p), err
}

// body turns a whole answer, or an error.
func (d *doorWriter) body(p []byte) []byte {
	var k doorChunk
	switch err := json.Unmarshal(p, &k); {
	case err != nil || k.Error == nil && len(k.Choices) == 0:
		return p
	case k.Error != nil:
		return d.surface.problem(nil, k.Error, false)
	}
	return d.surface.whole(&k)
}

// events turns the events of a stream.
func (d *doorWriter) events(p []byte) (out []byte) {
	if !d.began {
		d.began = true
		out = d.surface.events(out, nil, false)
	}
	for len(p) > 0 {
		event, rest, whole := bytes.Cut(p, []byte("\n\n"))
		data, is := bytes.CutPrefix(event, []byte("data: "))
		var k doorChunk
		switch {
		case !whole || !is:
			return append(out, p...)
		case string(data) == "[DONE]":
			out = d.surface.events(out, nil, true)
		case json.Unmarshal(data, &k) != nil:
			return append(out, p...)
		case k.Error != nil:
			return d.surface.problem(out, k.Error, true)
		default:
			out = d.surface.events(out, &k, false)
		}
		p = rest
	}
	return out
}

// appendEvent appends an event of a surface.
func appendEvent(dst []byte, name string, data any) []byte {
	dst = append(append(append(dst, "event: "...), name...), "\ndata: "...)
	return append(append(dst, mustJSON(data)...), "\n\n"...)
}

// callID returns what a call is known by that has no id.
func (c *doorCall) callID(n int) string {
	if c.ID != "" {
		return c.ID
	}
	return "call_" + strconv.Itoa(n)
}
