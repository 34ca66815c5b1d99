package app

import (
	crand "crypto/rand"
	"log/slog"
	"sync/atomic"

	"octet/config"
	"octet/gateway/intake"
	"octet/gateway/tenant"
	"octet/gateway/tenant/budget"
	"octet/gateway/tenant/sharedrates"
)

// anonymousTenant is the name of requests without a key.
const anonymousTenant = config.Anonymous

// operatorTenant is the name of requests with the admin token. No tenant of a configuration can have it.
const operatorTenant = "@operator"

// tenancy is what the gateway keeps of tenants over generations.
type tenancy struct {
	log     *slog.Logger
	trust   *certificates
	sharing tenant.Sharing     // of tenants' rates and budgets with other gateways
	state   *budgetState       // auth.state; nil without one
	rates   *sharedrates.Rates // nil if rates are counted here alone
	random  []byte             // the secret of salts if the configuration has none
	token   string             // of operators, as on the admin listener: that of the start

	issuer  issuer
	earlier *tenant.Table                  // of the generation in force; guarded by App.buildMu
	weights atomic.Pointer[map[string]int] // of tenants' shares, in force; replaced whole
}

// newTenancy returns a tenancy whose rates and budgets are counted in a Redis, if one is configured.
func newTenancy(log *slog.Logger, cfg *config.Config, trust *certificates) (*tenancy, error) {
	t := &tenancy{random: []byte(crand.Text()), token: cfg.Admin.Token, log: log, trust: trust}
	t.weights.Store(&map[string]int{})
	t.issuer.changed = make(chan struct{}, 1)
	t.sharing.Ledger = budget.NewLedger(nil, 1)
	if c := cfg.Auth.Shared; c != nil {
		t.share(c)
	}
	var err error
	t.state, err = openState(cfg.Auth.State, t.sharing.Ledger, log)
	return t, err
}

// share has all gateways count together.
func (t *tenancy) share(c *config.SharedRates) {
	t.rates = sharedrates.New(sharedrates.Config{
		Addr: c.Addr, Username: c.Username, Password: c.Password, DB: c.DB, MaxReply: int64(c.MaxReply),
		Timeout: c.Timeout,
		Changed: func(away error) {
			if away != nil {
				t.log.Warn("shared rates cannot be asked: each gateway goes by its part of them", "redis", c.Addr,
					"error", away)
				return
			}
			t.log.Info("shared rates are back", "redis", c.Addr)
		},
	})
	t.sharing = tenant.Sharing{Rates: t.rates, Gateways: c.Gateways, Ledger: budget.NewLedger(t.rates, c.Gateways)}
}

// tell has other gateways told what tenants use, and rates cut into parts, unless a Redis counts for all.
func (t *tenancy) tell(told func(name string, u tenant.Used), parts *atomic.Int32) {
	if t.rates == nil {
		t.sharing.Told, t.sharing.Parts = told, parts
	}
}

// tenants returns the tenants of cfg, with what is counted of those in force.
func (t *tenancy) tenants(cfg *config.Config) (*tenant.Table, error) {
	secret := t.saltSecret(cfg)
	list := make([]tenant.Config, len(cfg.Auth.Tenants))
	for i, one := range cfg.Auth.Tenants {
		list[i] = tenant.Config{
			Name: one.Name, Keys: keysOf(&one), PriorityMax: one.PriorityMax,
			RefusePriority: one.PriorityPolicy == "refuse",
			Specialists:    one.Specialists, CacheSalt: one.CacheSalt, Secret: secret, ShareCache: cfg.Auth.ShareCache,
			MayDirect: one.MayDirect, MaxStreams: one.MaxStreams,
			RequestsPerSecond: one.Rate.RequestsPerSecond, Burst: one.Rate.Burst,
			TokensPerMinute: int(one.Rate.TokensPerMinute), Budget: budgetOf(one.Budget),
		}
	}
	var anonymous *tenant.Config
	if cfg.Auth.Anonymous {
		a := cfg.Auth.AnonymousLimits
		anonymous = &tenant.Config{
			Name: anonymousTenant, Secret: secret, PriorityMax: a.PriorityMax, MaxStreams: a.MaxStreams,
			RequestsPerSecond: a.Rate.RequestsPerSecond, Burst: a.Rate.Burst,
			TokensPerMinute: int(a.Rate.TokensPerMinute), Budget: budgetOf(a.Budget),
		}
	}
	table, err := tenant.NewTable(list, anonymous, t.earlier, t.sharing)
	if err != nil {
		return nil, err
	}
	verifier, err := t.verifierOf(cfg)
	if err != nil {
		return nil, err
	}
	table.WithTokens(verifier)
	table.WithOperator(t.token, tenant.Config{Name: operatorTenant, Secret: secret,
		PriorityMax: intake.PriorityMost, ShareCache: cfg.Auth.ShareCache})
	return table, nil
}

func keysOf(t *config.Tenant) (keys []tenant.Key) {
	for _, k := range t.AllKeys() {
		keys = append(keys, tenant.Key{SHA256: k.SHA256, Expires: k.Expiry()})
	}
	return keys
}

func budgetOf(b config.Budget) budget.Limits {
	return budget.Limits{Day: b.TokensPerDay, Month: b.TokensPerMonth}
}

// commit puts the tenants of cfg in force.
func (t *tenancy) commit(cfg *config.Config, tenants *tenant.Table) {
	t.earlier = tenants
	t.verify(cfg, tenants.Tokens())
	weights := tenantWeights(cfg)
	t.weights.Store(&weights)
}

// weight returns the share of a tenant in force.
func (t *tenancy) weight(tenant string) int { return (*t.weights.Load())[tenant] }

// saltSecret returns the secret that tenants' cache salts are derived from: the configured one, else a random one of
// this process.
func (t *tenancy) saltSecret(cfg *config.Config) []byte {
	if cfg.Auth.Secret != "" {
		return []byte(cfg.Auth.Secret)
	}
	return t.random
}

func (t *tenancy) close() {
	if t.rates != nil {
		_ = t.rates.Close() // idle connections only
	}
}

// tenantWeights returns the tenants' shares of a busy replica.
func tenantWeights(cfg *config.Config) map[string]int {
	weights := map[string]int{anonymousTenant: cfg.Auth.AnonymousLimits.Weight, operatorTenant: 1}
	for _, t := range cfg.Auth.Tenants {
		weights[t.Name] = t.Weight
	}
	return weights
}
