package shadow

import (
	"testing"
	"time"

	"octet/gateway/receipt"
)

// MEGA-54: the verifier's verdicts are published as the kind that they are of. With a tenant's verdict of that kind on
// the same answer they are one sample of it, which passes when both pass.
func TestTheVerifiersVerdictsAreOfAKind(t *testing.T) {
	for _, first := range []bool{true, false} { // the tenant's verdict, and who speaks first
		rt, rings, v, _ := scene(t)
		a := Audit{Verifier: verifying{pass: false}, Kind: "compile", Verdicts: v, Rings: rings, Now: time.Now}
		r, _ := rings.Find("acme", "r")
		tenants := receipt.Outcome{Kind: "compile", Pass: true, Time: time.Now(), By: "acme"}
		if first {
			v.OnAnswer(rt, r, tenants)
		}
		a.OnAnswer(rt, r, "text")
		v.OnAnswer(rt, r, tenants)
		v.OnAnswer(rt, r, receipt.Outcome{Kind: "review", Pass: true, Time: time.Now(), By: "acme"})
		saved := rt.Specialists[0].Board.Breaker().Save(time.Now()).Kinds
		for kind, want := range map[string][2]int{"compile": {1, 0}, "other": {1, 1}} {
			all, pass := 0, 0
			for _, slot := range saved[kind] {
				all, pass = all+slot.All, pass+slot.Pass
			}
			if [2]int{all, pass} != want {
				t.Errorf("the tenant first: %v: of %s there are %d and %d passed, want %v", first, kind, all, pass,
					want)
			}
		}
	}
}
