package gate

import (
	"testing"

	"octet/kvpool"
)

// A Gate is asked with a chain in memory that is the next request's as soon as it has answered. What it believes to be
// cached is its own request's prompt, whether that has found a place at once or waited for it.
func TestTheGateReadsNoChainAfterItWasAsked(t *testing.T) {
	for name, queued := range map[string]bool{"at once": false, "from the queue": true} {
		t.Run(name, func(t *testing.T) {
			gated(t, Config{Blocks: 32, BlockSize: 4, MaxRunning: 1, MaxWaiting: 1}, func(t *testing.T, g *Gate) {
				own, foreign := chainFrom(100), chainFrom(900)
				room := append([]kvpool.BlockHash(nil), own...)
				r := Request{ID: "own", PromptTokens: 24, Chain: room}
				var ticket *Ticket
				if queued {
					first := admitted(t, g, ofBlocks(1))
					got := waits(t, g, r)
					copy(room, foreign)
					first.Release()
					ticket = wantTicket(t, got)
				} else {
					ticket = admitted(t, g, r)
					copy(room, foreign)
				}
				ticket.FirstToken()
				ticket.Release()
				for chain, want := range map[*[6]kvpool.BlockHash]int{(*[6]kvpool.BlockHash)(own): 5,
					(*[6]kvpool.BlockHash)(foreign): 0} {
					next := admitted(t, g, Request{ID: "next", PromptTokens: 24, Chain: chain[:]})
					if next.Reused() != want {
						t.Errorf("%d blocks of %d are cached, want %d", next.Reused(), chain[0], want)
					}
					next.Release()
				}
			})
		})
	}
}

// chainFrom returns the chain of six blocks that begins with h.
func chainFrom(h kvpool.BlockHash) []kvpool.BlockHash {
	chain := make([]kvpool.BlockHash, 6)
	for i := range chain {
		chain[i] = h + kvpool.BlockHash(i)
	}
	return chain
}
