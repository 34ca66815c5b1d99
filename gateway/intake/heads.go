package intake

import (
	"net/http"
	"slices"

	"octet/engine"
	"octet/gateway/conn"
)

// heads are the fields of a request's head that mean something to the gateway, found in one pass; all in their first
// value.
type headers struct {
	size          int // bytes of the whole head, the request line included
	requestID     string
	authorization string
	apiKey        string // X-Api-Key, as Anthropic's clients send their key
	encoding      string
	contentType   string
	explain       string
	origin        string
	fetchSite     string
	// name of a field above that is given more than once, so that two readers could go by different values; may be ""
	repeated string
	asks     bool // there is one of those below
	// These may be given once at most, or their readers refuse: see headerToken.
	intent, adapter, priority, deadline, ttftDeadline, idempotency, replica []string
	session, claudeSession, dynamoSession                                   []string // see findSession
	via                                                                     []string // see checkVia

	readable []string // names of headers that plugins may see
	offered  []offer  // of them, those that came

	forwardable []string // names of headers that engines are sent as they come
	forwarded   []offer  // of them, and of those that trace a request, those that came
	hops        []string // values of Connection: what they name ends here
}

// offer is a header that plugins may see, or that goes on to engines.
type offer struct {
	name   string
	values []string
}

// readAll takes down the fields of a head. It refuses nothing.
func (h *headers) readAll(c conn.Head, r *http.Request) {
	h.size = headSize(r)
	if names, values, ok := c.Fields(); ok {
		for i, name := range names {
			h.read(name, values[i:i+1:i+1])
		}
		return
	}
	for name, values := range r.Header {
		if len(values) > 0 {
			h.read(name, values)
		}
	}
}

// read takes down a field, by its canonical name.
func (h *headers) read(name string, values []string) {
	h.size += fieldSize(name, values)
	h.offer(name, values)
	switch name {
	case traceParent, traceState:
		h.forwarded = append(h.forwarded, offer{name, values})
	case "Connection":
		h.hops = append(h.hops, values...)
	case "X-Request-Id":
		h.requestID = values[0]
	case "Authorization":
		h.authorization = h.once(name, values)
	case "X-Api-Key":
		h.apiKey = h.once(name, values)
	case "Content-Encoding":
		h.encoding = h.once(name, values)
	case "Content-Type":
		h.contentType = h.once(name, values)
	case "X-Explain":
		h.explain = values[0]
	case engine.Via:
		h.via = append(h.via, values...)
	case "Origin":
		h.origin = h.once(name, values)
	case "Sec-Fetch-Site":
		h.fetchSite = h.once(name, values)
	default:
		h.ask(name, values)
	}
}

// explains reports whether the request asks to be explained.
func (h *headers) explains() bool { return h.explain == "1" }

// offer keeps a field that plugins may read, and one that goes on to engines.
func (h *headers) offer(name string, values []string) {
	if len(h.readable) > 0 && slices.Contains(h.readable, name) {
		h.offered = append(h.offered, offer{name, values})
	}
	if len(h.forwardable) > 0 && slices.Contains(h.forwardable, name) {
		h.forwarded = append(h.forwarded, offer{name, values})
	}
}

// once returns the first value, and notes a second.
func (h *headers) once(name string, values []string) string {
	if len(values) > 1 {
		h.repeated = name
	}
	return values[0]
}

// ask takes down a field in which a client speaks to the router.
func (h *headers) ask(name string, values []string) {
	switch name {
	case "X-Intent":
		h.intent = values
	case "X-Adapter":
		h.adapter = values
	case sessionHeader:
		h.session = values
	case claudeSessionHeader:
		h.claudeSession = values
	case dynamoSessionHeader:
		h.dynamoSession = values
	case "X-Priority":
		h.priority = values
	case "X-Deadline-Ms":
		h.deadline = values
	case "X-Ttft-Deadline-Ms":
		h.ttftDeadline = values
	case "Idempotency-Key":
		h.idempotency = values
	case replicaHeader:
		h.replica = values
	default:
		return
	}
	h.asks = true
}
