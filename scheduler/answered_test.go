package scheduler

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"octet/kvpool"
)

// An answer that came whole says nothing about prefill: long ones must not have short deadlines refused. MEGA-50
func TestWholeAnswersDoNotPassForPrefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := func() *Gate {
			g, err := NewGate(GateConfig{Blocks: 256, BlockSize: 16, MaxRunning: 4, MaxWaiting: 4, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		serve := func(g *Gate, end func(*Ticket)) {
			for range 2 * rateSamples {
				ticket, err := g.Admit(context.Background(), GateRequest{PromptTokens: 64, MaxNew: 500, Chain: []kvpool.BlockHash{1, 2, 3, 4}})
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
		hurried := func() GateRequest {
			return GateRequest{PromptTokens: 64, MaxNew: 1, TTFTDeadline: time.Now().Add(5 * time.Second)}
		}
		whole := gate()
		serve(whole, func(t *Ticket) { t.Answered(500); t.Answered(500) })
		if a := whole.Probe(hurried()); a.State != Admitted {
			t.Errorf("after whole answers: %v, %v", a.State, a.Reason)
		}
		if s := whole.Stats(); s.Cached != 3 || s.Free != s.Total {
			t.Errorf("after whole answers: %+v", s)
		}
		slow := gate() // the same times as prefill are a reason to refuse
		serve(slow, (*Ticket).FirstToken)
		if a := slow.Probe(hurried()); a.State != Refused || !errors.Is(a.Reason, ErrDeadline) {
			t.Errorf("after slow prefills: %v, %v", a.State, a.Reason)
		}
	})
}
