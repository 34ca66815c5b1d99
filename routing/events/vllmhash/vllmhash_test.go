package vllmhash

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func counted(n int) (all []uint32) {
	for i := range n {
		all = append(all, uint32(i+1))
	}
	return all
}

func open(t *testing.T, name, seed string) *Scheme {
	t.Helper()
	s, err := New(name, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// MOD2-39: digests that a vLLM with PYTHONHASHSEED=42 computed of the tokens 1 to 32.
func TestDigestsAreThoseOfAnEngine(t *testing.T) {
	s := open(t, SHA256CBOR, "42")
	tokens := counted(32)
	if got := hex.EncodeToString(s.Root()); got != "9fa6eb003f14425eb9c8e6baacfbcaab26257357b829c7bfa74ffcc4f31c1780" {
		t.Errorf("the root is %s", got)
	}
	first, err := s.Next(s.Root(), tokens[:16], nil)
	if got := hex.EncodeToString(first); err != nil || got != "476e88fb0c175c0b4ef0343e158b5157c2ac537d37d97830e235fcc84bc5706d" {
		t.Errorf("the first is %s, %v", got, err)
	}
	second, err := s.Next(first, tokens[16:], nil)
	if got := hex.EncodeToString(second); err != nil || got != "9c89b9f2af12de95c90eb76195371e73760b4df4aa7617587856ae50e4ba5af8" {
		t.Errorf("the second is %s, %v", got, err)
	}
	adapted, err := s.Next(s.Root(), tokens[:16], []string{"code-lora"})
	if got := hex.EncodeToString(adapted); err != nil || got != "bf7cf784a07fd20e9dc65b335e9ea3cc61f2f2420aa6da42ad50e51a294ebc13" {
		t.Errorf("under an adapter it is %s, %v", got, err)
	}
	x := open(t, XXHashCBOR, "42")
	small, err := x.Next(x.Root(), tokens[:16], nil)
	if got := hex.EncodeToString(small); err != nil || got != "0fb2aa342687f4f2c5d5180a8e77e1ba" {
		t.Errorf("the other scheme's first is %s, %v", got, err)
	}
	got, err := s.Chain(tokens, 16, "", "")
	if err != nil || !slices.Equal(got, []uint64{0xe235fcc84bc5706d, 0x7856ae50e4ba5af8}) {
		t.Errorf("%x, %v", got, err)
	}
	if _, err := New("sha256", "42"); !errors.Is(err, ErrScheme) {
		t.Errorf("pickles: %v", err)
	}
}

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
		BlockSize     int    `json:"block_size"`
		Int64         []uint64
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, v := range vectors {
		s, err := New(v.Algo, v.Seed)
		if errors.Is(err, ErrScheme) {
			continue
		}
		names := map[string][2]string{"plain": {}, "lora": {"code-lora", ""}, "salt": {"", "s4lt"}}
		pair, known := names[v.Variant]
		if !known {
			continue
		}
		got, err := s.Chain(counted(32), v.BlockSize, pair[0], pair[1])
		if err != nil || !slices.Equal(got, v.Int64) {
			t.Errorf("%s, seed %s, %s: %x, want %x, %v", v.Algo, v.Seed, v.Variant, got, v.Int64, err)
		}
		met++
	}
	if met < 6 {
		t.Errorf("%d vectors only", met)
	}
}
