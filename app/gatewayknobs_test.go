package app_test

import (
	"testing"

	"octet/engine/emulator"
	"octet/slo"
)

// A knob that is set at a gateway holds at another one once that has the specialist of the knob, and again after it was
// taken out there and put back.
func TestAKnobHoldsAtAGatewayThatGetsItsSpecialistLater(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		const knob = slo.LoadFloor + "later"
		without, with := g.yaml, g.yaml+`
  - name: later
    tokenizer: builtin
    replicas: [{name: two, url: "`+g.first.Start(emulator.Config{Name: "two", Model: "later"}).URL+`", blocks: 512}]
`
		apply := func(w *world, name, yaml string) {
			g.yaml = yaml
			if err := w.App.Apply(t.Context(), g.config(name)); err != nil {
				t.Fatal(err)
			}
		}
		apply(g.first, "gw-a", with)
		if err := g.first.App.Knobs().Set(knob, slo.Override{Value: 7}); err != nil {
			t.Fatal(err)
		}
		known := slo.LoadFloor + "debug" // it is told after the other
		if err := g.first.App.Knobs().Set(known, slo.Override{Value: 8}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "they are told", func() bool { v, _ := b.App.Knobs().Value(known); return v == 8 })
		for _, yaml := range []string{with, without, with} {
			apply(b, "gw-b", yaml)
			if v, there := b.App.Knobs().Value(knob); there != (yaml == with) || there && v != 7 {
				t.Errorf("the knob is %v", v)
			}
		}
	})
}
