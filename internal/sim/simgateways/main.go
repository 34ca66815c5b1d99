// Command simgateways plays several gateways before the same engines in virtual time, and prints what they can serve
// beside one gateway.
package main

import (
	"compress/gzip"
	"errors"
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
	requests := flag.Int("requests", 6000, "of the recorded mix over the first number of engines, in proportion over "+
		"others; five times as many of the skewed mix")
	numbers := flag.String("gateways", "1,2,4,8,16", "how many gateways")
	engines := flag.String("engines", "16", "how many engines")
	delays := flag.String("delays", "0s,20ms,100ms,1s", "of a message between up to four gateways")
	far := flag.Duration("far", 100*time.Millisecond, "of a message between more than four gateways")
	extra := flag.String("extra", "4", "numbers of gateways that also lose messages, are cut off, and send none")
	fair := flag.Bool("fair", true, "also two tenants' shares, of the skewed mix over four engines")
	seeds := flag.String("seeds", "1", "of arrivals, clients, messages, tokens and hashes; the figures are means")
	flag.Parse()
	p := gateways.Plan{Far: *far}
	var failed [5]error
	var sizes []int
	p.Gateways, failed[0] = list(*numbers, strconv.Atoi)
	p.Delays, failed[1] = list(*delays, time.ParseDuration)
	p.Extra, failed[2] = list(*extra, strconv.Atoi)
	sizes, failed[3] = list(*engines, strconv.Atoi)
	p.Seeds, failed[4] = list(*seeds, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
	if err := errors.Join(failed[:]...); err != nil {
		return err
	}
	var err error
	for i, size := range sizes {
		p.Engines = []int{size}
		p.Mixes, err = loads(*mixes, *trace, *requests*size/sizes[0], p.Seeds)
		if err == nil {
			err = p.Print(os.Stdout, i == 0)
		}
		if err != nil {
			return err
		}
	}
	if !*fair {
		return nil
	}
	skewed, err := loads("zipf", "", *requests/few, p.Seeds)
	if err != nil {
		return err
	}
	return p.PrintFairness(os.Stdout, &skewed[0], fewEngines)
}

// longer is how many requests of the skewed mix are played for one of the recorded mix. They come so much faster: most
// of fewer would come before engines have as many answers in flight as later, when less can be served.
const longer = 5

// few is by how much less is played over fewEngines.
const few = 4

// fewEngines is over how many shares are measured: a crowd before them lasts for minutes.
const fewEngines = 4

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

// loads returns the mixes of these names, with a trace for each seed.
func loads(names, trace string, requests int, seeds []uint64) (all []gateways.Mix, err error) {
	for _, name := range strings.Split(names, ",") {
		switch name {
		case "": // none
		case "recorded":
			m, err := recorded(trace, requests, seeds)
			if err != nil {
				return nil, err
			}
			all = append(all, m)
		case "zipf":
			m := gateways.Mix{Name: "zipf", Blocks: 4096, Rate: 4.7}
			for _, seed := range seeds {
				m.Traces = append(m.Traces, gateways.Zipf(seed, longer*requests, 256, 1))
			}
			all = append(all, m)
		default:
			return nil, fmt.Errorf("no mix is named %q", name)
		}
	}
	return all, nil
}

// published is the requests of the trace of which copies are played where more are wanted.
const published = 12_031

// recorded reads the trace, or draws some.
func recorded(path string, requests int, seeds []uint64) (m gateways.Mix, err error) {
	f, err := os.Open(path)
	if path == "" || os.IsNotExist(err) {
		m = gateways.Mix{Name: "coder", Blocks: 1 << 14, Rate: 0.1}
		for _, seed := range seeds {
			t, err := replay.Drawn{Kind: "coder", Seed: seed, Sessions: 2000}.Trace()
			if err != nil {
				return m, err
			}
			m.Traces = append(m.Traces, cut(t, requests))
		}
		return m, nil
	}
	if err != nil {
		return m, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return m, err
	}
	t, err := replay.Read(z, replay.Reading{Copies: 1 + requests/published})
	if err != nil {
		return m, err
	}
	m = gateways.Mix{Name: "conversation", Blocks: 512, Rate: 0.28}
	for _, seed := range seeds {
		m.Traces = append(m.Traces, cut(gateways.Spread(t, seed), requests))
	}
	return m, nil
}

// cut returns a trace without what comes behind so many requests.
func cut(t replay.Trace, requests int) replay.Trace {
	t.Requests = t.Requests[:min(len(t.Requests), requests)]
	return t
}
