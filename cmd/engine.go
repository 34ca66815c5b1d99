package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"octet/config"
	"octet/engine/emulator"
	"octet/routing/events"
	"octet/routing/events/enginehash"
	"octet/routing/events/grpcstream"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
	"octet/routing/events/zmqstream"
)

// engineFlags are the flags of `octet engine`.
type engineFlags struct {
	listen, redis, stream, nats string
	zmq                         zmqstream.PublisherConfig
	layout                      string
	hashScheme, hashSeed        string
	voice                       voiceFlags
	grpc                        grpcstream.PublisherConfig
	config                      emulator.Config
	ranks                       int // 0: it has none
}

const engineHelp = `One emulated engine: OpenAI API over a real scheduler and paged KV pool, with a timing model.

--text says what answers are:
  index  token i of request R is ⟦R:i⟧
  prose  C++ advice in the manner of the specialist that --model names
  tools  prose; a request with tools is answered by calls, until their results have come; reasoning_effort and
         response_format are kept to
  tiny   words without sense, which a small transformer computes

With --text tools the last message of the user may say what the answer is made of, as in
"find the leak [[reasoning=12 text=8 calls=2]]":
  reasoning=N  N tokens of reasoning ahead of all else (default by reasoning_effort)
  text=N       N tokens of text, ahead of the calls if there are any
  calls=N      N calls, at most 16; 0 is an answer of text (default 1 or 2)
  args=N       N words in the first string of each call's arguments, or of a JSON answer
  rounds=N     N answers with calls before an answer of text (default 1)
  vary=1       the arguments tell the model's name; otherwise all models make the same calls
What it does not say follows from the prompt.`

func engineCommand() *cobra.Command {
	var f engineFlags
	c := &cobra.Command{
		Use:   "engine",
		Short: "One emulated engine: OpenAI API over a real scheduler and paged KV pool, with a timing model",
		Long:  engineHelp,
		Args:  none,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runEngine(cmd.Context(), f) },
	}
	f.defineEngine(c.Flags())
	f.voice.define(c)
	f.defineEvents(c.Flags())
	return c
}

// defineEngine defines the flags of the engine itself.
func (f *engineFlags) defineEngine(flags *pflag.FlagSet) {
	flags.StringVar(&f.listen, "listen", "127.0.0.1:9001", "address to serve on; port 0 picks a free one")
	flags.StringVar(&f.config.Name, "name", "", "the replica's name in its events (default: the model's)")
	flags.StringVar(&f.config.Model, "model", "emulated", "the base model's name")
	flags.StringVar(&f.config.Weights, "weights", "",
		"the path that it says its model was loaded from (default: the model's name)")
	flags.IntVar(&f.config.BlockSize, "block-size", 16, "tokens a KV block")
	flags.IntVar(&f.config.Blocks, "blocks", 4096, "KV blocks in the pool")
	flags.IntVar(&f.config.MaxRunning, "max-running", 64, "sequences in one batch")
	flags.IntVar(&f.config.MaxWaiting, "max-waiting", 1024, "sequences in the queue before 429")
	flags.IntVar(&f.config.MaxModelLen, "max-model-len", 0,
		"tokens of prompt and answer together (default 32768, at most the pool)")
	flags.Float64Var(&f.config.PrefillTPS, "prefill-tps", 8000, "prompt tokens computed in a second")
	flags.DurationVar(&f.config.Step, "step", 10*time.Millisecond, "one decode step")
	flags.IntVar(&f.config.StreamInterval, "stream-interval", 1,
		"tokens in one event of a stream, the first event apart")
	flags.BoolVar(&f.config.SplitCharacters, "split-characters", false,
		"some tokens are part of a character: their text comes with the next token's")
	flags.StringVar(&f.config.Text, "text", "",
		"what it says: index, prose, tools or tiny (default index, with a tokenizer prose)")
	flags.StringVar(&f.config.Tokenizer, "tokenizer", "",
		"tokenizer.json whose ids are the engine's; it says prose then (default: a tokenizer of its own)")
	flags.StringVar(&f.config.ChatTemplate, "chat-template", "",
		"the tokenizer's chat template: .jinja or tokenizer_config.json (default: beside it)")
	flags.IntVar(&f.config.Draft, "draft", 0, "tiny: tokens guessed and verified in a step of a sequence")
	flags.BoolVar(&f.config.Hybrid, "hybrid", false, "tiny: one of the layers is an SSM")
	flags.BoolVar(&f.config.CrossAdapter, "cross-adapter", false, "a step may hold the sequences of several adapters")
	flags.StringVar(&f.config.Mode, "disaggregation-mode", "",
		"prefill or decode: one of two engines that meet for each request, as SGLang's do")
	flags.DurationVar(&f.config.KVLease, "kv-lease", 30*time.Second,
		"how long a prompt computed for another engine is kept for it")
	flags.DurationVar(&f.config.PrefillerTimeout, "prefiller-timeout", 5*time.Second,
		"how long the engine that a request's X-Prefiller-Host-Port names may take")
	flags.StringSliceVar(&f.config.Doors, "doors", nil,
		"surfaces beside chat completions that it serves itself: messages, responses (default none)")
	flags.DurationVar(&f.config.LoadTime, "load-time", 0, "how long it takes to wake after /sleep")
	flags.BoolVar(&f.config.Boots, "boots", false, "its model is loaded after --load-time only")
	flags.BoolVar(&f.config.Asleep, "asleep", false, "it sleeps from the start")
	flags.StringSliceVar(&f.config.Adapters, "adapter", nil,
		"LoRA adapter that is loaded from the start; may be repeated")
	flags.IntVar(&f.config.AdapterSlots, "adapter-slots", 256, "LoRA adapters that may be loaded at once")
	flags.DurationVar(&f.config.AdapterLoad, "adapter-load", 0, "time that the load of a LoRA adapter takes")
	flags.IntVar(&f.ranks, "dp-ranks", 0,
		"data-parallel ranks behind one URL, each with a pool of its own: NAME-r0 and so on, on ports of --zmq and "+
			"--zmq-replay that are as much higher (default none)")
	flags.Uint64Var(&f.config.Seed, "seed", 0, "of its block hashes and prose")
}

// defineEvents defines the flags of its cache events.
func (f *engineFlags) defineEvents(flags *pflag.FlagSet) {
	flags.StringVar(&f.hashScheme, "hash-scheme", "",
		"what its events call blocks: as vLLM (sha256, sha256_cbor, xxhash, xxhash_cbor) or SGLang (sglang) hashes "+
			"them")
	flags.StringVar(&f.hashSeed, "hash-seed", "0", "the PYTHONHASHSEED of that vLLM")
	flags.BoolVar(&f.config.Tokenless, "tokenless", false, "its events do not say which tokens a block holds")
	flags.StringVar(&f.redis, "redis", "", "publish cache events to the Redis server at this address")
	flags.StringVar(&f.stream, "stream", "octet:kv", "the Redis stream")
	flags.StringVar(&f.nats, "nats", "", "publish cache events to the NATS server at this URL")
	flags.StringVar(&f.zmq.Endpoint, "zmq", "",
		"publish cache events on this ZMQ endpoint as vLLM does; tcp://*:5557, or tcp://host:port of a gateway that "+
			"listens")
	flags.StringVar(&f.zmq.Replay, "zmq-replay", "", "replay lost ones on this ZMQ endpoint")
	flags.StringVar(&f.zmq.Snapshot, "zmq-snapshot", "", "tell all that it holds on this ZMQ endpoint, as SGLang does")
	flags.StringVar(&f.zmq.Topic, "zmq-topic", "", "topic of the ZMQ messages")
	flags.StringVar(&f.layout, "zmq-layout", string(zmqstream.Maps),
		"how they are written: map, or array as before vLLM 0.23")
	flags.StringVar(&f.grpc.Addr, "grpc", "", "publish cache events to the gateway's gRPC listener at this address")
	flags.StringVar(&f.grpc.Token, "grpc-token", os.Getenv("OCTET_EVENTS_TOKEN"),
		"the token it wants (default $OCTET_EVENTS_TOKEN)")
}

func runEngine(ctx context.Context, f engineFlags) error {
	if f.ranks < 0 || f.ranks > emulator.MaxRanks {
		return usageError{fmt.Errorf("--dp-ranks %d: at most %d", f.ranks, emulator.MaxRanks)}
	}
	if f.hashScheme != "" {
		var err error
		if f.config.Namer, err = enginehash.New(f.hashScheme, f.hashSeed); err != nil {
			return usageError{err}
		}
	}
	publishers := make([]events.Publisher, max(f.ranks, 1))
	for r := range publishers {
		p, err := f.ofRank(r).publisher()
		if err != nil {
			return err
		}
		defer p.Close()
		if len(p) > 0 {
			publishers[r] = p
		}
	}
	e, err := f.emulated(publishers)
	if err != nil {
		return usageError{err}
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "engine %s on http://%s\n", f.config.Model, l.Addr())
	return serveEmulated(ctx, f.config.Model, e, l)
}

// ofRank returns the flags of one of its ranks, whose ports are as much higher.
func (f engineFlags) ofRank(r int) engineFlags {
	f.zmq.Rank = r
	for _, endpoint := range []*string{&f.zmq.Endpoint, &f.zmq.Replay, &f.zmq.Snapshot} {
		*endpoint = config.PortAfter(*endpoint, r)
	}
	return f
}

// emulated is an engine, or one of several ranks.
type emulated interface {
	Run(ctx context.Context) error
	Handler() http.Handler
}

func (f engineFlags) emulated(publishers []events.Publisher) (emulated, error) {
	if f.ranks > 0 {
		return emulator.NewRanks(f.config, publishers)
	}
	f.config.Publisher = publishers[0]
	return emulator.New(f.config)
}

// serveEngine runs one emulated engine on l until ctx ends.
func serveEngine(ctx context.Context, config emulator.Config, l net.Listener) error {
	e, err := emulator.New(config)
	if err != nil {
		_ = l.Close() // never served
		return usageError{err}
	}
	return serveEmulated(ctx, config.Model, e, l)
}

// serveEmulated runs e on l until ctx ends.
func serveEmulated(ctx context.Context, model string, e emulated, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: e.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 2) // one each of the loop and the server
	var running sync.WaitGroup
	running.Go(func() { ended <- e.Run(ctx) })
	running.Go(func() { ended <- server.Serve(l) })
	var first error
	select {
	case <-ctx.Done():
	case first = <-ended:
	}
	cancel()
	_ = server.Close() // what is open ends with the loop
	running.Wait()
	if first != nil && !errors.Is(first, context.Canceled) {
		return fmt.Errorf("engine %s: %w", model, first)
	}
	return nil
}

// publisher connects the transports that the flags name, which may be none.
func (f engineFlags) publisher() (all fanOut, err error) {
	for _, t := range []struct {
		wanted bool
		open   func() (events.Publisher, error)
	}{
		{f.redis != "", func() (events.Publisher, error) {
			return f.voice.redis(redisstream.Config{Addr: f.redis, Stream: f.stream})
		}},
		{f.nats != "", func() (events.Publisher, error) { return f.voice.nats(natsstream.Config{URL: f.nats}) }},
		{f.zmq.Endpoint != "" || f.zmq.Replay != "" || f.zmq.Snapshot != "", f.openZMQ},
		{f.grpc.Addr != "", func() (events.Publisher, error) { return grpcstream.NewPublisher(f.grpc) }},
	} {
		if !t.wanted {
			continue
		}
		p, err := t.open()
		if err != nil {
			return nil, usageError{errors.Join(err, all.Close())}
		}
		all = append(all, p)
	}
	return all, nil
}

func (f engineFlags) openZMQ() (events.Publisher, error) {
	f.zmq.Layout = zmqstream.Layout(f.layout)
	return zmqstream.NewPublisher(f.zmq)
}

// fanOut publishes to several transports; the index takes each batch once, whichever comes first.
type fanOut []events.Publisher

// Publish implements events.Publisher.
func (f fanOut) Publish(ctx context.Context, b events.Batch) error {
	var errs []error
	for _, p := range f {
		errs = append(errs, p.Publish(ctx, b))
	}
	return errors.Join(errs...)
}

// Close implements events.Publisher.
func (f fanOut) Close() error {
	var errs []error
	for _, p := range f {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}
