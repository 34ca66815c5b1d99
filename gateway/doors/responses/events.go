package responses

import (
	"strconv"

	"octet/gateway/doors"
)

// The types of the events of a part, by the kind of its item.
var (
	deltas = [...]string{doors.Text: "response.output_text.delta", doors.Thought: "response.reasoning_text.delta",
		doors.Use: "response.function_call_arguments.delta"}
	dones = [...]string{doors.Text: "response.output_text.done", doors.Thought: "response.reasoning_text.done",
		doors.Use: "response.function_call_arguments.done"}
)

// deltaEnds is what stands behind a delta, by the kind of its item.
var deltaEnds = [...]string{doors.Text: "\",\"logprobs\":[]}\n\n", doors.Thought: "\"}\n\n", doors.Use: "\"}\n\n"}

// Events implements doors.Answer.
func (a *Answer) Events(events []byte) ([]byte, error) {
	a.out = a.out[:0]
	err := a.blocks.Events(events, a)
	return a.out, err
}

// Begin implements doors.Speller: the response, which has nothing yet.
func (a *Answer) Begin(k *doors.Chunk) {
	a.begin(k)
	a.whole("response.created", inProgress)
	a.whole("response.in_progress", inProgress)
}

// event begins an event; ends ends it.
func (a *Answer) event(name string) {
	a.out = append(append(append(a.out, "event: "...), name...), "\ndata: {\"type\":\""...)
	a.out = append(append(a.out, name...), `","sequence_number":`...)
	a.out = strconv.AppendInt(a.out, int64(a.sequence), 10)
	a.sequence++
}

func (a *Answer) ends() { a.out = append(a.out, "}\n\n"...) }

// whole sends an event that has the whole response.
func (a *Answer) whole(name, status string) {
	a.event(name)
	a.out = a.response(append(a.out, `,"response":`...), status)
	a.ends()
}

// place adds where the item that is open stands.
func (a *Answer) place() {
	a.out = append(a.out, `,"output_index":`...)
	a.out = strconv.AppendInt(a.out, int64(a.blocks.Index), 10)
}

// about adds which item, and which part of it, an event is about. A call has no parts.
func (a *Answer) about() {
	a.place()
	a.out = a.itemID(append(a.out, `,"item_id":`...))
	if a.blocks.Kind != doors.Use {
		a.out = append(a.out, `,"content_index":0`...)
	}
}

// Piece implements doors.Speller.
func (a *Answer) Piece(raw []byte) {
	a.event(deltas[a.blocks.Kind])
	a.out = append(append(append(a.out, a.middle...), raw...), deltaEnds[a.blocks.Kind]...)
	a.said = append(a.said, raw...)
}

// Open implements doors.Speller.
func (a *Answer) Open(call *doors.Call) {
	a.said = a.said[:0]
	if call != nil {
		a.names(call)
	}
	a.event("response.output_item.added")
	a.place()
	a.out = a.item(append(a.out, `,"item":`...), inProgress)
	a.ends()
	if call == nil {
		a.event("response.content_part.added")
		a.about()
		a.out = a.part(append(a.out, `,"part":`...), nil)
		a.ends()
	}
	a.frame()
}

// frame notes what all deltas of the item that is open have in common.
func (a *Answer) frame() {
	from := len(a.out)
	a.about()
	a.middle = append(append(a.middle[:0], a.out[from:]...), `,"delta":"`...)
	a.out = a.out[:from]
}

// Close implements doors.Speller.
func (a *Answer) Close() {
	kind := a.blocks.Kind
	a.event(dones[kind])
	a.about()
	if kind == doors.Use {
		a.out = doors.AppendRaw(append(a.out, `,"name":`...), a.name)
		a.out = doors.AppendRaw(append(a.out, `,"arguments":`...), a.said)
	} else {
		a.out = doors.AppendRaw(append(a.out, `,"text":`...), a.said)
	}
	if kind == doors.Text {
		a.out = append(a.out, `,"logprobs":[]`...)
	}
	a.ends()
	if kind != doors.Use {
		a.event("response.content_part.done")
		a.about()
		a.out = a.part(append(a.out, `,"part":`...), a.said)
		a.ends()
	}
	a.event("response.output_item.done")
	a.place()
	a.out = a.item(append(a.out, `,"item":`...), a.status())
	a.ends()
	a.kept(a.status())
}

// Done implements doors.Answer.
func (a *Answer) Done() []byte {
	a.out = a.out[:0]
	a.blocks.Close(a)
	status := a.status()
	a.whole("response."+status, status)
	return a.out
}
