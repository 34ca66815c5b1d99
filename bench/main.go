// Command bench compares gateways on one machine in one run: Octet, nginx, HAProxy, httputil.ReverseProxy, bare gin and
// Bifrost's core, each on the gateways' core, before an engine that answers instantly, which shares the other core with
// the client.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"octet/bench/origin"
)

type options struct {
	octets   map[string]string
	binaries string
	core     string
	rounds   int
	span     time.Duration
	conns    int
	peers    []string // empty is all
	rows     []string
	out      string
	profiles string // directory; empty leaves no profiles
}

func main() {
	o := options{octets: map[string]string{}}
	flag.Func("octet", "name=path of a build of Octet; may be repeated", func(v string) error {
		name, path, ok := strings.Cut(v, "=")
		o.octets[name] = path
		if !ok {
			return errors.New("want name=path")
		}
		return nil
	})
	flag.StringVar(&o.binaries, "binaries", "../.cache/bin/peers", "where the peers of this module were built")
	flag.StringVar(&debs, "debs", debs, "where Debian's packages were unpacked")
	flag.StringVar(&o.core, "core", "0", "the core that gateways are pinned to")
	flag.IntVar(&o.rounds, "rounds", 5, "measurements of each figure; their median counts")
	flag.DurationVar(&o.span, "span", 1500*time.Millisecond, "of one measurement")
	flag.IntVar(&o.conns, "conns", 16, "client connections of a closed loop")
	flag.Func("peers", "the only gateways to run, by comma", list(&o.peers))
	flag.Func("rows", "the only rows to measure, by comma", list(&o.rows))
	flag.StringVar(&baseline, "against", baseline, "the gateway that ratios are to")
	flag.StringVar(&o.out, "json", "", "file for the report as JSON")
	flag.BoolVar(&countInstructions, "instructions", false,
		"count thousands of instructions outside of the kernel where rows have processor time; needs a processor "+
			"that counts them")
	flag.StringVar(&o.profiles, "profiles", "",
		"directory for processor profiles of Octet, one for each row; they cost a little themselves")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func list(into *[]string) func(string) error {
	return func(v string) error {
		*into = strings.Split(v, ",")
		return nil
	}
}

func wanted(only []string, name string) bool { return len(only) == 0 || slices.Contains(only, name) }

func run(o options) error {
	dir, err := os.MkdirTemp("", "octet-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	engine, err := origin.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer engine.Close()
	id, err := newIdentity(dir)
	if err != nil {
		return err
	}
	h := &hall{dir: dir, core: o.core, engine: engine.Addr(), missing: map[string]string{}}
	defer h.close()
	b := &bench{engine: engine, span: o.span, conns: o.conns}
	report := Report{Against: baseline, Failed: map[string]string{}}
	var present []string
	standard := kinds(o.octets, o.binaries)
	for _, k := range standard {
		if wanted(o.peers, k.name) {
			present = append(present, k.name)
		}
	}
	for _, r := range rows(o.octets, id) {
		if !wanted(o.rows, r.name) {
			continue
		}
		among := standard
		if r.only != nil {
			among = r.only
		}
		among = slices.DeleteFunc(slices.Clone(among), func(k kind) bool { return !slices.Contains(present, k.name) })
		fmt.Fprintln(os.Stderr, "measuring", r.name)
		if r.only != nil {
			h.close() // what runs under these names is configured otherwise
		}
		report.Lines = append(report.Lines, line(r, o.measure(b, h, r, among, report.Failed)))
		if r.only != nil {
			h.close()
		}
	}
	report.Missing = h.missing
	return o.write(report, present)
}

// measure has every gateway's turn once a round, so that what disturbs the machine disturbs all.
func (o options) measure(b *bench, h *hall, r row, among []kind, failed map[string]string) figures {
	f := figures{}
	for range o.rounds {
		for _, k := range among {
			p := h.peer(k, r.fresh)
			if p == nil {
				continue
			}
			done := o.profile(p, r.name)
			v, err := r.measure(b, p)
			done()
			if err != nil {
				failed[k.name+" "+r.name] = err.Error()
				v = math.NaN()
			}
			f[k.name] = append(f[k.name], v)
		}
	}
	return f
}

func (o options) write(report Report, names []string) error {
	if err := report.writeTable(os.Stdout, names); err != nil || o.out == "" {
		return err
	}
	file, err := os.Create(o.out)
	if err != nil {
		return err
	}
	return errors.Join(report.writeJSON(file), file.Close())
}
