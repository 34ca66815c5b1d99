package cmd

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/spf13/cobra"

	"octet/app"
	"octet/config"
	"octet/engine/emulator"
	"octet/internal/natsserver"
	"octet/routing/events"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
	"octet/routing/plugins"
)

// demoFlags are the flags of `octet demo`.
type demoFlags struct {
	listen, admin, redis string
	step                 time.Duration
	text                 string
	sets                 []string
	gateways             int
}

func demoCommand() *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "The reference ensemble in one process: gateway, sixteen emulated engines, an event fabric",
		Args:  none,
		RunE:  func(cmd *cobra.Command, _ []string) error { return demo(cmd.Context(), f, cmd.OutOrStdout()) },
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8080", "data listener; port 0 picks a free one")
	c.Flags().StringVar(&f.admin, "admin", "127.0.0.1:8081", "admin listener; port 0 picks a free one")
	c.Flags().StringVar(&f.redis, "redis", "",
		"carry cache events over the Redis server at this address instead of the embedded NATS")
	c.Flags().DurationVar(&f.step, "step", 10*time.Millisecond, "one decode step of the emulated engines")
	c.Flags().StringVar(&f.text, "text", emulator.TextProse, "what the emulated engines say: prose, tools or index")
	c.Flags().IntVar(&f.gateways, "gateways", 1,
		"gateways before the engines, at most 26; several are one group, with a plain TCP spreader at the data listener")
	c.Flags().StringArrayVar(&f.sets, "set", nil,
		"override one key of the reference configuration: path=value; may be repeated")
	return c
}

func demo(ctx context.Context, f demoFlags, out io.Writer) error {
	if f.gateways < 0 || f.gateways > 26 {
		return usageError{fmt.Errorf("--gateways: %d is more than 26, or less than none", f.gateways)}
	}
	if !slices.Contains([]string{emulator.TextProse, emulator.TextTools, emulator.TextIndex}, f.text) {
		return usageError{fmt.Errorf("--text: %q is neither prose, tools nor index", f.text)}
	}
	bus, err := f.eventBus()
	if err != nil {
		return err
	}
	defer bus.stop()
	if f.gateways > 1 {
		bus.sets = append(bus.sets, bus.meet)
	}
	cfg, listeners, err := f.config(bus.sets)
	if err != nil {
		return err
	}
	engines, cancel := context.WithCancel(context.Background()) // they answer until the gateway is drained
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		for j := range sp.Replicas {
			publisher, err := bus.publisher()
			if err != nil {
				return err
			}
			engine := f.engine(sp, &sp.Replicas[j], publisher)
			running.Go(func() {
				defer publisher.Close()
				if err := serveEngine(engines, engine, listeners[i][j]); err != nil {
					fmt.Fprintln(os.Stderr, "octet:", err)
				}
			})
		}
	}
	if f.gateways > 1 {
		return f.several(ctx, out, cfg)
	}
	return serve(ctx, cfg, app.Source{},
		func(data, admin net.Addr) { printTour(out, data.String(), admin.String(), cfg) })
}

// engine returns one emulated engine of the demo.
func (f demoFlags) engine(sp *config.Specialist, rep *config.Replica, p events.Publisher) emulator.Config {
	c := emulator.Config{
		Name: rep.Name, Model: rep.Model, BlockSize: sp.BlockSize, Blocks: rep.Blocks,
		MaxRunning:  sp.Scheduler.MaxRunning,
		TokenBudget: max(sp.Scheduler.ChunkedPrefillTokens, sp.Scheduler.MaxRunning), Step: f.step, Text: f.text,
		Publisher: p,
	}
	for _, a := range sp.Adapters {
		c.Adapters = append(c.Adapters, a.Name)
	}
	return c
}

// config returns the reference configuration with every replica at a free loopback port, and their listeners.
func (f demoFlags) config(sets []string) (*config.Config, [][]net.Listener, error) {
	options := config.Options{Environ: os.Environ(), Presets: plugins.Presets()}
	reference, err := config.Parse("reference.yaml", config.Example(), options)
	if err != nil {
		return nil, nil, err
	}
	sets = append(sets, "listen.data="+f.listen, "listen.admin="+f.admin)
	listeners := make([][]net.Listener, len(reference.Specialists))
	for i, sp := range reference.Specialists {
		sets = append(sets, fmt.Sprintf("specialists[%d].tokenizer=builtin", i))
		for j := range sp.Replicas {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return nil, nil, err
			}
			listeners[i] = append(listeners[i], l)
			at := fmt.Sprintf("specialists[%d].replicas[%d].", i, j)
			sets = append(sets, at+"url=http://"+l.Addr().String(), at+"forward_priority=true")
		}
	}
	options.Sets = append(sets, f.sets...)
	cfg, err := config.Parse("reference.yaml", config.Example(), options)
	if err != nil {
		return nil, nil, err
	}
	if f.redis == "" && !slices.ContainsFunc(f.sets, func(s string) bool {
		return strings.HasPrefix(s,
			"events.redis")
	}) {
		alone := *cfg
		alone.Events.Redis = nil // the reference's, which nothing serves here
		cfg = &alone
	}
	return cfg, listeners, nil
}

// eventBus carries the demo's cache events.
type eventBus struct {
	sets      []string // of the configuration
	meet      string   // the same, where several gateways meet
	publisher func() (events.Publisher, error)
	stop      func()
}

// eventBus returns the Redis server that was named, else a NATS server in this process.
func (f demoFlags) eventBus() (eventBus, error) {
	if f.redis != "" {
		return eventBus{
			sets: []string{"events.redis.addr=" + f.redis},
			meet: "gateways.redis.addr=" + f.redis,
			publisher: func() (events.Publisher, error) {
				return redisstream.NewPublisher(redisstream.Config{Addr: f.redis, Stream: "octet:kv"})
			},
			stop: func() {},
		}, nil
	}
	dir, err := os.MkdirTemp("", "octet-demo-")
	if err != nil {
		return eventBus{}, err
	}
	nats, err := natsserver.Start(server.Options{StoreDir: dir})
	if err != nil {
		_ = os.RemoveAll(dir) // nothing is in it
		return eventBus{}, err
	}
	url := nats.ClientURL()
	return eventBus{
		sets: []string{"events.nats.url=" + url},
		meet: "gateways.nats.url=" + url,
		publisher: func() (events.Publisher, error) {
			return natsstream.NewPublisher(natsstream.Config{URL: url})
		},
		stop: func() {
			nats.Shutdown()
			nats.WaitForShutdown()
			_ = os.RemoveAll(dir) // the system cleans its temporary files as well
		},
	}, nil
}

// printTour tells a newcomer what is running and what to try: every line can be pasted as it is.
func printTour(out io.Writer, data, admin string, cfg *config.Config) {
	names := make([]string, len(cfg.Specialists))
	for i, sp := range cfg.Specialists {
		names[i] = sp.Name
	}
	fmt.Fprintf(out, `
Octet is up: %[1]d specialists, %[2]d emulated engines.
  data   http://%[3]s    (OpenAI API)
  admin  http://%[4]s    (/admin/state, /metrics)
  specialists: %[5]s

Try:

1. Let the router choose. The sanitizer trace in the prompt sends it to debug:
   curl -sN http://%[3]s/v1/chat/completions -H 'Content-Type: application/json' -d '{"model":"octet","stream":true,"max_tokens":48,"messages":[{"role":"user","content":"==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000014\n    #0 0x4f8b1a in Node::next() list.cpp:42:10\nWhat is wrong?"}]}'

2. Say what you want in headers, and see what comes back in them:
   curl -si http://%[3]s/v1/chat/completions -H 'Content-Type: application/json' -H 'X-Intent: build-fix' -H 'X-Priority: 10' -H 'X-Deadline-Ms: 20000' -H 'X-Explain: 1' -d '{"max_tokens":32,"messages":[{"role":"user","content":"undefined reference to vtable for Shape"}]}'

3. Ask why, without running anything:
   curl -s http://%[3]s/v1/route -H 'Content-Type: application/json' -d '{"messages":[{"role":"user","content":"template <class T, class = std::enable_if_t<std::is_integral_v<T>>> auto f(T) -> decltype(std::declval<T&>() + 1);\ntemplate <class... Ts> requires (std::integral<Ts> && ...) void g(Ts... ts);\ntemplate <class T> concept Addable = requires(T a) { a + a; };"}]}'

Stop with Ctrl-C.
`, len(cfg.Specialists), countReplicas(cfg), data, admin, strings.Join(names, ", "))
}
