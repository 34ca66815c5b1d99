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
	// Near is the replica that this decision should be near to, such as the one that prefills. Written by a workflow,
	// if at all.
	Near = routing.NewSlot[index.HostID]("near")
	// Tokens is the first prompt as the engine's tokenizer has it. Unwritten when text stands for it.
	Tokens = routing.NewSlot[[]uint32]("tokens")
	// Hashes is the beginning of the chain of Tokens, as far as it came with them.
	Hashes = routing.NewSlot[[]kvpool.BlockHash]("hashes")
	// Pieces are the prompt's text, as Facts have it. Written when there are no Tokens.
	Pieces = routing.NewSlot[[][]byte]("pieces")
	// Chunks says that text chunks stand for token blocks: the chain is ours alone and its token count an estimate.
	Chunks = routing.NewSlot[bool]("chunks")
	// BlockHashes is the first prompt's chain: one hash for each full block.
	BlockHashes = routing.NewSlot[[]kvpool.BlockHash]("block_hashes")
	// PromptTokens is the length of all prompts: there are several of a list alone.
	PromptTokens = routing.NewSlot[int]("prompt_tokens")
	// Others are the prompts behind the first. Unwritten where there is one prompt.
	Others = routing.NewSlot[Rest]("others")
	// Depths is, by host, the number of leading blocks of the chain that the replica holds. Only candidates count.
	Depths = routing.NewSlot[*[index.MaxHosts]uint16]("depths")
	// TierDepths is how the blocks of Depths are spread over tiers. Only candidates count.
	TierDepths = routing.NewSlot[*InTiers]("tier_depths")
	// Session is a hash of tenant and session. Unwritten for a request without a session.
	Session = routing.NewSlot[uint64]("session_key")
	// HashKey is what a consistent hash spreads requests by. Unwritten for a request that has nothing of the kind.
	HashKey = routing.NewSlot[uint64]("hash_key")
	// Tenant is the tenant of the request.
	Tenant = routing.NewSlot[Asker]("tenant")
	// Distances is, by host, how far the replica is. Unwritten where there is nothing to measure from. Only candidates
	// count.
	Distances = routing.NewSlot[*Places]("distances")
	// Loads is, by host, how busy the replica is, taken once for all that ask. Only candidates count.
	Loads = routing.NewSlot[*[index.MaxHosts]fleet.Load]("loads")
	// Forecasts is, by host, what the request would meet there. Only candidates count.
	Forecasts = routing.NewSlot[*[index.MaxHosts]Forecast]("forecasts")
)

// Rest is what the prompts of a list need beside the first.
type Rest struct {
	Prompts int
	Tokens  int  // of all of them
	Blocks  int  // full blocks that no earlier prompt of the list has, each counted once
	Tail    int  // tokens behind the full blocks of a prompt: the most of any
	Longest int  // tokens of the longest prompt, the first included
	Guessed bool // some of the lengths are estimated from text
}

// Asker is a tenant and how urgent its request is.
type Asker struct {
	Name     string
	Key      uint64 // hash of Name
	Priority int    // larger is more urgent
}

// Places says how far each replica is.
type Places struct {
	Levels int // the largest distance there is
	// Distance is 0 in the same finest place, one more for each coarser level that has to be left, Levels for
	// elsewhere.
	Distance [index.MaxHosts]uint8
}

// Forecast is what a request is foretold at one replica, in seconds.
type Forecast struct {
	TTFT  float64
	ITL   float64 // 0 is unknown
	Known bool    // TTFT is
}

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
