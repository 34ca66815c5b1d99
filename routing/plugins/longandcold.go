package plugins

import (
	"fmt"

	"octet/routing"
	"octet/routing/index"
)

// LongAndCold is the routing.Decider of disaggregated prefill: a replica of its own is worth it for a prompt that is
// long, and of which the replica that answers lacks much. A replica that computes none has it computed elsewhere in any
// case.
type LongAndCold struct {
	MinPrompt   int // tokens; shorter prompts are not worth it
	MinUncached int // tokens that the answering replica lacks; fewer are not worth it
	// Pick is where the prefill leg left its candidate; the zero Slot is nowhere.
	Pick routing.Slot[index.HostID]
}

// Reads implements routing.Decider.
func (LongAndCold) Reads() []routing.AnySlot { return reads(PromptTokens) }

// Before implements routing.Decider.
func (d LongAndCold) Before(v routing.View) string {
	if handed := Fleet.Get(v).OnlyHanded(); !handed.Empty() {
		return "" // it depends on which replica answers
	}
	return d.short(v)
}

// short is why a prompt is not worth another replica whatever is cached of it.
func (d LongAndCold) short(v routing.View) string {
	if n := PromptTokens.Get(v); n < d.MinPrompt {
		return fmt.Sprintf("short: %d tokens, fewer than %d", n, d.MinPrompt)
	}
	return ""
}

// After implements routing.Decider. Without knowledge of what is cached, nothing counts as cached.
func (d LongAndCold) After(v routing.View, last index.HostID) string {
	if handed := Fleet.Get(v).OnlyHanded(); handed.Has(last) {
		return ""
	}
	if why := d.short(v); why != "" {
		return why
	}
	if d.Pick.Has(v) && d.Pick.Get(v) == last {
		return "the answering replica prefills best itself"
	}
	cached := 0
	if depths := Depths.Get(v); depths != nil {
		cached = int(depths[last]) * Fleet.Get(v).BlockSize()
	}
	if n := PromptTokens.Get(v); n-cached < d.MinUncached {
		return fmt.Sprintf("warm: the answering replica holds %d of %d tokens", cached, n)
	}
	return ""
}
