package origin

import (
	"fmt"
	"io"
	"net"
)

const (
	event = `data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1700000000,"model":"template",` +
		`"choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}]}` + "\n\n"
	last = `data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1700000000,"model":"template",` +
		`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)

var (
	models = whole(
		`{"object":"list","data":[{"id":"template","object":"model","created":1700000000,"owned_by":"bench"}]}`)
	answer = whole(
		`{"id":"chatcmpl-7","object":"chat.completion","created":1700000000,"model":"template","choices":[{"index":0,` +
			`"message":{"role":"assistant","content":"std::vector<int> v; v.reserve(64); // sixteen tokens or so"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":250,"completion_tokens":16,"total_tokens":266}}`)
	oneEvent = chunk(event)
	end      = chunk(last) + chunk("data: [DONE]\n\n") + "0\r\n\r\n"
)

func whole(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body),
		body)
}

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// stream answers by the script in force.
func (e *Engine) stream(c net.Conn) error {
	s := e.script.Load()
	if _, err := io.WriteString(c, head+oneEvent); err != nil {
		return err
	}
	switch {
	case s.Hold:
		return untilClosed(c)
	case s.Every > 0:
		e.pacer.add(c, s.Every)
		return untilClosed(c)
	}
	for range s.Events - 2 {
		if _, err := io.WriteString(c, oneEvent); err != nil { // engines write each token by itself
			return err
		}
	}
	_, err := io.WriteString(c, end)
	return err
}

// untilClosed waits for the gateway to leave: it sends nothing while its answer is open.
func untilClosed(c net.Conn) error {
	var b [1]byte
	_, err := c.Read(b[:])
	return err
}
