package origin

import (
	"fmt"
	"io"
	"net"
)

// surface is how answers are spelt at a path.
type surface struct {
	whole  string
	begins string    // head and first events of a stream
	event  string    // a token
	ends   string    // the last events, and the end
	usage  [3]*usage // by when a stream says it; nil where that changes nothing
}

// usage is what of a surface is other where a stream says its usage.
type usage struct{ begins, event, ends string }

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

var models = whole(
	`{"object":"list","data":[{"id":"template","object":"model","created":1700000000,"owned_by":"bench"}]}`)

// surfaceOf returns the surface of what is posted to a path; nil of what is not posted.
func surfaceOf(path []byte) *surface {
	switch string(path[max(0, len(path)-len("/v1/messages")):]) {
	case "":
		return nil
	case "/v1/messages":
		return messages
	}
	return chats
}

const (
	about = `"id":"chatcmpl-7","object":"chat.completion.chunk","created":1700000000,"model":"template",`
	text  = `"message":{"role":"assistant","content":"std::vector<int> v; v.reserve(64); // sixteen tokens or so"}`
	told  = `"usage":{"prompt_tokens":250,"completion_tokens":16,"total_tokens":266}`
)

var chats = func() *surface {
	event, last, done := chatEvent(`{"content":" token"}`, "null", ""), chatEvent(`{}`, `"stop"`, ""),
		chunk("data: [DONE]\n\n")+"0\r\n\r\n"
	null := chatEvent(`{"content":" token"}`, "null", `,"usage":null`)
	each := chatEvent(`{"content":" token"}`, "null", ","+told)
	total := chunk("data: {" + about + `"choices":[],` + told + "}\n\n")
	return &surface{
		whole: whole(`{"id":"chatcmpl-7","object":"chat.completion","created":1700000000,"model":"template",` +
			`"choices":[{"index":0,` + text + `,"finish_reason":"stop"}],` + told + `}`),
		begins: head + event, event: event, ends: last + done,
		usage: [...]*usage{
			atEnd:  {head + null, null, chatEvent(`{}`, `"stop"`, `,"usage":null`) + total + done},
			always: {head + each, each, chatEvent(`{}`, `"stop"`, ","+told) + total + done},
		},
	}
}()

func chatEvent(delta, finish, more string) string {
	return chunk("data: {" + about + `"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]` + more + "}\n\n")
}

// messages are answered by engines that serve Messages themselves.
var messages = func() *surface {
	const message = `"id":"msg_7","type":"message","role":"assistant","model":"template"`
	const used = `"usage":{"input_tokens":250,"output_tokens":16}`
	event := messageEvent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":" token"}`)
	return &surface{
		whole: whole(`{` + message + `,"content":[{"type":"text","text":"std::vector<int> v; v.reserve(64);"}],` +
			`"stop_reason":"end_turn","stop_sequence":null,` + used + `}`),
		begins: head + messageEvent("message_start", `"message":{`+message+`,"content":[],"stop_reason":null,`+
			`"stop_sequence":null,"usage":{"input_tokens":250,"output_tokens":0}}`) +
			messageEvent("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) + event,
		event: event,
		ends: messageEvent("content_block_stop", `"index":0`) +
			messageEvent("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},`+used) +
			chunk("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n") + "0\r\n\r\n",
	}
}()

func messageEvent(name, members string) string {
	return chunk("event: " + name + "\ndata: {\"type\":\"" + name + "\"," + members + "}\n\n")
}

func whole(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body),
		body)
}

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// stream answers by the script in force.
func (e *Engine) stream(c net.Conn, as *surface, when int) error {
	s := e.script.Load()
	u := usage{as.begins, as.event, as.ends}
	if other := as.usage[when]; s.Usage && other != nil {
		u = *other
	}
	if _, err := io.WriteString(c, u.begins); err != nil {
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
		if _, err := io.WriteString(c, u.event); err != nil { // engines write each token by itself
			return err
		}
	}
	_, err := io.WriteString(c, u.ends)
	return err
}

// untilClosed waits for the gateway to leave: it sends nothing while its answer is open.
func untilClosed(c net.Conn) error {
	var b [1]byte
	_, err := c.Read(b[:])
	return err
}
