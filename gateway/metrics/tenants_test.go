package metrics

import (
	"fmt"
	"testing"
)

// With 10,000 tenants and 10,000 specialists the page has as many lines as it may, and no token is lost in the folding.
func TestTenThousandTenantsAndSpecialistsHaveAPageOfTheirBound(t *testing.T) {
	m := New("", "", "")
	const n = 10_000
	for i := range n {
		e := &Ending{Status: 200, PromptTokens: 7, CachedTokens: 2, CompletionTokens: 3}
		m.Ended(m.Specialist(fmt.Sprint("s", i)), "", e)
		m.Spent(fmt.Sprint("t", i), e)
	}
	families, err := m.Bounded(func() int { return 5000 }).Gather()
	if err != nil {
		t.Fatal(err)
	}
	all, sums := 0, map[string]float64{}
	for _, f := range families {
		all += lines(f)
		for _, one := range f.Metric {
			if one.Counter != nil {
				sums[f.GetName()] += one.Counter.GetValue()
			}
		}
	}
	if all > 5000 {
		t.Errorf("%d lines", all)
	}
	for _, name := range []string{"octet_tenant_tokens_total", "octet_tokens_total"} {
		if sums[name] != 12*n {
			t.Errorf("%s: %v tokens of %d", name, sums[name], 12*n)
		}
	}
}

// Tenants beyond the bound are counted together, and take no memory.
func TestTenantsInMemoryAreBounded(t *testing.T) {
	m := New("", "", "")
	for i := range mostTenants + 1000 {
		m.Spent(fmt.Sprint("t", i), &Ending{PromptTokens: 1})
	}
	if n := len(m.tenants.all); n != mostTenants+1 {
		t.Errorf("%d tenants", n)
	}
	if n := m.tenants.of("other").prompt.Load(); n != 1000 {
		t.Errorf("%d tokens of others", n)
	}
}

// A request's tokens are counted without an allocation.
func BenchmarkSpent(b *testing.B) {
	m, e := New("", "", ""), &Ending{PromptTokens: 7, CachedTokens: 2, CompletionTokens: 3}
	b.ReportAllocs()
	for b.Loop() {
		m.Spent("acme", e)
	}
}
