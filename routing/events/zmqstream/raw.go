package zmqstream

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tinylib/msgp/msgp"

	"octet/routing/events"
)

// The kinds of event that engines name.
const (
	stored  = "BlockStored"
	removed = "BlockRemoved"
	cleared = "AllBlocksCleared"
)

// raw is one event as an engine publishes it, whatever its shape.
type raw struct {
	kind      string
	hashes    []uint64
	parent    uint64
	root      bool
	tokens    []uint32
	opaque    bool // the tokens are not plain ids: they do not tell what the blocks hold
	blockSize int64
	adapter   string
	loraID    int64
	lora      bool // loraID was given
	medium    string
	salt      string
	saltless  bool    // an array of before salts were said
	extras    []extra // of each block; nil where none has any
	group     int64
	spec      string // what the group's blocks are; "" is not said
}

// extra is what is part of one block's hash beside its tokens.
type extra struct {
	words []string
	other bool // a picture, an embedding: what no token tells
}

// order is what stands where in an event that is an array; vLLM appends to it, version by version.
var order = map[string][]string{
	stored: {"block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium", "lora_name",
		"extra_keys", "group_idx",
		"kv_cache_spec_kind"},
	removed: {"block_hashes", "medium", "group_idx"},
}

// saltsFrom is how many fields an array has that says by which salt blocks are kept apart, in its extra_keys.
const saltsFrom = 8

// read takes one event off b.
func (r *raw) read(b []byte) ([]byte, error) {
	r.root = true // nothing before it, until a parent is named
	switch msgp.NextType(b) {
	case msgp.ArrayType:
		return r.readArray(b)
	case msgp.MapType:
		return r.readMap(b)
	default:
		return b, fmt.Errorf("an event that is neither array nor map")
	}
}

// leaveOut passes over an event that could not be read for that reason, where the index then knows less than the engine
// holds and never more: only blocks that were stored may be left out.
func (r *raw) leaveOut(b []byte, why error) ([]byte, error) {
	if r.kind != stored {
		return b, why
	}
	rest, err := skip(b, 0)
	if err != nil {
		return b, errors.Join(why, err)
	}
	return rest, nil
}

func (r *raw) readArray(b []byte) ([]byte, error) {
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil {
		return b, err
	}
	if n == 0 {
		return b, fmt.Errorf("an event without a kind")
	}
	if r.kind, b, err = msgp.ReadStringBytes(b); err != nil {
		return b, err
	}
	names := order[r.kind]
	r.saltless = r.kind == stored && int(n)-1 < saltsFrom
	for i := range int(n) - 1 {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		if b, err = r.field(name, b); err != nil {
			return b, fmt.Errorf("%s, element %d: %w", r.kind, i+1, err)
		}
	}
	return b, nil
}

func (r *raw) readMap(b []byte) ([]byte, error) {
	n, b, err := msgp.ReadMapHeaderBytes(b)
	for ; err == nil && n > 0; n-- {
		var name []byte
		if name, b, err = msgp.ReadMapKeyZC(b); err != nil {
			return b, err
		}
		if b, err = r.field(string(name), b); err != nil {
			return b, fmt.Errorf("%.32q: %w", name, err)
		}
	}
	return b, err
}

// field reads the value of a field by its name, or passes over an unknown one. Nil leaves everything as it is.
func (r *raw) field(name string, b []byte) (rest []byte, err error) {
	if rest, ok := isNil(b); ok {
		return rest, nil
	}
	switch name {
	case "type":
		r.kind, b, err = msgp.ReadStringBytes(b)
	case "block_hashes":
		r.hashes, b, err = readHashes(b)
	case "parent_block_hash":
		r.parent, b, err = readHash(b)
		r.root = r.parent == 0 // some write 0 for none
	case "token_ids":
		r.tokens, r.opaque, b, err = readTokens(b)
	case "block_size":
		r.blockSize, b, err = msgp.ReadInt64Bytes(b)
	case "lora_id":
		r.loraID, b, err = msgp.ReadInt64Bytes(b)
		r.lora = true
	case "lora_name":
		return r.readAdapter(b)
	case "medium":
		r.medium, b, err = msgp.ReadStringBytes(b)
	case "extra_keys":
		r.extras, b, err = readExtras(b)
	case "group_idx":
		r.group, b, err = msgp.ReadInt64Bytes(b)
	case "kv_cache_spec_kind":
		r.spec, b, err = msgp.ReadStringBytes(b)
	case "cache_salt":
		r.salt, b, err = msgp.ReadStringBytes(b)
	default:
		return skip(b, 0)
	}
	return b, err
}

// readAdapter reads a LoRA's name; at its place in an array SGLang has a map of what else there is to say.
func (r *raw) readAdapter(b []byte) (rest []byte, err error) {
	if msgp.NextType(b) == msgp.MapType {
		return r.readMap(b)
	}
	r.adapter, b, err = msgp.ReadStringBytes(b)
	return b, err
}

// count reads how many there are: no more than limit, and no more than there are bytes for.
func count(b []byte, limit int) (int, []byte, error) {
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil {
		return 0, b, err
	}
	if int64(n) > int64(min(limit, len(b))) {
		return 0, b, fmt.Errorf("%d elements in %d bytes, of at most %d", n, len(b), limit)
	}
	return int(n), b, nil
}

func readHashes(b []byte) ([]uint64, []byte, error) {
	n, b, err := count(b, events.MaxHashes)
	if err != nil {
		return nil, b, err
	}
	hashes := make([]uint64, n)
	for i := range hashes {
		if hashes[i], b, err = readHash(b); err != nil {
			return nil, b, err
		}
	}
	return hashes, b, nil
}

// readHash reads a number, which SGLang signs, or a digest, of which the last eight bytes count.
func readHash(b []byte) (uint64, []byte, error) {
	switch msgp.NextType(b) {
	case msgp.BinType:
		digest, rest, err := msgp.ReadBytesZC(b)
		if err == nil && len(digest) < 8 {
			err = fmt.Errorf("a digest of %d bytes", len(digest))
		}
		if err != nil {
			return 0, b, err
		}
		return binary.BigEndian.Uint64(digest[len(digest)-8:]), rest, nil
	case msgp.IntType:
		h, rest, err := msgp.ReadInt64Bytes(b)
		return uint64(h), rest, err
	default:
		return msgp.ReadUint64Bytes(b)
	}
}

// readTokens reads token ids. Anything else in their place, pairs of tokens or names of pictures, makes them opaque.
func readTokens(b []byte) (tokens []uint32, opaque bool, rest []byte, err error) {
	n, b, err := count(b, events.MaxTokens)
	if err != nil {
		return nil, false, b, err
	}
	tokens = make([]uint32, n)
	for i := range tokens {
		switch msgp.NextType(b) {
		case msgp.IntType, msgp.UintType:
			tokens[i], b, err = readToken(b)
		default:
			opaque = true
			b, err = skip(b, 0)
		}
		if err != nil {
			return nil, false, b, err
		}
	}
	return tokens, opaque, b, nil
}

func readToken(b []byte) (uint32, []byte, error) {
	if b[0] < 0x80 { // what most small numbers look like
		return uint32(b[0]), b[1:], nil
	}
	return msgp.ReadUint32Bytes(b)
}

func readExtras(b []byte) ([]extra, []byte, error) {
	n, b, err := count(b, events.MaxHashes)
	if err != nil {
		return nil, b, err
	}
	all := make([]extra, n)
	for i := range all {
		if b, err = all[i].read(b); err != nil {
			return nil, b, err
		}
	}
	return all, b, nil
}

// maxWords is how many words a block's hash has beside its tokens: an adapter's name and a salt.
const maxWords = 4

func (e *extra) read(b []byte) ([]byte, error) {
	if rest, ok := isNil(b); ok {
		return rest, nil
	}
	n, b, err := count(b, events.MaxHashes)
	for ; err == nil && n > 0; n-- {
		if msgp.NextType(b) != msgp.StrType || len(e.words) == maxWords {
			e.other = true
			b, err = skip(b, 0)
			continue
		}
		var word string
		word, b, err = msgp.ReadStringBytes(b)
		e.words = append(e.words, word)
	}
	return b, err
}
