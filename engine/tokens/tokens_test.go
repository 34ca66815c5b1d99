package tokens

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"octet/engine/bpe"
	"octet/kvpool"
)

func tokenizer(tb testing.TB) *bpe.Tokenizer {
	tb.Helper()
	t, err := bpe.Load("../bpe/testdata/octet.json")
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

var hasher = kvpool.NewHasher(7)

func root(tenant string) Root {
	return Root{Chain: hasher.Root("stl", "", tenant), BlockSize: 16, Tokenizer: 1}
}

// whole is what encoding and hashing a text without any cache gives.
func whole(t *bpe.Tokenizer, r Root, text []byte) (p Prompt) {
	before, behind := t.Around()
	if r.Around {
		p.Tokens = append(p.Tokens, before...)
	}
	p.Tokens = t.Encode(p.Tokens, text, bpe.Start)
	if r.Around {
		p.Tokens = append(p.Tokens, behind...)
	}
	p.Chain = hasher.Chain(nil, r.Chain, p.Tokens, r.BlockSize)
	return p
}

// check encodes through the cache and compares.
func check(tb testing.TB, c *Cache, t *bpe.Tokenizer, r Root, text []byte) (reused int) {
	tb.Helper()
	var p Prompt
	reused = c.Encode(&p, t, hasher, r, text)
	want := whole(t, r, text)
	if !slices.Equal(p.Tokens, want.Tokens) || !slices.Equal(p.Chain, want.Chain) {
		tb.Errorf("%d bytes, %d reused: %d tokens and %d hashes are not the %d and %d of the whole", len(text), reused,
			len(p.Tokens), len(p.Chain), len(want.Tokens), len(want.Chain))
	}
	return reused
}

// turns is a conversation of n turns as a template renders it.
func turns(n, size int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "<|im_start|>user\nturn %d %s<|im_end|>\n", i,
			strings.Repeat("of a talk, (it's 2026)\n\t", size/24))
	}
	return b.Bytes()
}

// A follow-up turn costs its new text and at most one chunk more.
func TestAFollowUpTurnCostsItsNewTextOnly(t *testing.T) {
	c, one := New(1<<20), tokenizer(t)
	before := 0
	for n := 1; n <= 12; n++ {
		text := turns(n, 3000)
		if reused := check(t, c, one, root(""), text); before-reused > 2*least {
			t.Errorf("turn %d: %d of %d known bytes were reused", n, reused, before)
		}
		before = len(text)
	}
	if s := c.Stats(); s.Prompts != 12 || s.ReusedBytes == 0 || s.Chunks == 0 {
		t.Errorf("%+v", s)
	}
}

// A message of one language without spaces is cut at the template's tokens.
func TestMessagesWithoutSpacesAreCutAtTheirEnds(t *testing.T) {
	c, one := New(1<<20), tokenizer(t)
	text := []byte(strings.Repeat("<|im_start|>用户"+strings.Repeat("你好世界", 100)+"<|im_end|>", 10))
	check(t, c, one, root(""), text)
	if reused := check(t, c, one, root(""), text); reused < len(text)/2 {
		t.Errorf("%d of %d bytes", reused, len(text))
	}
}

// links hashes blocks along a digest, as engines of another make do.
type links struct{ Hasher }

func (links) Extend(chain []kvpool.BlockHash, root kvpool.BlockHash, digest *kvpool.Digest, tokens []uint32,
	blockSize int) []kvpool.BlockHash {
	if len(chain) == 0 {
		*digest = kvpool.Digest{byte(root)}
	}
	for ; len(tokens) >= blockSize; tokens = tokens[blockSize:] {
		for _, t := range tokens[:blockSize] {
			binary.LittleEndian.PutUint32(digest[:], binary.LittleEndian.Uint32(digest[:])+t)
			*digest = sha256.Sum256(digest[:])
		}
		chain = append(chain, kvpool.BlockHash(binary.LittleEndian.Uint64(digest[8:])))
	}
	return chain
}

// A chain that goes on from more than its last hash is remembered with what it goes on from.
func TestAChainGoesOnFromItsDigest(t *testing.T) {
	c, one := New(1<<20), tokenizer(t)
	r := root("")
	for n := 1; n <= 8; n++ {
		for _, around := range []bool{false, true} {
			r.Around = around
			text := turns(n, 2000+n)
			var p, want Prompt
			reused := c.Encode(&p, one, links{}, r, text)
			(*Cache)(nil).Encode(&want, one, links{}, r, text)
			whole := links{}.Extend(nil, r.Chain, new(kvpool.Digest), p.Tokens, r.BlockSize)
			if !slices.Equal(p.Chain, want.Chain) || !slices.Equal(p.Chain, whole) || n > 2 && reused == 0 {
				t.Errorf("turn %d: %d bytes reused, %d blocks are not the %d of the whole", n, reused, len(p.Chain),
					len(whole))
			}
		}
	}
}

func TestRootsShareNothing(t *testing.T) {
	c, one := New(1<<20), tokenizer(t)
	text := turns(3, 3000)
	check(t, c, one, root("a"), text)
	other := root("a")
	other.Tokenizer = 2
	around := root("a")
	around.Around = true
	for _, r := range []Root{root("b"), other, around} {
		if reused := check(t, c, one, r, text); reused != 0 {
			t.Errorf("%+v reused %d bytes", r, reused)
		}
	}
	if reused := check(t, c, one, root("a"), text); reused == 0 {
		t.Error("nothing reused of its own")
	}
}

func TestTheCacheStaysWithinItsBytes(t *testing.T) {
	const bound = 64 << 10
	c, one := New(bound), tokenizer(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := turns(1+rng.IntN(8), 500+rng.IntN(4000))
		check(t, c, one, root(fmt.Sprint(rng.IntN(5))), text)
		if s := c.Stats(); s.Bytes > bound {
			t.Fatalf("%d bytes are held", s.Bytes)
		}
	}
	held := 0
	for _, one := range c.chunks.Values() {
		held += one.size()
	}
	if s := c.Stats(); s.Evicted == 0 || s.Bytes != held {
		t.Errorf("%+v, %d bytes counted anew", s, held)
	}
}

// A parent is never gone while a child of it is there: what is held can be reached.
func TestWhatIsHeldCanBeReached(t *testing.T) {
	c, one := New(40<<10), tokenizer(t)
	rng := rand.New(rand.NewPCG(3, 4))
	base := turns(6, 3000)
	for range 200 {
		cut := rng.IntN(len(base))
		check(t, c, one, root(""), append(base[:cut:cut], turns(rng.IntN(5), 2000)...))
		ids := map[uint64]bool{0: true}
		for _, chunk := range c.chunks.Values() {
			ids[chunk.id] = true
		}
		for _, at := range c.chunks.Keys() {
			if !ids[at.parent] {
				t.Fatal("a chunk outlived its parent")
			}
		}
	}
}

func TestACacheOfNoBytesOnlyEncodes(t *testing.T) {
	one := tokenizer(t)
	for _, c := range []*Cache{nil, New(0)} {
		for range 2 {
			if reused := check(t, c, one, root(""), turns(3, 3000)); reused != 0 {
				t.Errorf("%d bytes reused", reused)
			}
		}
	}
}

func TestManyMayUseTheCacheAtOnce(t *testing.T) {
	c, one := New(200<<10), tokenizer(t)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 0))
			for range 40 {
				check(t, c, one, root(fmt.Sprint(rng.IntN(2))), turns(1+rng.IntN(6), 2500))
			}
		})
	}
	group.Wait()
}

// Whatever conversations come one after the other, and wherever the later one parts from the earlier one, what comes
// out is what the whole gives.
func FuzzCachedIsWhole(f *testing.F) {
	one := tokenizer(f)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(readme, []byte("<|im_end|> and then"), 2000, true)
	f.Add(turns(4, 1500), []byte("  \n"), 3000, false)
	f.Add([]byte(strings.Repeat("a b", 3000)), []byte("x"), 2049, false)
	f.Fuzz(func(t *testing.T, first, second []byte, at int, around bool) {
		if len(first) == 0 || len(first) > 1<<16 {
			return
		}
		c, r := New(1<<20), root("")
		r.Around = around
		first = bytes.Repeat(first, 1+6*least/len(first)) // some chunks of it
		at = (at & 0xffffff) % len(first)
		check(t, c, one, r, first)
		check(t, c, one, r, append(first[:at:at], second...))
		check(t, c, one, r, append(append(first[:at:at], second...), first[at:]...))
		check(t, c, one, r, first)
	})
}
