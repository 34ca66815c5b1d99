package plugins_test

import (
	"strings"
	"testing"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

var pickOfPrefill = routing.NewSlot[index.HostID]("pick_of_prefill")

// MOD3-49, GAIE-35
func TestLongAndColdDecides(t *testing.T) {
	f := fleet.New()
	for h := range index.HostID(2) {
		spec := fleet.Spec{Name: string(rune('a' + h)), Specialist: "s", Host: h, BlockSize: 16}
		if _, err := f.Put(spec); err != nil {
			t.Fatal(err)
		}
	}
	handed := fleet.New() // where the answering replica computes no prompt
	for h := range index.HostID(2) {
		spec := fleet.Spec{Name: string(rune('a' + h)), Specialist: "s", Host: h, BlockSize: 16, OnlyHanded: h == 1}
		if _, err := handed.Put(spec); err != nil {
			t.Fatal(err)
		}
	}
	d := plugins.LongAndCold{MinPrompt: 100, MinUncached: 50, Pick: pickOfPrefill}
	for name, c := range map[string]struct {
		tokens, held  int // tokens of the prompt, blocks of it at the answering replica, which is 1
		picked        int // -1 means none
		before, after string
		only          bool // the answering replica computes none
	}{
		"long and cold":    {tokens: 160, picked: 0},
		"short":            {tokens: 99, picked: 0, before: "short: 99 tokens", after: ""},
		"just long enough": {tokens: 100, held: 3, picked: 0},
		"warm": {tokens: 160, held: 7, picked: 0,
			after: "warm: the answering replica holds 112 of 160"},
		"just cold enough":     {tokens: 162, held: 7, picked: 0},
		"one and the same":     {tokens: 160, picked: 1, after: "the answering replica prefills best itself"},
		"nobody knows of hits": {tokens: 160, held: -1, picked: -1},
		"short, handed":        {tokens: 9, picked: 0, only: true},
		"warm, handed":         {tokens: 160, held: 10, picked: 0, only: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := routing.Acquire(routing.Facts{})
			defer ctx.Release()
			seen := f
			if c.only {
				seen = handed
			}
			plugins.Fleet.Put(ctx, seen.Snapshot("s"))
			plugins.PromptTokens.Put(ctx, c.tokens)
			if c.held >= 0 {
				plugins.Depths.Put(ctx, &[index.MaxHosts]uint16{9, uint16(c.held)})
			}
			if c.picked >= 0 {
				pickOfPrefill.Put(ctx, index.HostID(c.picked))
			}
			if got := d.Before(ctx.View()); (got == "") != (c.before == "") || !strings.HasPrefix(got, c.before) {
				t.Errorf("before: %q, want %q", got, c.before)
			}
			if got := d.After(ctx.View(), 1); c.before == "" &&
				((got == "") != (c.after == "") || !strings.HasPrefix(got, c.after)) {
				t.Errorf("after: %q, want %q", got, c.after)
			}
		})
	}
	ctx := routing.Acquire(routing.Facts{})
	defer ctx.Release()
	plugins.Fleet.Put(ctx, handed.Snapshot("s"))
	plugins.PromptTokens.Put(ctx, 9)
	if got := d.After(ctx.View(), 0); !strings.HasPrefix(got, "short: 9 tokens") {
		t.Errorf("%q where another than the one that computes none answers", got)
	}
}
