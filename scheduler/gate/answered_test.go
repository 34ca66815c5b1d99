package gate

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"octet/kvpool"
	"octet/scheduler"
)

// An answer that came whole says nothing about prefill: long ones must not have short deadlines refused. MEGA-50
func TestWholeAnswersDoNotPassForPrefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := func() *Gate {
			g, err := New(Config{Blocks: 256, BlockSize: 16, MaxRunning: 4, MaxWaiting: 4, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		serve := func(g *Gate, end func(*Ticket)) {
			for range 2 * rateSamples {
				ticket, err := g.Admit(context.Background(),
					Request{PromptTokens: 64, MaxNew: 500, Chain: []kvpool.BlockHash{1, 2, 3, 4}})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Second)
				end(ticket)
				if err := g.Check(); err != nil {
					t.Fatal(err)
				}
				ticket.Release()
			}
		}
		hurried := func() Request {
			return Request{PromptTokens: 64, MaxNew: 1, TTFTDeadline: time.Now().Add(5 * time.Second)}
		}
		whole := gate()
		serve(whole, func(t *Ticket) { t.Answered(500); t.Answered(500) })
		if a := whole.Probe(hurried()); a.State != scheduler.Admitted {
			t.Errorf("after whole answers: %v, %v", a.State, a.Reason)
		}
		if s := whole.Stats(); s.Cached != 3 || s.Free != s.Total {
			t.Errorf("after whole answers: %+v", s)
		}
		slow := gate() // the same times as prefill are a reason to refuse
		serve(slow, (*Ticket).FirstToken)
		if a := slow.Probe(hurried()); a.State != scheduler.Refused || !errors.Is(a.Reason, scheduler.ErrDeadline) {
			t.Errorf("after slow prefills: %v, %v", a.State, a.Reason)
		}
	})
}

// Complete leaves a gate as Pin, Answered, Cached and Release do.
func TestCompleteIsItsPartsInOneStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type end func(t *Ticket, n, cached int) bool
		parts := func(t *Ticket, n, cached int) bool {
			if !t.Pin() {
				return false
			}
			t.Answered(n)
			if cached >= 0 {
				t.Cached(cached)
			}
			t.Release()
			return true
		}
		run := func(end end) (all []any) {
			g, err := New(Config{Blocks: 16, BlockSize: 16, MaxRunning: 2, MaxWaiting: 4, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 200 {
				if i > 100 { // blocks of the pool are not there to be had
					g.Reconcile(Observed{HasUsage: true, KVUsage: float64(i%7) / 8})
				}
				chain := []kvpool.BlockHash{1, 2, kvpool.BlockHash(i % 3), kvpool.BlockHash(100 + i)}
				low, err := g.Admit(t.Context(),
					Request{PromptTokens: 70, MaxNew: 40, Chain: chain, Victim: true, Whole: true})
				if err != nil {
					t.Fatal(err)
				}
				other, err := g.Admit(t.Context(), Request{PromptTokens: 20, MaxNew: 40, Victim: true, Whole: true})
				if err != nil {
					t.Fatal(err)
				}
				in := make(chan *Ticket, 1)
				go func() {
					urgent, _ := g.Admit(t.Context(), Request{PromptTokens: 70, Priority: i % 2, Chain: chain})
					in <- urgent
				}()
				synctest.Wait()
				time.Sleep(time.Second)
				all = append(all, end(low, 30+i*7%300, i%4*16-1), end(other, 3+i%50, -1))
				low.Release()
				other.Release()
				(<-in).Release()
				if err := g.Check(); err != nil {
					t.Fatal(err)
				}
				all = append(all, g.Stats(), g.Calibration(), end(low, 1, 1) == low.Yielding(),
					*g.model.engine.ledger.pool)
			}
			return all
		}
		if got, want := fmt.Sprint(run(func(t *Ticket, n,
			cached int) bool {
			return t.Complete(n, cached, time.Time{})
		})), fmt.Sprint(run(parts)); got != want {
			t.Errorf("in one step\n%s\nin parts\n%s", got, want)
		}
	})
}
