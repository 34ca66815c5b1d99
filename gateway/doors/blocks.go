package doors

import (
	"bytes"
	"fmt"
)

// Kind is what a block of an answer holds.
type Kind uint8

// The kinds of blocks.
const (
	None Kind = iota // no block is open
	Text
	Thought // reasoning
	Use     // a tool call
)

// Blocks puts the chunks of a stream into blocks, each of one kind. One is open at a time. The zero value is ready.
type Blocks struct {
	Kind         Kind   // of the block that is open
	Index        int    // its place, or the next one's
	Calls        int    // blocks of the kind Use so far, without the one that opens
	Finish, Stop []byte // finish_reason and stop string, as the engine said
	Usage        Usage

	chunk Chunk
	usual frame
	begun bool
	call  int    // the engine's number of the last call
	id    []byte // of that call; empty if it has none
}

// Speller writes a stream in the words of a surface.
type Speller interface {
	// Begin is called once, with the first chunk.
	Begin(k *Chunk)
	// Open begins a block of the Kind at the Index; call is nil unless it is a call.
	Open(call *Call)
	// Piece adds to the block the inside of a string, which is not empty.
	Piece(raw []byte)
	// Close ends the block.
	Close()
}

// Adopt goes on with a stream that others have begun: a block of that kind is open at a place, or the next is to be
// there, and so many calls have begun. All of a stream's later calls are new ones.
func (b *Blocks) Adopt(kind Kind, index, calls int) {
	b.begun, b.Kind, b.Index, b.Calls, b.call, b.id = true, kind, index, calls, -1, b.id[:0]
}

// Events spells whole events of a stream. Comments are passed over, and so is [DONE].
func (b *Blocks) Events(events []byte, s Speller) error {
	for len(events) > 0 {
		line, rest, _ := bytes.Cut(events, newline)
		events = rest
		data, is := bytes.CutPrefix(line, dataField)
		data = bytes.TrimSpace(data)
		if !is || len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		if err := b.event(data, s); err != nil {
			return err
		}
	}
	return nil
}

var newline, dataField = []byte("\n"), []byte("data:")

func (b *Blocks) event(data []byte, s Speller) error {
	if text := b.usual.text(data); text != nil {
		b.piece(Text, text, s)
		return nil
	}
	k := &b.chunk
	if err := k.Read(data); err != nil {
		return err
	}
	if !b.begun {
		b.begun = true
		s.Begin(k)
	}
	if k.Usage.Known {
		b.Usage = k.Usage
	}
	b.piece(Thought, k.Reasoning, s)
	b.piece(Text, k.Text, s)
	b.piece(Text, k.Refusal, s)
	for i := range k.Calls {
		if err := b.use(&k.Calls[i], s); err != nil {
			return err
		}
	}
	b.usual.keep(data, k)
	if k.Finish != nil {
		b.Finish, b.Stop = append(b.Finish[:0], k.Finish...), append(b.Stop[:0], k.StopString...)
	}
	return nil
}

// piece spells a piece of text or of reasoning, in a block of its own kind.
func (b *Blocks) piece(kind Kind, raw []byte, s Speller) {
	if len(raw) == 0 {
		return
	}
	if b.Kind != kind {
		b.Close(s)
		b.Kind = kind
		s.Open(nil)
	}
	s.Piece(raw)
}

// use spells a piece of a call. A call that another block has followed cannot go on.
func (b *Blocks) use(c *Call, s Speller) error {
	another := b.another(c)
	if another || b.Kind != Use || c.Index != b.call {
		if !another && b.Calls > 0 && c.Index <= b.call || len(c.Name) == 0 {
			return fmt.Errorf("%w: a piece of call %d comes out of turn", ErrNoWords, c.Index)
		}
		b.Close(s)
		b.Kind, b.call, b.id = Use, c.Index, append(b.id[:0], c.ID...)
		s.Open(c)
		b.Calls++
	}
	if len(c.Arguments) > 0 {
		s.Piece(c.Arguments)
	}
	return nil
}

// another returns true if c begins a call though it has the number of the last one: some engines number none, or all
// alike. Each has a name and an id of its own.
func (b *Blocks) another(c *Call) bool {
	return b.Calls > 0 && c.Index == b.call && len(c.Name) > 0 && len(c.ID) > 0 && len(b.id) > 0 &&
		!bytes.Equal(c.ID, b.id)
}

// Close ends the block that is open, if there is one.
func (b *Blocks) Close(s Speller) {
	if b.Kind == None {
		return
	}
	s.Close()
	b.Kind = None
	b.Index++
}
