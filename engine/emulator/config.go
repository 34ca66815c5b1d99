package emulator

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"octet/engine/emulator/tiny"
	"octet/routing/events"
	"octet/scheduler/core"
)

// ErrConfig is the sentinel of every fault that New finds in a Config.
var ErrConfig = errors.New("emulator: invalid config")

// Text modes: what an emulated model says.
const (
	TextIndex = "index" // token i of request R is ⟦R:i⟧
	TextProse = "prose" // readable C++ answers in the manner of the specialist that Model names
	// prose, with calls of the tools that a request has, reasoning, and JSON where a format is asked for
	TextTools = "tools"
	// what a transformer with random weights says: words without sense that follow from every token before
	TextTiny = "tiny"
)

const (
	maxDraft      = 16      // tokens: what is guessed further ahead is hardly ever right
	maxTinyTokens = 1 << 22 // of KV: 1.6 GB, for a token takes 388 bytes
	hostBytes     = 1 << 28 // for copies of hybrid sequences that gave way
)

// Config describes one emulated engine. Zero fields take the defaults.
type Config struct {
	Name  string // the replica's name in events and states; default Model
	Rank  int    // which data-parallel rank of an engine it is, as its metrics say: see Ranks
	Model string // the base model's name, which requests ask for; default "emulated"
	// Weights is the path that it says its model was loaded from; default Model
	Weights string

	BlockSize   int // tokens a KV block; default 16
	Blocks      int // KV blocks in the pool; default 4096
	MaxRunning  int // sequences in one batch; default 64
	MaxWaiting  int // sequences in the queue before 429; default 1024
	TokenBudget int // tokens computed in one step, over all sequences; default 2048, at least MaxRunning
	MaxModelLen int // tokens of prompt and answer together; default 32768, at most the pool

	PrefillTPS float64       // prompt tokens computed in a second; default 8000
	Step       time.Duration // one decode step of one sequence; default 10 ms, negative for zero
	// what each further sequence adds to a decode step; default 100 µs, negative for zero
	StepPerSeq         time.Duration
	AdapterSwap        time.Duration // a step on another adapter than the one before; default 5 ms, negative for zero
	KVTransferPerBlock time.Duration // fetching a block that another engine computed; default 50 µs, negative for zero

	Mode    string        // ModePrefill or ModeDecode: one of a pair that meets for each request; default alone
	KVLease time.Duration // how long a prompt computed for another engine is kept for it; default 30 s
	Client  *http.Client  // by which it asks other engines; default http.DefaultClient
	// PrefillerTimeout is how long the engine that a request names may take to compute its prompt; default 5 s.
	PrefillerTimeout time.Duration
	// Tokenizer is the path of a tokenizer.json, whose ids are then the engine's; "" is the emulators' own tokenizer.
	// ChatTemplate is that of its template, "" the one beside it. It says prose, or calls tools.
	Tokenizer, ChatTemplate string

	Text  string // TextIndex (default), TextProse, TextTools or TextTiny
	Draft int    // TextTiny: tokens guessed and verified in a step of a sequence; zero means no draft
	// TextTiny: one of the layers is an SSM, so that nothing is shared and a victim's state is copied to host memory
	Hybrid       bool
	CrossAdapter bool // a step may hold the sequences of any adapters, and none costs a swap

	StreamInterval  int  // tokens in one event of a stream, the first event apart; default 1
	SplitCharacters bool // some tokens are part of a character: their text comes with the next token's

	// surfaces beside chat completions that it serves: DoorMessages, DoorResponses; nil means none
	Doors []string

	LoadTime time.Duration // how long it takes to wake, and to load at the start where it Boots; default 0
	Boots    bool          // its model is not loaded at the start: until it is, it answers 503 to probes too
	Asleep   bool          // it sleeps from the start
	// its events do not tell that the cache is lost when it goes to sleep
	SleepsSilently bool
	// it keeps what it is sent while it sleeps until it is woken, and answers then, as vLLM does; else it refuses
	AwaitsWake bool

	Adapters     []string      // LoRA adapters that are loaded from the start
	AdapterSlots int           // adapters that it may have loaded at once; default 256
	AdapterLoad  time.Duration // time of a load, during which it computes all the same; default zero
	Faults       []Fault       // armed from the start, as if by POST /admin/faults
	Seed         uint64        // of the block hashes: engines with different seeds hash the same tokens differently

	Namer     Namer // what its events call blocks; nil for our own hashes
	Tokenless bool  // its events do not say which tokens a block holds

	// of the events; default the wall clock in nanoseconds, so that it grows with every start
	Epoch     uint64
	Publisher events.Publisher // carries the cache events; optional. It stays the caller's to close

	fetch func(context.Context, *ask) (*kvTransfer, error) // in place of HTTP; nil outside of tests
}

// withDefaults returns c with every zero field filled in, or all faults, each an ErrConfig.
func (c Config) withDefaults() (Config, error) {
	c = c.named().sized().paced()
	c.Client = cmp.Or(c.Client, http.DefaultClient)
	if c.Epoch == 0 {
		c.Epoch = uint64(time.Now().UnixNano())
	}
	return c, c.check()
}

func (c Config) named() Config {
	or(&c.Model, "emulated")
	or(&c.Name, c.Model)
	or(&c.Weights, c.Model)
	if c.Tokenizer != "" {
		or(&c.Text, TextProse)
	}
	or(&c.Text, TextIndex)
	return c
}

func (c Config) sized() Config {
	or(&c.BlockSize, 16)
	or(&c.Blocks, 4096)
	or(&c.MaxRunning, 64)
	or(&c.MaxWaiting, 1024)
	or(&c.TokenBudget, max(2048, c.MaxRunning))
	or(&c.StreamInterval, 1)
	or(&c.AdapterSlots, maxAdapters)
	or(&c.MaxModelLen, max(min(32768, c.Blocks*c.BlockSize), 0))
	return c
}

func (c Config) paced() Config {
	or(&c.PrefillTPS, 8000)
	or(&c.Step, 10*time.Millisecond)
	or(&c.StepPerSeq, 100*time.Microsecond)
	or(&c.AdapterSwap, 5*time.Millisecond)
	or(&c.KVTransferPerBlock, 50*time.Microsecond)
	or(&c.KVLease, 30*time.Second)
	or(&c.PrefillerTimeout, 5*time.Second)
	for _, d := range []*time.Duration{&c.LoadTime, &c.KVLease, &c.Step, &c.StepPerSeq, &c.AdapterSwap,
		&c.KVTransferPerBlock} {
		*d = max(*d, 0)
	}
	return c
}

func or[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

// core returns what the scheduler is to be.
func (c Config) core() core.Config {
	core := core.Config{
		Blocks: c.Blocks, BlockSize: c.BlockSize, MaxRunning: c.MaxRunning, MaxWaiting: c.MaxWaiting,
		TokenBudget: c.TokenBudget, Seed: c.Seed,
		CrossAdapter: c.CrossAdapter,
	}
	if c.Hybrid {
		core.PrefillRate, core.HostBytes = c.PrefillTPS, hostBytes
		core.SSMStateBytes, core.KVTokenBytes = tiny.StateBytes, tiny.TokenBytes(true)
	}
	return core
}
