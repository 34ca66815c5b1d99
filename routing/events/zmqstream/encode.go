package zmqstream

import (
	"time"

	"github.com/tinylib/msgp/msgp"

	"octet/routing/events"
	"octet/routing/index"
)

// Layout is the shape in which events are written.
type Layout string

// The layouts: what vLLM has written since June 2026, and before.
const (
	Maps   Layout = "map"
	Arrays Layout = "array"
)

var mediums = [...]string{index.GPU: "GPU", index.CPU: "CPU", index.SSD: "STORAGE"}

// encoder writes batches as an engine of vLLM does.
type encoder struct {
	layout Layout
	rank   int
	ids    map[string]int64 // of adapters, by name; those of an engine, so few
}

// encode returns the payload of b. What vLLM has no word for, a replica's end, is left out.
func (e *encoder) encode(b events.Batch) []byte {
	out := msgp.AppendArrayHeader(nil, 3)
	out = msgp.AppendFloat64(out, float64(b.At.UnixNano())/float64(time.Second))
	n := 0
	for i := range b.Events {
		if b.Events[i].Kind != events.Shutdown {
			n++
		}
	}
	out = msgp.AppendArrayHeader(out, uint32(n))
	for i := range b.Events {
		out = e.event(out, &b.Events[i])
	}
	return msgp.AppendInt(out, e.rank)
}

func (e *encoder) event(out []byte, ev *events.Event) []byte {
	switch ev.Kind {
	case events.Registered:
		return e.stored(out, ev)
	case events.Evicted:
		out = e.head(out, removed, 4, 4)
		out = e.hashes(out, ev.Hashes)
		out = msgp.AppendString(e.name(out, "medium"), mediums[ev.Tier])
		return msgp.AppendInt(e.name(out, "group_idx"), 0)
	case events.Cleared:
		return e.head(out, cleared, 1, 1)
	default: // engines on ZeroMQ tell of no shutdown
		return out
	}
}

// head opens an event of so many elements as an array, and as a map.
func (e *encoder) head(out []byte, kind string, elements, fields uint32) []byte {
	if e.layout == Arrays {
		return msgp.AppendString(msgp.AppendArrayHeader(out, elements), kind)
	}
	return msgp.AppendString(msgp.AppendString(msgp.AppendMapHeader(out, fields), "type"), kind)
}

// name writes the name of a field, which an array has none of.
func (e *encoder) name(out []byte, name string) []byte {
	if e.layout == Arrays {
		return out
	}
	return msgp.AppendString(out, name)
}

func (e *encoder) hashes(out []byte, hashes []uint64) []byte {
	out = msgp.AppendArrayHeader(e.name(out, "block_hashes"), uint32(len(hashes)))
	for _, h := range hashes {
		out = msgp.AppendUint64(out, h)
	}
	return out
}

// stored writes all twelve elements of an array, of a map those that are always there and what is not as by default.
func (e *encoder) stored(out []byte, ev *events.Event) []byte {
	words := wordsOf(ev)
	fields := uint32(10)
	if len(words) > 0 {
		fields++
	}
	out = e.hashes(e.head(out, stored, 12, fields), ev.Hashes)
	out = e.name(out, "parent_block_hash")
	if ev.Root {
		out = msgp.AppendNil(out)
	} else {
		out = msgp.AppendUint64(out, ev.Parent)
	}
	out = msgp.AppendArrayHeader(e.name(out, "token_ids"), uint32(len(ev.Tokens)))
	for _, t := range ev.Tokens {
		out = msgp.AppendUint32(out, t)
	}
	out = msgp.AppendInt(e.name(out, "block_size"), ev.BlockSize)
	out = e.adapter(out, ev)
	if len(words) > 0 || e.layout == Arrays {
		out = appendWords(e.name(out, "extra_keys"), ev, words)
	}
	out = msgp.AppendInt(e.name(out, "group_idx"), 0)
	out = msgp.AppendString(e.name(out, "kv_cache_spec_kind"), "full_attention")
	if e.layout == Arrays {
		out = msgp.AppendNil(out) // no window
	}
	return out
}

// adapter writes lora_id, medium and lora_name.
func (e *encoder) adapter(out []byte, ev *events.Event) []byte {
	out = e.name(out, "lora_id")
	if ev.Adapter == "" {
		out = msgp.AppendNil(out)
	} else {
		out = msgp.AppendInt64(out, e.id(ev.Adapter))
	}
	out = msgp.AppendString(e.name(out, "medium"), mediums[ev.Tier])
	out = e.name(out, "lora_name")
	if ev.Adapter == "" {
		return msgp.AppendNil(out)
	}
	return msgp.AppendString(out, ev.Adapter)
}

func (e *encoder) id(adapter string) int64 {
	if e.ids == nil {
		e.ids = map[string]int64{}
	}
	id, ok := e.ids[adapter]
	if !ok {
		id = int64(len(e.ids)) + 1
		e.ids[adapter] = id
	}
	return id
}

// wordsOf returns what is part of the blocks' hashes beside their tokens: of the first block everything, of the others
// the adapter.
func wordsOf(ev *events.Event) (words []string) {
	if ev.Adapter != "" {
		words = append(words, ev.Adapter)
	}
	if ev.Salt != "" && ev.Root {
		words = append(words, ev.Salt)
	}
	return words
}

func appendWords(out []byte, ev *events.Event, words []string) []byte {
	if len(words) == 0 {
		return msgp.AppendNil(out)
	}
	out = msgp.AppendArrayHeader(out, uint32(len(ev.Hashes)))
	for i := range ev.Hashes {
		if i == 1 && ev.Salt != "" && ev.Root {
			words = words[:len(words)-1] // the salt is the first block's alone
		}
		if len(words) == 0 {
			out = msgp.AppendNil(out)
			continue
		}
		out = msgp.AppendArrayHeader(out, uint32(len(words)))
		for _, w := range words {
			out = msgp.AppendString(out, w)
		}
	}
	return out
}
