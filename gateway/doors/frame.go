package doors

import (
	"bytes"

	"octet/gateway/wire"
)

// frame is what stands around the text in a chunk that says nothing else. Most chunks of a stream differ in their text
// alone, so that a chunk in the same frame need not be read: the frame was, and a text is judged as a string's inside.
type frame struct{ front, back []byte }

// text returns the text of a chunk in the frame; nil of any other.
func (f *frame) text(data []byte) []byte {
	end := len(data) - len(f.back)
	if len(f.back) == 0 || end <= len(f.front) || !bytes.HasPrefix(data, f.front) || !bytes.HasSuffix(data, f.back) {
		return nil
	}
	if text := data[len(f.front):end]; wire.Inside(text) {
		return text
	}
	return nil
}

// keep notes the frame of a chunk that was read, if it says a text alone.
func (f *frame) keep(data []byte, k *Chunk) {
	if len(k.Text) == 0 || len(k.Reasoning)+len(k.Refusal)+len(k.Calls)+len(k.StopString) > 0 || k.Finish != nil ||
		k.Usage.Known {
		return
	}
	f.front = append(f.front[:0], data[:k.textAt]...)
	f.back = append(f.back[:0], data[k.textAt+len(k.Text):]...)
}
