package enginehash

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"octet/kvpool"
)

func counted(n int) (all []uint32) {
	for i := range n {
		all = append(all, uint32(i+1))
	}
	return all
}

func open(t testing.TB, name, seed string) *Scheme {
	t.Helper()
	s, err := New(name, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func digits(s *Scheme, d kvpool.Digest) string { return hex.EncodeToString(s.Bytes(&d)) }

// What engines computed of the tokens 1 to 32, in blocks of 16: the digests of the root and of the first two blocks,
// and of the first under an adapter. MOD2-39
func TestDigestsAreThoseOfAnEngine(t *testing.T) {
	for _, row := range []struct{ scheme, seed, root, first, second, adapted string }{
		{SHA256CBOR, "42", "9fa6eb003f14425eb9c8e6baacfbcaab26257357b829c7bfa74ffcc4f31c1780",
			"476e88fb0c175c0b4ef0343e158b5157c2ac537d37d97830e235fcc84bc5706d",
			"9c89b9f2af12de95c90eb76195371e73760b4df4aa7617587856ae50e4ba5af8",
			"bf7cf784a07fd20e9dc65b335e9ea3cc61f2f2420aa6da42ad50e51a294ebc13"},
		{XXHashCBOR, "42", "a9d2e63407fce1a26c9dc9d7fa2d7caf", "0fb2aa342687f4f2c5d5180a8e77e1ba",
			"582244f9b603902c7376da2d82801747", "3f8d24c30e61204a2189ec451e0145e7"},
		{SHA256, "0", "1973e23848344dc43a988a9b478663803cfffe1243480253f9a3cf004b14aa7c",
			"bea72b7d33de03c1aa715efbb492d0e0d3801f00c1f985756896072ae8b31325", "",
			"544b6d5d4491fe8ce5595a4331baa232a0e23b5ba931a02f2061f3dba65e0a0c"},
		{XXHash, "42", "b6cdd80ea04b31ad0b9fc22fff500882", "97def49eac72515533a50128571d6913",
			"7554c8530234e65c4cd06e804516eb73", "a1320684058f47c7945fbbfb0448ce47"},
		{SGLang, "", strings.Repeat("00", 32), "77d735ce838418aa151bd96b5b1e78ee63860892e0a95c00fe34178442be9b07",
			"1170426cf2449cebf4d17f087ce5bb43b6a910ce91b3f40922868e913e8ee91d", ""},
	} {
		s, tokens := open(t, row.scheme, row.seed), counted(32)
		root := s.Root()
		first := s.Next(&root, tokens[:16], "", "")
		got := []string{digits(s, root), digits(s, first), digits(s, s.Next(&first, tokens[16:], "", "")),
			digits(s, s.Next(&root, tokens[:16], "code-lora", ""))}
		for i, want := range []string{row.root, row.first, row.second, row.adapted} {
			if want != "" && got[i] != want {
				t.Errorf("%s, digest %d: %s, want %s", row.scheme, i, got[i], want)
			}
		}
	}
	names, err := open(t, SHA256CBOR, "42").Chain(counted(33), 16, "", "")
	if err != nil || !slices.Equal(names, []uint64{0xe235fcc84bc5706d, 0x7856ae50e4ba5af8}) {
		t.Errorf("%x, %v", names, err)
	}
	names, err = open(t, SGLang, "").Chain(counted(32), 16, "", "")
	if err != nil || !slices.Equal(names, []uint64{0x77d735ce838418aa, 0x1170426cf2449ceb}) {
		t.Errorf("%x, %v", names, err)
	}
}

func TestWhatIsNotKnownIsNotComputed(t *testing.T) {
	if _, err := New("sha512", "42"); !errors.Is(err, ErrScheme) {
		t.Errorf("a scheme of nobody: %v", err)
	}
	s := open(t, SGLang, "")
	for _, names := range [][2]string{{"code-lora", ""}, {"", "s4lt"}} {
		if _, err := s.Chain(counted(32), 16, names[0], names[1]); !errors.Is(err, ErrUnknown) {
			t.Errorf("an SGLang with %q: %v", names, err)
		}
	}
}

// The digests are those of every vector that was recorded. MOD2-39
func TestRecordedVectorsAreMet(t *testing.T) {
	dir := os.Getenv("OCTET_SHARED")
	if dir == "" {
		t.Skip("OCTET_SHARED does not say where the vectors are")
	}
	text, err := os.ReadFile(filepath.Join(dir, "data/wire/vllm_block_hash_vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Algo, Variant string
		Seed          string `json:"PYTHONHASHSEED"`
		None          string `json:"none_hash"`
		BlockSize     int    `json:"block_size"`
		Hashes        []string
		Int64         []uint64
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		s := open(t, v.Algo, v.Seed)
		keys, known := map[string][2]string{"plain": {}, "lora": {"code-lora", ""}, "salt": {"", "s4lt"}}[v.Variant]
		if !known || digits(s, s.Root()) != v.None {
			t.Errorf("%s, seed %s, %s: the root is %s", v.Algo, v.Seed, v.Variant, digits(s, s.Root()))
			continue
		}
		if got, err := s.Chain(counted(32), v.BlockSize, keys[0], keys[1]); err != nil || !slices.Equal(got, v.Int64) {
			t.Errorf("%s, seed %s, %s: %x, want %x, %v", v.Algo, v.Seed, v.Variant, got, v.Int64, err)
		}
		first := s.Root()
		first = s.Next(&first, counted(16), keys[0], keys[1])
		if digits(s, first) != v.Hashes[0] {
			t.Errorf("%s, seed %s, %s: the first digest is %s, want %s", v.Algo, v.Seed, v.Variant, digits(s, first),
				v.Hashes[0])
		}
	}
	if len(vectors) < 24 {
		t.Errorf("%d vectors only", len(vectors))
	}
}

// What is written by hand is what a library for all of CBOR writes.
func TestBlocksAreWrittenAsTheLibraryWritesThem(t *testing.T) {
	mode, err := cbor.CanonicalEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		parent := make([]byte, 16+16*rng.IntN(2))
		tokens := make([]uint32, rng.IntN(300))
		for i := range tokens {
			tokens[i] = rng.Uint32() >> rng.IntN(32)
		}
		adapter, salt := strings.Repeat("ä", rng.IntN(2)*rng.IntN(200)), strings.Repeat("s", rng.IntN(2)*rng.IntN(300))
		var keys any
		if list := slices.DeleteFunc([]string{adapter, salt}, func(s string) bool { return s == "" }); len(list) > 0 {
			keys = list
		}
		want, err := mode.Marshal([]any{parent, tokens, keys})
		if got := cborBlock(nil, parent, tokens, adapter, salt); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%x, want %x, %v", got, want, err)
		}
	}
	want, err := mode.Marshal("4711")
	if got := cborText(nil, "4711"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%x, want %x, %v", got, want, err)
	}
}

// Digests of blocks that Python 3 pickled: of every size of number, of tuples and names of every size, and of more than
// one frame.
func TestPicklesAreThoseOfPython(t *testing.T) {
	s := open(t, SHA256, "0")
	wide := []uint32{0, 255, 256, 65535, 65536, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	far := make([]uint32, 30000)
	for i := range far {
		far[i] = uint32(70000 + i)
	}
	for _, row := range []struct {
		tokens        []uint32
		adapter, salt string
		want          string
	}{
		{wide, "", "", "a3e77b9feaa5a247f1f1059fec9bd41f3d533265466e1b573ca4a48063b5ba2c"},
		{nil, "", "", "3e9c002a099c54156e3b037ae079072d2143cbb3fe4e4ac03a760b5435b1e618"},
		{[]uint32{7}, "l", "", "dcac51d2dee79f238eb0671c4c89c0e463ada5a8bebbc62d547b86c5f24bd1ab"},
		{[]uint32{7, 8}, "l", "s", "e57e54a7aa68dd5cb1b37656d48ef866350bbf995e908b1e88fcbca744a58087"},
		{[]uint32{7, 8, 9}, "", "s", "579855c5e3ca8b5a0442fd4aeff17a0d5dc5cd64413343889834423afc7569b0"},
		{wide, strings.Repeat("l", 300), strings.Repeat("s", 255),
			"ab2d9b928f493fa7f90a27eb67bad8f606310fafd504cf58911b376658fc113c"},
		{far, "", "", "b77b8250a261338ce3cba1c7b9e52e9d1ad5d78a3527800aef6814cfa1e97a0e"},
		{far[:13099], "l", "s", "77a983df933ac7e62440e874c47f1a06c6d323c78058d73a3858052b338c6fba"},
		{far[:13100], "l", "s", "ae27c46439779a00988808403668be45b9d824bba0e88b94359789052089cf97"},
		{far[:13101], "", "", "660012f6dbfa9afa348ee5ca48fb4538974a26e2170a891f1d4d416ec8cebcd7"},
	} {
		root := s.Root()
		if got := digits(s, s.Next(&root, row.tokens, row.adapter, row.salt)); got != row.want {
			t.Errorf("%d tokens, %d and %d bytes of names: %s, want %s", len(row.tokens), len(row.adapter),
				len(row.salt), got, row.want)
		}
	}
}

// A prompt's chain is the engine's names under the specialist, in whatever pieces it is hashed, and adapter and salt
// keep prompts apart.
func TestPromptIsHashedInPiecesAsInOne(t *testing.T) {
	for _, name := range []string{SHA256, SHA256CBOR, XXHash, XXHashCBOR, SGLang} {
		s := open(t, name, "7")
		seen := map[kvpool.BlockHash]bool{}
		for _, keys := range [][2]string{{}, {"a", ""}, {"", "s"}, {"a", "s"}, {"s", "a"}} {
			if !s.Knows(keys[0], keys[1]) {
				continue
			}
			p := &Prompt{Scheme: s, Within: 99, Adapter: keys[0], Salt: keys[1]}
			tokens := counted(1000)
			want, err := s.Chain(tokens, 16, keys[0], keys[1])
			if err != nil {
				t.Fatal(err)
			}
			var chain []kvpool.BlockHash
			var digest kvpool.Digest
			for n := 0; n <= len(tokens); n += 37 {
				chain = p.Extend(chain, 5, &digest, tokens[len(chain)*16:n], 16)
			}
			chain = p.Extend(chain, 5, &digest, tokens[len(chain)*16:], 16)
			for i, h := range chain {
				if h != kvpool.Named(99, want[i]) || seen[h] {
					t.Fatalf("%s under %q: block %d is %x, want %x; seen: %v", name, keys, i, h, want[i], seen[h])
				}
				seen[h] = true
			}
			if len(chain) != len(want) || len(want) != 62 {
				t.Errorf("%d of %d blocks", len(chain), len(want))
			}
		}
	}
}

func TestHashingAllocatesNothing(t *testing.T) {
	for _, name := range []string{SHA256, SHA256CBOR, XXHash, XXHashCBOR, SGLang} {
		p := &Prompt{Scheme: open(t, name, "7"), Adapter: "code-lora", Salt: "s4lt"}
		tokens, chain := counted(64*4), make([]kvpool.BlockHash, 0, 16)
		digest := new(kvpool.Digest)
		if n := testing.AllocsPerRun(100, func() { p.Extend(chain, 0, digest, tokens, 64) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// However tokens, names and cuts are chosen, a chain is a function of all that was before and of nothing else.
func FuzzChain(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), "", "", uint8(2), uint8(1), uint8(3))
	f.Add([]byte("\xff\xff\xff\xff\x00\x00\x00\x80"), "lora", "salt", uint8(1), uint8(2), uint8(0))
	all := []string{SHA256, SHA256CBOR, XXHash, XXHashCBOR, SGLang}
	f.Fuzz(func(t *testing.T, ids []byte, adapter, salt string, size, cut, which uint8) {
		s := open(t, all[int(which)%len(all)], "42")
		tokens := make([]uint32, len(ids)/4)
		for i := range tokens {
			tokens[i] = binary.LittleEndian.Uint32(ids[4*i:])
		}
		want, err := s.Chain(tokens, int(size), adapter, salt)
		if (err == nil) != s.Knows(adapter, salt) || err != nil && !errors.Is(err, ErrUnknown) {
			t.Fatal(err)
		}
		if err != nil || size == 0 {
			return
		}
		p := &Prompt{Scheme: s, Adapter: adapter, Salt: salt}
		var digest kvpool.Digest
		chain := p.Extend(nil, 0, &digest, tokens[:min(int(cut), len(tokens))], int(size))
		chain = p.Extend(chain, 0, &digest, tokens[len(chain)*int(size):], int(size))
		if len(chain) != len(tokens)/int(size) || len(chain) != len(want) {
			t.Fatalf("%d blocks and %d of %d tokens in %d", len(chain), len(want), len(tokens), size)
		}
		for i, h := range chain {
			if h != kvpool.Named(0, want[i]) {
				t.Fatalf("block %d differs", i)
			}
		}
	})
}

// BenchmarkPrompt hashes a prompt of 4096 tokens in blocks of 16.
func BenchmarkPrompt(b *testing.B) {
	tokens := make([]uint32, 4096)
	for i := range tokens {
		tokens[i] = uint32(i * 31 % 150000)
	}
	chain := make([]kvpool.BlockHash, 0, 256)
	digest := new(kvpool.Digest)
	b.Run("octet", func(b *testing.B) {
		for b.Loop() {
			kvpool.Hasher{}.Extend(chain, 0, digest, tokens, 16)
		}
	})
	for _, name := range []string{SHA256, SHA256CBOR, XXHash, XXHashCBOR, SGLang} {
		p := &Prompt{Scheme: open(b, name, "42")}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Extend(chain, 0, digest, tokens, 16)
			}
		})
	}
}
