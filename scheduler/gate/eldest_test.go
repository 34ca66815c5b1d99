package gate

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"octet/scheduler/queue"
)

// Issue 22, point 2: the requests that have been there longest, whatever they do, and how many wait at each priority.
func TestAGateTellsItsEldestRequests(t *testing.T) {
	gated(t, Config{MaxRunning: 2, MaxWaiting: 9, Blocks: 64, BlockSize: 16}, func(t *testing.T, g *Gate) {
		began := time.Now()
		first := admitted(t, g, Request{ID: "first", Tenant: "acme", Adapter: "v2", PromptTokens: 40, MaxNew: 60})
		time.Sleep(time.Second)
		second := admitted(t, g, Request{ID: "second", PromptTokens: 10, MaxNew: 60, Priority: -101,
			Arrived: began.Add(-time.Minute)})
		second.FirstToken()
		third := waits(t, g, Request{ID: "third", PromptTokens: 7, MaxNew: 6, Priority: 3})
		time.Sleep(time.Second)
		fourth := waits(t, g, Request{ID: "fourth", PromptTokens: 7, MaxNew: 6, Priority: 5})
		want := []Held{
			{ID: "second", Priority: -101, Stage: StageAnswering, Arrived: began.Add(-time.Minute), Prompt: 10,
				Blocks: 1},
			{ID: "first", Tenant: "acme", Adapter: "v2", Stage: StagePrefilling, Arrived: began, Prompt: 40, Blocks: 3},
			{ID: "third", Priority: 3, Stage: StageWaiting, Arrived: began.Add(time.Second), Waited: time.Second,
				Prompt: 7},
			{ID: "fourth", Priority: 5, Stage: StageWaiting, Arrived: began.Add(2 * time.Second), Prompt: 7},
		}
		for most := range 6 {
			got := g.Eldest(most)
			for i := range got {
				got[i].Generated = 0 // as far as is reported
			}
			if !slices.Equal(got, want[:min(most, 4)]) {
				t.Errorf("%d eldest:\n%+v\nwant\n%+v", most, got, want[:min(most, 4)])
			}
		}
		if got := g.Levels(); !slices.Equal(got, []queue.Level{{Priority: 5, Waiting: 1}, {Priority: 3, Waiting: 1}}) {
			t.Errorf("%+v", got)
		}
		first.Release()
		second.Release()
		wantTicket(t, fourth).Release()
		wantTicket(t, third).Release()
		if got := g.Levels(); got != nil || len(g.Eldest(9)) != 0 {
			t.Errorf("%+v of an idle gate", got)
		}
	})
}

// Beside an oracle that sorts all, for every bound.
func TestTheEldestAreThoseThatCameFirst(t *testing.T) {
	gated(t, Config{MaxRunning: 40, MaxWaiting: 40}, func(t *testing.T, g *Gate) {
		began := time.Now()
		var all []string
		for i := range 40 {
			admitted(t, g, Request{ID: fmt.Sprintf("%02d", i*17%40), PromptTokens: 1, MaxNew: 1,
				Arrived: began.Add(time.Duration(i*17%40) * time.Second)})
			all = append(all, fmt.Sprintf("%02d", i))
		}
		synctest.Wait()
		for most := range 50 {
			var ids []string
			for _, h := range g.Eldest(most) {
				ids = append(ids, h.ID)
			}
			if want := all[:min(most, len(all))]; !slices.Equal(ids, want) {
				t.Errorf("%d eldest: %q", most, ids)
			}
		}
	})
}
