// Deadlines drives the real binary with what once ended it: requests whose deadlines pass about when their answers
// come, on pipelined connections, clients that hang up in every phase, and reloads that move every replica to another
// slot. Beside them sixty bystanders without a deadline ask one question after the other. No answer may hold a byte of
// another's, no bystander may be refused or cut, and the gateway must end by SIGTERM alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"octet/internal/program"
)

type options struct {
	octet                 string
	lasts                 time.Duration
	reloads               int
	bystanders, late, off int // clients
}

func main() {
	var o options
	flag.StringVar(&o.octet, "octet", "", "the binary; empty builds the module's")
	flag.DurationVar(&o.lasts, "for", 10*time.Minute, "how long")
	flag.IntVar(&o.reloads, "reloads", 200, "in that time")
	flag.IntVar(&o.bystanders, "bystanders", 60, "clients without deadlines")
	flag.IntVar(&o.late, "late", 60, "clients with deadlines about when their answers come")
	flag.IntVar(&o.off, "off", 12, "clients that hang up")
	flag.Parse()
	if err := prove(o); err != nil {
		fmt.Fprintln(os.Stderr, "deadlines:", err)
		os.Exit(1)
	}
}

// prove runs the whole, and returns an error for anything that must not be.
func prove(o options) error {
	dir, err := os.MkdirTemp("", "octet-deadlines-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is the system's to clear
	if o.octet == "" {
		o.octet = filepath.Join(dir, "octet")
		if err := program.Build(context.Background(), o.octet); err != nil {
			return err
		}
	}
	w, err := open(o.octet, dir)
	defer w.close()
	if err != nil {
		return err
	}
	began := time.Now()
	w.load(o)
	w.print(time.Since(began))
	return w.verdict()
}

// load runs all clients and the reloads until the time is over or the gateway has ended.
func (w *world) load(o options) {
	ctx, cancel := context.WithTimeout(context.Background(), o.lasts)
	defer cancel()
	go func() {
		select {
		case <-w.gateway.Ended():
			w.violation("the gateway has ended: %s", tail(w.gateway.Output()))
			cancel()
		case <-ctx.Done():
		}
	}()
	var clients sync.WaitGroup
	for i := range o.bystanders {
		clients.Go(func() { w.bystand(ctx, i) })
	}
	for i := range o.late {
		clients.Go(func() { w.beLate(ctx, i) })
	}
	for i := range o.off {
		clients.Go(func() { w.hangUp(ctx, i) })
	}
	clients.Go(func() { w.reloadOften(ctx, o.lasts/time.Duration(o.reloads+1), o.reloads) })
	clients.Wait()
}

// verdict stops the gateway and returns what was violated.
func (w *world) verdict() error {
	select {
	case <-w.gateway.Ended():
	default:
		if code, err := w.gateway.Stop(30 * time.Second); err != nil || code != 0 {
			w.violation("SIGTERM: exit code %d, %v", code, err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.violations) > 0 {
		return fmt.Errorf("%d violations, the first: %s", w.violated, w.violations[0])
	}
	return nil
}

func (w *world) print(took time.Duration) {
	fmt.Printf(
		"%v: bystanders %d answered; with deadlines %d whole, %d ended typed, %d cut by their deadline; %d hang-ups; "+
			"%d reloads\n",
		took.Round(time.Second), w.calm.Load(), w.whole.Load(), w.typed.Load(), w.cut.Load(), w.hung.Load(),
		w.reloaded.Load())
}

func tail(s string) string { return s[max(0, len(s)-2000):] }
