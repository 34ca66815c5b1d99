package app_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"octet/app"
	"octet/config"
	"octet/engine/emulator"
	"octet/internal/apptest"
	"octet/internal/await"
	"octet/routing/events"
	"octet/routing/events/redisstream"
)

// world is a gateway on real sockets, with what several tests do to one.
type world struct{ *apptest.World }

// bubble is a gateway in virtual time, with what several tests do to one.
type bubble struct{ *apptest.Bubble }

const smallWorld = apptest.Small

// shapes and between are short names.
var shapes, between = apptest.Shapes, apptest.Between

func smallEngines() []emulator.Config { return apptest.SmallEngines() }

func newWorld(t testing.TB, yaml string, engines []emulator.Config, sets ...string) *world {
	t.Helper()
	return &world{apptest.New(t, yaml, engines, sets...)}
}

func newWiredWorld(t testing.TB, yaml string, engines []emulator.Config, sets ...string) *world {
	t.Helper()
	return &world{apptest.NewWired(t, yaml, engines, sets...)}
}

func newBubble(t testing.TB, engines []emulator.Config) *bubble {
	return &bubble{apptest.NewBubble(t, engines)}
}

// newApp returns a gateway that serves nothing.
func newApp(t testing.TB, cfg *config.Config) *app.App {
	t.Helper()
	a, err := app.New(t.Context(), cfg, app.Options{Log: apptest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// redisPublisher returns an engine's side of a Redis stream.
func redisPublisher(addr, stream string) (events.Publisher, error) {
	return redisstream.NewPublisher(redisstream.Config{Addr: addr, Stream: stream})
}

func keyed(sets ...string) []string { return apptest.Keyed(sets...) }

// errorBody is the contract's error object.
type errorBody struct {
	Error struct {
		Message, Type, Code string
		Param               *string
	}
	RequestID string `json:"request_id"`
}

// stream is a streamed answer as a client sees it.
type stream struct {
	text   string
	done   bool
	failed *errorBody // the error event
	clean  bool       // the connection ended properly
	events int
}

func readStream(body io.Reader) (s stream) {
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if payload, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok && err == nil {
			s.take(payload)
		}
		if err != nil {
			s.clean = err == io.EOF
			return s
		}
	}
}

func (s *stream) take(payload []byte) {
	s.events++
	if string(payload) == "[DONE]" {
		s.done = true
		return
	}
	var e errorBody
	if json.Unmarshal(payload, &e) == nil && e.Error.Code != "" {
		s.failed = &e
		return
	}
	var chunk struct {
		Choices []struct {
			Delta struct{ Content string }
			Text  string
		}
	}
	_ = json.Unmarshal(payload, &chunk)
	for _, c := range chunk.Choices {
		s.text += c.Delta.Content + c.Text
	}
}

// indexText is what an engine in index mode says in the first n tokens of a request.
func indexText(id string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "⟦%s:%d⟧", id, i)
	}
	return b.String()
}

// eventually waits until ok returns true: see await.True.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	await.True(t, what, ok)
}
