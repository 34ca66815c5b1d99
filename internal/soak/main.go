package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

type options struct {
	octet   string
	lasts   time.Duration
	kill    time.Duration
	clients int
	seed    uint64
}

func main() {
	var o options
	flag.StringVar(&o.octet, "octet", "", "the binary (required)")
	flag.DurationVar(&o.lasts, "for", 1500*time.Second, "how long")
	flag.DurationVar(&o.kill, "kill", 8*time.Second, "time between two deaths of engines")
	flag.IntVar(&o.clients, "clients", 24, "clients that ask, one question after the other")
	flag.Uint64Var(&o.seed, "seed", 1, "of the questions")
	flag.Parse()
	if err := soak(o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// soak runs the whole, prints the tally, and returns an error for anything that must not be.
func soak(o options) error {
	dir, err := os.MkdirTemp("", "octet-soak-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is the system's to clear
	binary, err := filepath.Abs(o.octet)
	if err != nil {
		return err
	}
	f, err := open(binary, dir)
	defer f.close()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.lasts)
	defer cancel()
	sum := newTally()
	var running sync.WaitGroup
	running.Go(func() { f.killEvery(ctx, o, sum) })
	for i := range o.clients {
		running.Go(func() { f.askOn(ctx, fmt.Sprint("c", i), rand.New(rand.NewPCG(o.seed, uint64(i))), sum) })
	}
	running.Wait()
	sum.print(os.Stdout)
	if err := f.quiet(30 * time.Second); err != nil {
		sum.fault(err.Error())
	}
	if code, err := f.gateway.Stop(60 * time.Second); code != 0 || err != nil {
		sum.fault(fmt.Sprintf("SIGTERM: exit code %d, %v", code, err))
	}
	return sum.verdict()
}

// askOn asks one question after the other until ctx ends.
func (f *fleet) askOn(ctx context.Context, name string, draw *rand.Rand, sum *tally) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Minute}
	for n := 0; ctx.Err() == nil; n++ {
		q := ask(fmt.Sprintf("%s-%d", name, n), draw)
		sum.count(&q, put(client, f.data, &q))
		select {
		case <-f.gateway.Ended():
			sum.fault("the gateway's process ended:\n" + f.gateway.Output())
			return
		default:
		}
	}
}

// killEvery kills one engine after the other, each time another one, and starts it again.
func (f *fleet) killEvery(ctx context.Context, o options, sum *tally) {
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(o.kill):
		}
		m := f.engines[i*2%len(f.engines)]
		m.kill()
		sum.killed()
		time.Sleep(min(2*time.Second, o.kill/4))
		if err := m.start(f.binary); err != nil {
			sum.fault(fmt.Sprintf("engine %s does not come back: %v", m.name, err))
			return
		}
	}
}

// quiet waits until no ledger of the gateway holds anything.
func (f *fleet) quiet(within time.Duration) error {
	type counts struct {
		Name                                               string
		Used, Reserved, Waiting, Running, Preempting, Open int
		InFlight                                           int `json:"in_flight"`
	}
	var seen struct {
		Open        int
		Specialists []struct{ Replicas []counts }
	}
	for end := time.Now().Add(within); ; time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get(f.admin + "/admin/state")
		if err != nil {
			return err
		}
		err = json.NewDecoder(resp.Body).Decode(&seen)
		resp.Body.Close()
		if err != nil {
			return err
		}
		held := seen.Open
		for _, s := range seen.Specialists {
			for _, r := range s.Replicas {
				held += r.Used + r.Waiting + r.Running + r.Preempting + r.InFlight
			}
		}
		if held == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the ledgers are not at their baseline: %+v", seen)
		}
	}
}
