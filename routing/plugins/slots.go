package plugins

import (
	"octet/kvpool"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// The slots through which the plugins of this package meet.
var (
	// Fleet is given by the caller: the replicas that the request may see.
	Fleet = routing.NewSlot[*fleet.Snapshot]("fleet")
	// Tokens is the prompt as the engine's tokenizer has it. Unwritten when text stands for it.
	Tokens = routing.NewSlot[[]uint32]("tokens")
	// Hashes is the beginning of the chain of Tokens, as far as it came with them.
	Hashes = routing.NewSlot[[]kvpool.BlockHash]("hashes")
	// Text is the rendered prompt. Written when there are no Tokens.
	Text = routing.NewSlot[[]byte]("text")
	// Chunks says that text chunks stand for token blocks: the chain is ours alone and its token count an estimate.
	Chunks = routing.NewSlot[bool]("chunks")
	// BlockHashes is the prompt's chain: one hash for each full block.
	BlockHashes = routing.NewSlot[[]kvpool.BlockHash]("block_hashes")
	// PromptTokens is the length of the prompt.
	PromptTokens = routing.NewSlot[int]("prompt_tokens")
	// Depths is, by host, the number of leading blocks of the chain that the replica holds. 0 outside of the candidates.
	Depths = routing.NewSlot[*[index.MaxHosts]uint16]("depths")
)

// named is the part of a plugin that is the same in all.
type named struct {
	name  string
	reads []routing.AnySlot
}

// Name implements routing.Plugin.
func (n named) Name() string { return n.name }

// Reads implements routing.Plugin.
func (n named) Reads() []routing.AnySlot { return n.reads }

func reads(slots ...routing.AnySlot) []routing.AnySlot { return slots }
