package enginehash

import (
	"testing"

	"github.com/fxamacker/cbor/v2"

	"octet/internal/vectors"
)

// vLLM's extra keys, as they enter the hash of any block.
func TestExtraKeysPlayTheCaseOfVLLM(t *testing.T) {
	vectors.Run(t, "kv_pool_vllm.json", vectors.Plays{"adapter_name_enters_hash": playAdapter})
}

func playAdapter(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Adapter string }
	c.Given(&given)
	extra := func(parent []byte, adapter string) any {
		var block []any
		err := cbor.Unmarshal(cborBlock(nil, parent, counted(16), adapter, ""), &block)
		if err != nil || len(block) != 3 {
			t.Fatalf("%v, %v", block, err)
		}
		return block[2]
	}
	s := open(t, SHA256CBOR, "")
	first := s.Next(&s.none, counted(16), given.Adapter, "")
	if first == s.Next(&s.none, counted(16), "", "") {
		t.Error("the adapter's name does not enter the hash")
	}
	return vectors.Got{"with_adapter": extra(s.Bytes(&first), given.Adapter), "without": extra(s.Bytes(&s.none), "")}
}
