package app

import (
	crand "crypto/rand"
	"log/slog"
	"sync/atomic"

	"octet/config"
	"octet/gateway/intake"
	"octet/gateway/tenant"
	"octet/gateway/tenant/sharedrates"
)

// anonymousTenant is the name of requests without a key.
const anonymousTenant = config.Anonymous

// operatorTenant is the name of requests with the admin token. No tenant of a configuration can have it.
const operatorTenant = "@operator"

// tenancy is what the gateway keeps of tenants over generations.
type tenancy struct {
	sharing tenant.Sharing     // of tenants' rates with other gateways
	rates   *sharedrates.Rates // nil if rates are counted here alone
	random  []byte             // the secret of salts if the configuration has none
	token   string             // of operators, as on the admin listener: that of the start

	earlier *tenant.Table                  // of the generation in force; guarded by App.buildMu
	weights atomic.Pointer[map[string]int] // of tenants' shares, in force; replaced whole
}

// newTenancy returns a tenancy whose rates are counted in a Redis, if one is configured. token is the admin listener's.
func newTenancy(log *slog.Logger, c *config.SharedRates, token string) *tenancy {
	t := &tenancy{random: []byte(crand.Text()), token: token}
	t.weights.Store(&map[string]int{})
	if c == nil {
		return t
	}
	t.rates = sharedrates.New(sharedrates.Config{
		Addr: c.Addr, Username: c.Username, Password: c.Password, DB: c.DB, MaxReply: int64(c.MaxReply),
		Timeout: c.Timeout,
		Changed: func(away error) {
			if away != nil {
				log.Warn("shared rates cannot be asked: each gateway goes by its part of them", "redis", c.Addr,
					"error", away)
				return
			}
			log.Info("shared rates are back", "redis", c.Addr)
		},
	})
	t.sharing = tenant.Sharing{Rates: t.rates, Gateways: c.Gateways}
	return t
}

// tenants returns the tenants of cfg, with what is counted of those in force.
func (t *tenancy) tenants(cfg *config.Config) (*tenant.Table, error) {
	secret := t.saltSecret(cfg)
	list := make([]tenant.Config, len(cfg.Auth.Tenants))
	for i, one := range cfg.Auth.Tenants {
		list[i] = tenant.Config{
			Name: one.Name, KeySHA256: one.KeySHA256, PriorityMax: one.PriorityMax,
			RefusePriority: one.PriorityPolicy == "refuse",
			Specialists:    one.Specialists, CacheSalt: one.CacheSalt, Secret: secret, ShareCache: cfg.Auth.ShareCache,
			MayDirect: one.MayDirect, MaxStreams: one.MaxStreams,
			RequestsPerSecond: one.Rate.RequestsPerSecond, Burst: one.Rate.Burst,
			TokensPerMinute: int(one.Rate.TokensPerMinute),
		}
	}
	var anonymous *tenant.Config
	if cfg.Auth.Anonymous {
		a := cfg.Auth.AnonymousLimits
		anonymous = &tenant.Config{
			Name: anonymousTenant, Secret: secret, PriorityMax: a.PriorityMax, MaxStreams: a.MaxStreams,
			RequestsPerSecond: a.Rate.RequestsPerSecond, Burst: a.Rate.Burst,
			TokensPerMinute: int(a.Rate.TokensPerMinute),
		}
	}
	table, err := tenant.NewTable(list, anonymous, t.earlier, t.sharing)
	if err != nil {
		return nil, err
	}
	table.WithOperator(t.token, tenant.Config{Name: operatorTenant, Secret: secret,
		PriorityMax: intake.PriorityMost, ShareCache: cfg.Auth.ShareCache})
	return table, nil
}

// commit puts the tenants of cfg in force.
func (t *tenancy) commit(cfg *config.Config, tenants *tenant.Table) {
	t.earlier = tenants
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
