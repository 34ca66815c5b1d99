package tokens

import (
	"fmt"
	"os"
	"testing"

	"octet/kvpool"
	"octet/routing/events/enginehash"
)

// prose is n bytes of documents and code, at most 64 KiB, as the prompts that engines get.
func prose(tb testing.TB, n int) []byte {
	tb.Helper()
	text, err := os.ReadFile("../bpe/testdata/prose.txt")
	if err != nil {
		tb.Fatal(err)
	}
	return text[:n]
}

// BenchmarkPrompt is a prompt of 64 KiB to its tokens and hashes: cold without a cache, and with all but the last tenth
// of it remembered.
func BenchmarkPrompt(b *testing.B) {
	one, text := tokenizer(b), prose(b, 64<<10)
	b.Run("cold", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		var p Prompt
		for b.Loop() {
			p = Prompt{p.Tokens[:0], p.Chain[:0]}
			(*Cache)(nil).Encode(&p, one, hasher, root(""), text)
		}
	})
	b.Run("warm=90%", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		c := New(1 << 30)
		var p Prompt
		c.Encode(&p, one, hasher, root(""), text[:len(text)*9/10])
		fresh := append([]byte(nil), text...)
		i := 0
		for b.Loop() {
			i++ // every turn is another one
			copy(fresh[len(text)*9/10+8:],
				[]byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676%26), byte('a' + i/17576%26)})
			p = Prompt{p.Tokens[:0], p.Chain[:0]}
			c.Encode(&p, one, hasher, root(""), fresh)
		}
	})
	scheme, err := enginehash.New(enginehash.SHA256CBOR, "42")
	if err != nil {
		b.Fatal(err)
	}
	native := &enginehash.Prompt{Scheme: scheme}
	for _, share := range []int{0, 90} {
		b.Run(fmt.Sprintf("sha256_cbor/warm=%d%%", share), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			c := New(1 << 30)
			var p Prompt
			c.Encode(&p, one, native, root(""), text[:len(text)*share/100])
			fresh := append([]byte(nil), text...)
			i := 0
			for b.Loop() {
				i++ // every turn is another one
				copy(fresh[len(text)*share/100+8:], fmt.Sprintf("%08d", i))
				p = Prompt{p.Tokens[:0], p.Chain[:0]}
				c.Encode(&p, one, native, root(""), fresh)
			}
		})
	}
	b.Run("hash/sha256_cbor", func(b *testing.B) {
		var p Prompt
		(*Cache)(nil).Encode(&p, one, hasher, root(""), text)
		b.SetBytes(int64(4 * len(p.Tokens)))
		b.ReportAllocs()
		var chain []kvpool.BlockHash
		digest := new(kvpool.Digest)
		for b.Loop() {
			chain = native.Extend(chain[:0], 0, digest, p.Tokens, 16)
		}
	})
	b.Run("hash", func(b *testing.B) {
		var p Prompt
		(*Cache)(nil).Encode(&p, one, hasher, root(""), text)
		b.SetBytes(int64(4 * len(p.Tokens)))
		b.ReportAllocs()
		var chain []kvpool.BlockHash
		for b.Loop() {
			chain = hasher.Chain(chain[:0], root("").Chain, p.Tokens, 16)
		}
	})
}
