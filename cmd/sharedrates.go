package cmd

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/config"
	"octet/gateway/tenant"
	"octet/gateway/tenant/sharedrates"
)

// shareRates has tenants' rates counted in a Redis, where one is configured.
func (h *house) shareRates(c *config.SharedRates) {
	if c == nil {
		return
	}
	h.rates = sharedrates.New(sharedrates.Config{
		Addr: c.Addr, Username: c.Username, Password: c.Password, DB: c.DB, MaxReply: int64(c.MaxReply),
		Timeout: c.Timeout,
		Changed: func(away error) {
			if away != nil {
				h.log.Warn("shared rates cannot be asked: each gateway goes by its part of them", "redis", c.Addr,
					"error", away)
				return
			}
			h.log.Info("shared rates are back", "redis", c.Addr)
		},
	})
	h.sharing = tenant.Sharing{Rates: h.rates, Gateways: c.Gateways}
	h.metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "octet_shared_rates_away",
		Help: "1 while the Redis that counts rates cannot be asked, and gateways go by their parts of them.",
	}, func() float64 {
		if h.rates.Away() {
			return 1
		}
		return 0
	}))
}
