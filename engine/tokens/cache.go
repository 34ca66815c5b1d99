package tokens

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/zeebo/xxh3"

	"octet/engine/bpe"
	"octet/kvpool"
)

// Bytes of a chunk: it ends at the first place from least on where the text may be cut. Without one up to most,
// nothing more of the prompt is remembered.
const (
	least = 1 << 10
	most  = 16 << 10
)

// overhead is about what a chunk takes beside its text, tokens and hashes.
const overhead = 352

// Cache remembers prompts' beginnings. Safe for concurrent use. A Cache of no bytes remembers nothing.
type Cache struct {
	bytes int // at most

	mu     sync.Mutex
	chunks *simplelru.LRU[place, *chunk] // guarded by mu, and all below
	held   int
	last   uint64 // id of a chunk
	stats  Stats
}

// Stats count since the start, but for Chunks and Bytes, which are now.
type Stats struct {
	Prompts     uint64
	TextBytes   uint64 // of prompts
	ReusedBytes uint64 // of those, remembered
	Evicted     uint64 // chunks
	Chunks      int
	Bytes       int
}

// Hasher hashes the blocks of a prompt along its chain.
type Hasher interface {
	// Extend appends to chain, the hashes of a prompt's leading blocks, those of all full blocks of tokens, which come
	// next. root is what the chain hangs on. digest is the Hasher's own: where chain is not empty it is what Extend
	// left there with chain's last.
	Extend(chain []kvpool.BlockHash, root kvpool.BlockHash, digest *kvpool.Digest, tokens []uint32,
		blockSize int) []kvpool.BlockHash
}

// Root is what a prompt's beginning is remembered for.
type Root struct {
	Chain     kvpool.BlockHash // of kvpool.Hasher.Root; another one for each Hasher
	BlockSize int              // tokens; 0 is no chain
	Tokenizer uint64           // no two tokenizers have the same
	Around    bool             // with the ids that stand around a prompt that is no rendered chat
}

// place is where a chunk is: behind a parent.
type place struct {
	root   Root
	parent uint64 // id; 0 is the prompt's beginning
	hash   uint64 // of the text
}

// chunk is one remembered. It never changes.
type chunk struct {
	id     uint64
	text   string
	tokens []uint32
	hashes []kvpool.BlockHash // of blocks that are full with its last token, and were not before it
	digest kvpool.Digest      // of the last of them, or of one before them
}

func (c *chunk) size() int { return overhead + len(c.text) + 4*len(c.tokens) + 8*len(c.hashes) }

// New returns a Cache of at most so many bytes.
func New(bytes int) *Cache {
	c := &Cache{bytes: bytes}
	// the bound is in bytes; it fails for a size below 1 only
	c.chunks, _ = simplelru.NewLRU[place, *chunk](math.MaxInt, nil)
	return c
}

// Stats returns what the cache has done.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Chunks, s.Bytes = c.chunks.Len(), c.held
	return s
}

// walk is a prompt on its way through the cache.
type walk struct {
	*Prompt
	t      *bpe.Tokenizer
	hasher Hasher
	digest kvpool.Digest // of the chain's last block
	root   Root
	text   []byte
	at     int       // text[:at] is done
	place  bpe.Place // of text[at:]
	parent uint64
	passed []place // of the chunks up to here
}

// cut returns the end of the chunk at w.at and the place behind it, or zero.
func (w *walk) cut() (int, bpe.Place) {
	if w.at+least > len(w.text) {
		return 0, bpe.Start
	}
	return w.t.Cut(w.text, w.at+least, w.at+most)
}

// recall passes what is remembered of the prompt.
func (c *Cache) recall(w *walk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		end, next := w.cut()
		if end == 0 {
			break
		}
		at := place{w.root, w.parent, xxh3.Hash(w.text[w.at:end])}
		known, ok := c.chunks.Peek(at)
		if !ok || known.text != string(w.text[w.at:end]) {
			break
		}
		w.Tokens, w.Chain = append(w.Tokens, known.tokens...), append(w.Chain, known.hashes...)
		w.at, w.place, w.parent, w.digest = end, next, known.id, known.digest
		w.passed = append(w.passed, at)
	}
	c.touch(w.passed)
	c.stats.Prompts++
	c.stats.TextBytes += uint64(len(w.text))
	c.stats.ReusedBytes += uint64(w.at)
}

// touch makes chunks the latest used, the first of them last, so that no parent goes before its children.
func (c *Cache) touch(passed []place) {
	for i := len(passed) - 1; i >= 0; i-- {
		c.chunks.Get(passed[i])
	}
}

// remember adds chunks that follow what is remembered up to w.parent, and makes room for them. passed are all places of
// the prompt, of which the last are those of the new chunks.
func (c *Cache) remember(w *walk, fresh []*chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range fresh {
		at := place{w.root, w.parent, xxh3.HashString(one.text)}
		if known, ok := c.chunks.Peek(at); ok { // another prompt was first, or there is a text of the same hash
			if known.text != one.text {
				break
			}
			w.parent = known.id
		} else {
			c.last++
			one.id = c.last
			c.chunks.Add(at, one)
			c.held += one.size()
			w.parent = one.id
		}
		w.passed = append(w.passed, at)
	}
	c.touch(w.passed)
	for c.held > c.bytes {
		_, old, ok := c.chunks.RemoveOldest()
		if !ok {
			break
		}
		c.held -= old.size()
		c.stats.Evicted++
	}
}
