package responses

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"octet/gateway/doors"
)

// Answer translates the answer to one request. It keeps what was said so far, which the last event says again.
type Answer struct {
	out    []byte
	blocks doors.Blocks
	echo   []byte // members of the response that repeat the request

	functions  spaces // of the request
	particular bool   // an engine's own door may pass over something that the request says

	id, model []byte
	created   int
	sequence  int         // of the next event
	callID    []byte      // of the call that is open
	function              // that it is of; without space if it is in no namespace
	said      []byte      // of the item that is open: the inside of a string
	middle    []byte      // what stands between the number of a delta of it and what that says
	items     []byte      // that are done
	piece     doors.Chunk // an answer in one piece

	// what an engine called the response and the item that is open; empty if that is ours to do
	given, givenItem []byte
}

var (
	_ doors.Answer  = (*Answer)(nil)
	_ doors.Speller = (*Answer)(nil)
)

// prefix is what the ids of each kind of item begin with.
var prefix = [...]string{doors.Text: "msg_", doors.Thought: "rs_", doors.Use: "fc_"}

// echoOf returns the members of a response that repeat its request, each with a comma in front.
func echoOf(m *[members]doors.Value) []byte {
	out := make([]byte, 0, framing+len(m[instructions].Raw())+len(m[tools].Raw())) // the others are short
	for _, e := range [...]struct {
		member    int
		otherwise string
	}{
		{instructions, "null"}, {metadata, "{}"}, {parallel, "true"}, {temperature, "null"}, {topP, "null"},
		{toolChoice, `"auto"`}, {tools, "[]"}, {maxOutput, "null"}, {reasoning, "null"},
		{text, `{"format":{"type":"text"}}`}, {truncation, `"disabled"`}, {user, "null"}, {cacheKey, "null"},
	} {
		out = append(append(append(out, `,"`...), names[e.member]...), `":`...)
		if raw := m[e.member].Raw(); raw != nil {
			out = append(out, raw...)
		} else {
			out = append(out, e.otherwise...)
		}
	}
	return append(out, `,"previous_response_id":null,"store":false,"background":false`...)
}

// begin notes what all of an answer have in common.
func (a *Answer) begin(k *doors.Chunk) {
	a.created = k.Created
	a.id, a.model = append(a.id[:0], k.ID...), append(a.model[:0], k.Model...)
}

// framing is about what a response says beside what it repeats, in bytes.
const framing = 768

// response appends the response object.
func (a *Answer) response(dst []byte, status string) []byte {
	dst = slices.Grow(dst, len(a.echo)+len(a.items)+framing)
	if dst = append(dst, `{"id":"`...); len(a.given) == 0 {
		dst = append(dst, "resp_"...)
	}
	dst = append(append(dst, a.id...), `","object":"response","created_at":`...)
	dst = append(strconv.AppendInt(dst, int64(a.created), 10), `,"status":"`...)
	dst = append(append(dst, status...), `","error":null,"incomplete_details":`...)
	switch {
	case status != "incomplete":
		dst = append(dst, "null"...)
	case string(a.blocks.Finish) == "length":
		dst = append(dst, `{"reason":"max_output_tokens"}`...)
	default:
		dst = append(dst, `{"reason":"content_filter"}`...)
	}
	dst = append(append(append(dst, `,"model":"`...), a.model...), `","output":[`...)
	dst = append(append(append(dst, a.items...), ']'), a.echo...)
	dst = append(dst, `,"usage":`...)
	u := &a.blocks.Usage
	if !u.Known {
		return append(dst, "null}"...)
	}
	return fmt.Appendf(dst, `{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,`+
		`"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}}`,
		u.Prompt, u.Cached, u.Completion, u.Reasoning, u.Prompt+u.Completion)
}

// status returns how the answer ended, or how an item of it does that ends now. The last item of an answer that was cut
// is incomplete.
func (a *Answer) status() string {
	switch string(a.blocks.Finish) {
	case "length", "content_filter":
		return "incomplete"
	}
	return completed
}

// itemID appends the id of the item that is open, in quotes.
func (a *Answer) itemID(dst []byte) []byte {
	if len(a.givenItem) > 0 {
		return doors.AppendRaw(dst, a.givenItem)
	}
	dst = append(append(append(append(dst, '"'), prefix[a.blocks.Kind]...), a.id...), '_')
	return append(strconv.AppendInt(dst, int64(a.blocks.Index), 10), '"')
}

// part appends the part of the item that is open, with what was said of it.
func (a *Answer) part(dst, said []byte) []byte {
	if a.blocks.Kind == doors.Thought {
		return append(append(append(dst, `{"type":"reasoning_text","text":"`...), said...), `"}`...)
	}
	return append(append(append(dst, `{"type":"output_text","annotations":[],"logprobs":[],"text":"`...), said...),
		`"}`...)
}

// What an item is of which nothing is said yet, and what one and an answer are of which all is said.
const inProgress, completed = "in_progress", "completed"

// item appends the item that is open, by its status.
func (a *Answer) item(dst []byte, status string) []byte {
	var said []byte
	if status != inProgress {
		said = a.said
	}
	dst = append(a.itemID(append(dst, `{"id":`...)), `,"status":"`...)
	dst = append(append(dst, status...), `",`...)
	switch a.blocks.Kind {
	case doors.Use:
		dst = append(doors.AppendRaw(append(dst, `"type":"function_call","call_id":`...), a.callID), `,"name":`...)
		dst = append(doors.AppendRaw(dst, a.name), `,"arguments":`...)
		dst = doors.AppendRaw(dst, said)
		if a.space != nil {
			dst = doors.AppendRaw(append(dst, `,"namespace":`...), a.space)
		}
		return append(dst, '}')
	case doors.Thought:
		dst = append(dst, `"type":"reasoning","summary":[],"content":[`...)
	default:
		dst = append(dst, `"type":"message","role":"assistant","content":[`...)
	}
	if status != inProgress {
		dst = a.part(dst, said)
	}
	return append(dst, "]}"...)
}

// kept adds the item that is open to those that are done.
func (a *Answer) kept(status string) {
	if len(a.items) > 0 {
		a.items = append(a.items, ',')
	}
	a.items = a.item(a.items, status)
	a.givenItem = a.givenItem[:0]
}

// names notes which call is open.
func (a *Answer) names(c *doors.Call) {
	a.callID, a.function = append(a.callID[:0], c.ID...), a.functions[string(c.Name)]
	if a.space == nil {
		a.name = bytes.Clone(c.Name)
	}
	if len(c.ID) == 0 {
		a.callID = fmt.Appendf(a.callID, "call_%s_%d", a.id, a.blocks.Calls)
	}
}

// Whole implements doors.Answer.
func (a *Answer) Whole(body []byte) ([]byte, error) {
	k, b := &a.piece, &a.blocks
	if err := k.Read(body); err != nil {
		return nil, err
	}
	a.begin(k)
	a.items = a.items[:0]
	*b = doors.Blocks{Usage: k.Usage, Finish: k.Finish}
	said := [...]struct {
		kind doors.Kind
		said []byte
	}{{doors.Thought, k.Reasoning}, {doors.Text, k.Text}, {doors.Text, k.Refusal}}
	items := len(k.Calls)
	for _, of := range said {
		items += min(len(of.said), 1)
	}
	for _, of := range said {
		if len(of.said) > 0 {
			a.wholeItem(of.kind, of.said, items)
		}
	}
	for i := range k.Calls {
		if len(k.Calls[i].Name) == 0 {
			return nil, fmt.Errorf("%w: call %d has no name", doors.ErrChunk, i)
		}
		a.names(&k.Calls[i])
		a.wholeItem(doors.Use, k.Calls[i].Arguments, items)
		b.Calls++
	}
	a.out = a.response(a.out[:0], a.status())
	return a.out, nil
}

// wholeItem adds an item of which everything is said, to an answer of so many.
func (a *Answer) wholeItem(kind doors.Kind, said []byte, items int) {
	a.blocks.Kind, a.said = kind, append(a.said[:0], said...)
	status := completed
	if a.blocks.Index == items-1 {
		status = a.status()
	}
	a.kept(status)
	a.blocks.Index++
}
