package cmd

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/spf13/cobra"

	"octet/config"
	"octet/engine/emulator"
	"octet/routing/events"
	"octet/routing/plugins"
)

// demoFlags are the flags of `octet demo`.
type demoFlags struct {
	listen, admin, redis string
	step                 time.Duration
	text                 string
	sets                 []string
}

func demoCommand() *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "The reference ensemble in one process: gateway, sixteen emulated engines, an event fabric",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return demo(cmd.Context(), f, cmd.OutOrStdout()) },
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8080", "data listener; port 0 picks a free one")
	c.Flags().StringVar(&f.admin, "admin", "127.0.0.1:8081", "admin listener; port 0 picks a free one")
	c.Flags().StringVar(&f.redis, "redis", "",
		"carry cache events over the Redis server at this address instead of the embedded NATS")
	c.Flags().DurationVar(&f.step, "step", 10*time.Millisecond, "one decode step of the emulated engines")
	c.Flags().StringVar(&f.text, "text", emulator.TextProse, "what the emulated engines say: prose or index")
	c.Flags().StringArrayVar(&f.sets, "set", nil,
		"override one key of the reference configuration: path=value; may be repeated")
	return c
}

func demo(ctx context.Context, f demoFlags, out io.Writer) error {
	fabric, err := f.fabric()
	if err != nil {
		return err
	}
	defer fabric.stop()
	cfg, listeners, err := f.config(fabric.sets)
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
			publisher, err := fabric.publisher()
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
	return serve(ctx, cfg, source{}, func(data, admin net.Addr) { printTour(out, data.String(), admin.String(), cfg) })
}

// engine is one emulated engine of the demo.
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

// config is the reference configuration with every replica at a free loopback port, whose listener it returns.
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
	return cfg, listeners, err
}

// fabric carries the demo's cache events.
type fabric struct {
	sets      []string // of the configuration
	publisher func() (events.Publisher, error)
	stop      func()
}

// fabric is the Redis server that was named, else a NATS server in this process.
func (f demoFlags) fabric() (fabric, error) {
	if f.redis != "" {
		return fabric{
			sets:      []string{"events.redis.addr=" + f.redis},
			publisher: func() (events.Publisher, error) { return redisPublisher(f.redis, "octet:kv") },
			stop:      func() {},
		}, nil
	}
	dir, err := os.MkdirTemp("", "octet-demo-")
	if err != nil {
		return fabric{}, err
	}
	nats, err := startNATS(dir)
	if err != nil {
		_ = os.RemoveAll(dir) // nothing is in it
		return fabric{}, err
	}
	url := nats.ClientURL()
	return fabric{
		sets:      []string{"events.nats.url=" + url},
		publisher: func() (events.Publisher, error) { return natsPublisher(url) },
		stop: func() {
			nats.Shutdown()
			nats.WaitForShutdown()
			_ = os.RemoveAll(dir) // the system's temporary files are its own to clean as well
		},
	}, nil
}

func startNATS(dir string) (*server.Server, error) {
	nats, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
		StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, err
	}
	nats.Start()
	if !nats.ReadyForConnections(10 * time.Second) {
		nats.Shutdown()
		return nil, fmt.Errorf("the embedded NATS server did not start")
	}
	return nats, nil
}
