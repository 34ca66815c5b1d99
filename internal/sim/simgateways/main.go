// Command simgateways plays several gateways before the same engines in virtual time, and prints what they can serve
// beside one gateway.
package main

import (
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"octet/internal/replay"
	"octet/internal/sim/gateways"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	trace := flag.String("trace", "", "a recorded trace, gzipped; where there is none, agents' sessions are drawn")
	mixes := flag.String("mixes", "recorded,zipf", "loads to play")
	requests := flag.Int("requests", 1600, "of the recorded mix at 16 engines; the skewed one has three times as many")
	numbers := flag.String("gateways", "1,2,4,8,16", "how many gateways")
	engines := flag.String("engines", "16,64", "how many engines")
	delays := flag.String("delays", "0s,20ms,100ms,1s", "of a message between gateways")
	extra := flag.Bool("extra", true, "also loss, a partition and independent gateways")
	seed := flag.Uint64("seed", 1, "of clients, messages, tokens and hashes")
	flag.Parse()
	p := gateways.Plan{Extra: *extra, Seed: *seed}
	var err error
	if p.Gateways, err = list(*numbers, strconv.Atoi); err == nil {
		p.Delays, err = list(*delays, time.ParseDuration)
	}
	if err != nil {
		return err
	}
	sizes, err := list(*engines, strconv.Atoi)
	if err != nil {
		return err
	}
	for i, size := range sizes {
		p.Engines = []int{size}
		p.Mixes, err = loads(*mixes, *trace, *requests*size/sizes[0])
		if err == nil {
			err = p.Print(os.Stdout, i == 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// list reads what commas separate.
func list[T any](text string, read func(string) (T, error)) (all []T, err error) {
	for _, part := range strings.Split(text, ",") {
		one, err := read(part)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// loads returns the mixes of these names.
func loads(names, trace string, requests int) (all []gateways.Mix, err error) {
	for _, name := range strings.Split(names, ",") {
		switch name {
		case "recorded":
			m, err := recorded(trace)
			if err != nil {
				return nil, err
			}
			m.Trace.Requests = m.Trace.Requests[:min(len(m.Trace.Requests), requests)]
			all = append(all, m)
		case "zipf":
			all = append(all, gateways.Mix{Name: "zipf", Trace: gateways.Zipf(1, 3*requests, 256, 1), Blocks: 4096,
				Rate: 5})
		default:
			return nil, fmt.Errorf("no mix is named %q", name)
		}
	}
	return all, nil
}

// recorded reads the trace, or draws one.
func recorded(path string) (gateways.Mix, error) {
	f, err := os.Open(path)
	if path == "" || os.IsNotExist(err) {
		t, err := replay.Drawn{Kind: "coder", Seed: 1, Sessions: 2000}.Trace()
		return gateways.Mix{Name: "coder", Trace: t, Blocks: 1 << 14, Rate: 0.1}, err
	}
	if err != nil {
		return gateways.Mix{}, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return gateways.Mix{}, err
	}
	t, err := replay.Read(z, replay.Reading{})
	return gateways.Mix{Name: "conversation", Trace: t, Blocks: 512, Rate: 0.19}, err
}
