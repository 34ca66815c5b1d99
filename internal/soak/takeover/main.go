package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"octet/internal/program"
)

// options are what a run is told.
type options struct {
	octet, model, kind string
	engines            engines
	streams, tokens    int
	at, temperature    float64
}

func main() {
	var o options
	flag.StringVar(&o.octet, "octet", "", "the binary (required)")
	flag.StringVar(&o.model, "model", "coder", "the engines' model")
	flag.StringVar(&o.kind, "kind", "chats", "chats, completions, messages or responses")
	flag.Var(&o.engines, "engine",
		"URL of an engine, and after commas its events and their replay: http://…,tcp://…,tcp://…; repeated. "+
			"The one with the most streams is killed")
	flag.IntVar(&o.streams, "streams", 40, "streams at once")
	flag.IntVar(&o.tokens, "tokens", 300, "of each, at most")
	flag.Float64Var(&o.at, "at", 0.4, "how much of all texts has come when the engine is killed")
	flag.Float64Var(&o.temperature, "temperature", 0,
		"above 0 texts differ by chance, and only their ends and prompts are compared")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "takeover:", err)
		os.Exit(1)
	}
}

// run asks for every text twice, undisturbed and while an engine dies, and prints what became of them. It returns an
// error unless all are equal.
func run(o options, out io.Writer) error {
	if _, known := surfaces[o.kind]; len(o.engines) < 2 || o.octet == "" || !known {
		return errors.New("needs -octet, two engines and a known -kind")
	}
	questions := o.questions()
	want := make([]answer, len(questions))
	if err := abreast(questions, func(i int) (err error) {
		want[i], err = questions[i].whole(o.engines[1].url)
		return err
	}); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "octet-takeover-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is the system's to clear
	gateway, url, admin, err := o.serve(dir)
	if err != nil {
		return err
	}
	defer gateway.Kill()
	got, err := disturbed(o, questions, want, url, admin)
	if err != nil {
		return err
	}
	return compare(out, o, want, got)
}

// serve starts the gateway and waits until it serves.
func (o options) serve(dir string) (gateway *program.Program, url, admin string, err error) {
	path := filepath.Join(dir, "octet.yaml")
	if err := os.WriteFile(path, []byte(o.configuration()), 0o600); err != nil {
		return nil, "", "", err
	}
	if gateway, err = program.Start(o.octet, "serve", "--config", path); err != nil {
		return nil, "", "", err
	}
	at, err := gateway.Await(`msg=serving data=(\S+) admin=(\S+)`, 30*time.Second)
	if err != nil {
		gateway.Kill()
		return nil, "", "", err
	}
	url, admin = "http://"+at[1], "http://"+at[2]
	if err := o.healthy(admin); err != nil {
		gateway.Kill()
		return nil, "", "", err
	}
	return gateway, url, admin, nil
}

// healthy waits until the gateway has probed every engine and found it well.
func (o options) healthy(admin string) error {
	var state struct {
		Specialists []struct {
			Replicas []struct{ Healthy bool }
		}
	}
	for range 300 {
		resp, err := client.Get(admin + "/admin/state")
		if err != nil {
			return err
		}
		err = json.NewDecoder(resp.Body).Decode(&state)
		resp.Body.Close()
		well := 0
		for _, s := range state.Specialists {
			for _, r := range s.Replicas {
				if r.Healthy {
					well++
				}
			}
		}
		if err == nil && well == len(o.engines) {
			time.Sleep(2 * time.Second) // the engines' events
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("not every engine is well: %+v", state)
}

// configuration is the defaults, but for what names this fleet.
func (o options) configuration() string {
	var b strings.Builder
	b.WriteString("listen: {data: 127.0.0.1:0, admin: 127.0.0.1:0}\nfleet: {probe_interval: 500ms}\nspecialists:\n")
	fmt.Fprintf(&b, "  - name: %s\n    block_size: 32\n    replicas:\n", o.model)
	for i, e := range o.engines {
		fmt.Fprintf(&b, "      - {url: %q, name: engine-%d, engine: vllm, blocks: 4096", e.url, i)
		if e.events != "" {
			fmt.Fprintf(&b, ", events: {zmq: %q, replay: %q}", e.events, e.replay)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// busiest returns the engine that answers the most requests of the gateway now, by its place among o.engines.
func busiest(admin string) (engine int, err error) {
	var state struct {
		Specialists []struct {
			Replicas []struct {
				Open int `json:"in_flight"`
			}
		}
	}
	resp, err := client.Get(admin + "/admin/state")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&state); err != nil {
		return 0, err
	}
	all := state.Specialists[0].Replicas
	for i := range all {
		if all[i].Open > all[engine].Open {
			engine = i
		}
	}
	return engine, nil
}

// disturbed asks for all texts at once through the gateway, and kills the busiest engine when the part of them has come
// that o.at says.
func disturbed(o options, questions []question, want []answer, url, admin string) ([]answer, error) {
	total := 0
	for _, w := range want {
		total += len(w.text)
	}
	victims := make([]process, len(o.engines))
	for i, e := range o.engines {
		var err error
		if victims[i], err = listenerOf(e.url); err != nil {
			return nil, err
		}
	}
	var once sync.Once
	var killed error
	strike := func() {
		i, err := busiest(admin)
		killed = errors.Join(err, victims[i].kill())
	}
	heard := counter{due: int(o.at * float64(total)), then: func() { once.Do(strike) }}
	got := make([]answer, len(questions))
	err := abreast(questions, func(i int) error {
		got[i] = questions[i].stream(url, &heard)
		return nil
	})
	return got, errors.Join(err, killed)
}

// abreast runs f for each question, all at once, and returns their errors.
func abreast(questions []question, f func(i int) error) error {
	errs := make([]error, len(questions))
	var running sync.WaitGroup
	for i := range questions {
		running.Go(func() { errs[i] = f(i) })
	}
	running.Wait()
	return errors.Join(errs...)
}
