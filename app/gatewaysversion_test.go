package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
)

// Gateways get a specialist's new version one after the other. A verdict on an answer of the old one, given before or
// after the reload, with or without an adapter, says nothing of the new one at a gateway that has it already; verdicts
// on the new one's count at both.
func TestAVerdictCountsForTheVersionThatAnsweredAlone(t *testing.T) {
	yaml := strings.Replace(groupWorld, "    tokenizer: builtin\n", `    tokenizer: builtin
    version: "1"
    adapters: [{name: gdb-v2, version: "7"}]
    slo: {correctness: {floor: 0, min_samples: 2}}
`, 1)
	engines := []emulator.Config{{Name: "one", Model: "debug", Blocks: 512, Step: time.Millisecond, PrefillTPS: 200000,
		Adapters: []string{"gdb-v2"}}}
	eachStoreOver(t, yaml, engines, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		g.first.Key = acmeKey
		answers := func() (ids []string) {
			for _, model := range []string{"debug", "debug:gdb-v2"} {
				id, _ := g.first.answered(fmt.Sprintf(
					`{"model":%q,"max_tokens":2,"messages":[{"role":"user","content":"x"}]}`, model))
				ids = append(ids, id)
			}
			return ids
		}
		judge := func(ids []string, pass bool) {
			for _, id := range ids {
				if !g.first.judge(id, pass) {
					t.Error("a verdict does not count")
				}
			}
		}
		reload := func(w *world, name string) {
			if err := w.App.Apply(t.Context(), g.config(name)); err != nil {
				t.Fatal(err)
			}
		}
		g.yaml = strings.Replace(yaml, `version: "1"`, `version: "2"`, 1)
		reload(b, "gw-b")
		judge(answers(), false)
		late := answers()
		reload(g.first, "gw-a")
		judge(late, false)
		judge(answers(), true) // told after those of before
		for name, w := range map[string]*world{"gw-a": g.first, "gw-b": b} {
			rate := func() (r float64, of int) {
				c := w.App.Server().Runtime().Specialist("debug").Board.Report().Correctness
				if c.Rate == nil {
					return 0, c.Samples
				}
				return *c.Rate, c.Samples
			}
			eventually(t, "the last ones count at "+name, func() bool { r, _ := rate(); return r > 0 })
			if r, n := rate(); r != 1 || n != 2 {
				t.Errorf("%s: of %d verdicts, %v pass, want 1 of the 2 on its version", name, n, r)
			}
		}
	})
}
