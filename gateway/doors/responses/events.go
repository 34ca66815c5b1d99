package responses

import (
	"fmt"
	"strconv"

	"octet/gateway/doors"
)

// The types of the events of a part, by the kind of its item.
var (
	deltas = [...]string{message: "response.output_text.delta", thought: "response.reasoning_text.delta",
		call: "response.function_call_arguments.delta"}
	dones = [...]string{message: "response.output_text.done", thought: "response.reasoning_text.done",
		call: "response.function_call_arguments.done"}
)

// Events implements doors.Answer.
func (a *Answer) Events(events []byte) ([]byte, error) {
	a.out = a.out[:0]
	err := doors.EachChunk(events, a.chunkEvents)
	return a.out, err
}

func (a *Answer) chunkEvents(data []byte) error {
	k := &a.chunk
	if err := k.Read(data); err != nil {
		return err
	}
	if !a.begun {
		a.begin(k)
		a.whole("response.created", "in_progress")
		a.whole("response.in_progress", "in_progress")
	}
	if k.Usage.Known {
		a.usage = k.Usage
	}
	a.piece(thought, k.Reasoning)
	a.piece(message, k.Text)
	a.piece(message, k.Refusal)
	for i := range k.Calls {
		if err := a.use(&k.Calls[i]); err != nil {
			return err
		}
	}
	if k.Finish != nil {
		a.finish = append(a.finish[:0], k.Finish...)
	}
	return nil
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
	a.out = strconv.AppendInt(a.out, int64(a.index), 10)
}

// about adds which item, and which part of it, an event is about. A call has no parts.
func (a *Answer) about() {
	a.place()
	a.out = a.itemID(append(a.out, `,"item_id":`...))
	if a.open != call {
		a.out = append(a.out, `,"content_index":0`...)
	}
}

// piece sends a piece of text or of reasoning, in an item of its own kind.
func (a *Answer) piece(k kind, raw []byte) {
	if len(raw) == 0 {
		return
	}
	if a.open != k {
		a.closes()
		a.opens(k)
	}
	a.delta(raw)
}

func (a *Answer) delta(raw []byte) {
	a.event(deltas[a.open])
	a.about()
	a.out = doors.AppendRaw(append(a.out, `,"delta":`...), raw)
	if a.open == message {
		a.out = append(a.out, `,"logprobs":[]`...)
	}
	a.ends()
	a.said = append(a.said, raw...)
}

// opens begins an item.
func (a *Answer) opens(k kind) {
	a.open, a.said = k, a.said[:0]
	a.event("response.output_item.added")
	a.place()
	a.out = a.item(append(a.out, `,"item":`...), false)
	a.ends()
	if k != call {
		a.event("response.content_part.added")
		a.about()
		a.out = a.part(append(a.out, `,"part":`...), nil)
		a.ends()
	}
}

// closes ends the item that is open, if there is one.
func (a *Answer) closes() {
	if a.open == none {
		return
	}
	a.event(dones[a.open])
	a.about()
	if a.open == call {
		a.out = doors.AppendRaw(append(a.out, `,"name":`...), a.name)
		a.out = doors.AppendRaw(append(a.out, `,"arguments":`...), a.said)
	} else {
		a.out = doors.AppendRaw(append(a.out, `,"text":`...), a.said)
	}
	if a.open == message {
		a.out = append(a.out, `,"logprobs":[]`...)
	}
	a.ends()
	if a.open != call {
		a.event("response.content_part.done")
		a.about()
		a.out = a.part(append(a.out, `,"part":`...), a.said)
		a.ends()
	}
	a.event("response.output_item.done")
	a.place()
	a.out = a.item(append(a.out, `,"item":`...), true)
	a.ends()
	a.kept()
}

// use sends a piece of a call. A call that another item has followed cannot go on.
func (a *Answer) use(c *doors.Call) error {
	if a.open != call || c.Index != a.call {
		if a.calls > 0 && c.Index <= a.call || len(c.Name) == 0 {
			return fmt.Errorf("%w: a piece of call %d comes out of turn", doors.ErrChunk, c.Index)
		}
		a.closes()
		a.names(c)
		a.opens(call)
	}
	if len(c.Arguments) > 0 {
		a.delta(c.Arguments)
	}
	return nil
}

// Done implements doors.Answer.
func (a *Answer) Done() []byte {
	a.out = a.out[:0]
	a.closes()
	status := a.status()
	a.whole("response."+status, status)
	return a.out
}
