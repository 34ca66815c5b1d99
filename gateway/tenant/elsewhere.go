package tenant

import "time"

// Used is what a tenant has used: what its rates and its budget are charged with. Tokens and Budget may be negative,
// where less was used than was charged before.
type Used struct {
	Requests int
	Tokens   int // of its token rate
	Budget   int // tokens of its day and month
}

// tell tells of what was used here.
func (t *Tenant) tell(u Used) {
	if t.told != nil && u != (Used{}) {
		t.told(t.Name, u)
	}
}

// Elsewhere charges a tenant with what other gateways have served it. A tenant that is not declared is charged nothing.
func (t *Table) Elsewhere(name string, u Used, now time.Time) {
	one := t.named(name)
	if one == nil {
		return
	}
	one.requests.spend(now, u.Requests)
	one.tokens.spend(now, u.Tokens)
	one.account.Hear(now, int64(u.Budget))
}
