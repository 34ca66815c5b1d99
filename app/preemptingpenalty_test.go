package app_test

import (
	"context"
	"testing"

	"octet/app"
	"octet/scheduler/gate"
)

// MEGA-20: over HTTP, between two replicas without a queue the one that is preempting at the moment gets the penalty,
// and the other one the request.
func TestAPreemptingReplicaComesAfterItsEqual(t *testing.T) {
	w := newWorld(t, worldWith("least-load", ""), smallEngines(), "specialists[0].scheduler.max_running=1")
	picked := func() string { // first, and not because another had no place
		resp, _ := w.Post("/v1/chat/completions", hello)
		if resp.Header.Get("X-Attempts") != "1" {
			return "several"
		}
		return resp.Header.Get("X-Replica")
	}
	if got := picked(); got != app.Opaque("debug-0") {
		t.Fatalf("of two idle replicas %s", got)
	}
	g := w.gate("debug-0")
	low, err := g.Admit(t.Context(), gate.Request{ID: "low", PromptTokens: 16, MaxNew: 8, Priority: -1, Victim: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = g.Admit(ctx, gate.Request{ID: "high", PromptTokens: 16, MaxNew: 8})
	}()
	eventually(t, "the less urgent is told to give way", g.Preempting)
	if got := picked(); got != app.Opaque("debug-1") {
		t.Errorf("of two equal replicas %s is picked, and debug-0 preempts", got)
	}
	leave()
	<-left
	low.Release()
	eventually(t, "the penalty is over", func() bool { return picked() == app.Opaque("debug-0") })
	eventually(t, "ledgers at their baseline", w.Quiet)
}
