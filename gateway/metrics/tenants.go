package metrics

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// mostTenants bounds the tenants that have counts of their own: names that a configuration lists are fewer. Further
// ones are counted as "other".
const mostTenants = 1 << 14

// tenants counts the tokens of each tenant: a prometheus.Collector.
type tenants struct {
	desc *prometheus.Desc

	mu  sync.RWMutex
	all map[string]*spent // guarded by mu
}

// spent is what one tenant's requests took and brought, in tokens.
type spent struct{ prompt, cached, completion atomic.Uint64 }

func newTenants() *tenants {
	return &tenants{all: map[string]*spent{}, desc: prometheus.NewDesc("octet_tenant_tokens_total",
		"Tokens of requests that a replica took up, by tenant and kind; cached ones are among those of the prompt. "+
			"Requests without a key are of the tenant anonymous.", []string{"tenant", "kind"}, nil)}
}

// Spent counts a finished request's tokens for its tenant.
func (m *Series) Spent(tenant string, e *Ending) {
	s := m.tenants.of(tenant)
	s.prompt.Add(uint64(max(e.PromptTokens, 0)))
	s.cached.Add(uint64(max(e.CachedTokens, 0)))
	s.completion.Add(uint64(max(e.CompletionTokens, 0)))
}

// of returns a tenant's counts.
func (t *tenants) of(name string) *spent {
	t.mu.RLock()
	s := t.all[name]
	t.mu.RUnlock()
	if s != nil {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[name] == nil && len(t.all) >= mostTenants {
		name = "other"
	}
	if s = t.all[name]; s == nil {
		s = new(spent)
		t.all[name] = s
	}
	return s
}

// Describe implements prometheus.Collector.
func (t *tenants) Describe(to chan<- *prometheus.Desc) { to <- t.desc }

// Collect implements prometheus.Collector.
func (t *tenants) Collect(to chan<- prometheus.Metric) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for name, s := range t.all {
		for kind, n := range map[string]uint64{"prompt": s.prompt.Load(), "cached": s.cached.Load(),
			"completion": s.completion.Load()} {
			to <- prometheus.MustNewConstMetric(t.desc, prometheus.CounterValue, float64(n), name, kind)
		}
	}
}
