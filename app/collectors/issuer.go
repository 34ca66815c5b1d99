package collectors

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/gateway/tenant/bearer"
)

var (
	jwksKeysDesc = prometheus.NewDesc("octet_jwks_keys", "Keys of the issuer of tokens that are known.", nil, nil)
	jwksAgeDesc  = prometheus.NewDesc("octet_jwks_age_seconds",
		"Time since the keys of the issuer could be read last; they are used for auth.jwt.keep_for.", nil, nil)
	jwksReadDesc = prometheus.NewDesc("octet_jwks_reads_total", "Attempts to read the keys of the issuer.",
		[]string{"outcome"}, nil)
	tokensDesc = prometheus.NewDesc("octet_jwt_remembered", "Verified tokens that are remembered.", nil, nil)
)

// Issuer tells what is known of the issuer of tokens: a prometheus.Collector. Without one it tells nothing.
type Issuer struct {
	Verifier func() *bearer.Verifier
}

// Describe implements prometheus.Collector.
func (Issuer) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{jwksKeysDesc, jwksAgeDesc, jwksReadDesc, tokensDesc} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (i Issuer) Collect(to chan<- prometheus.Metric) {
	v := i.Verifier()
	if v == nil {
		return
	}
	s := v.State(time.Now())
	to <- prometheus.MustNewConstMetric(jwksKeysDesc, prometheus.GaugeValue, float64(s.Keys))
	to <- prometheus.MustNewConstMetric(jwksAgeDesc, prometheus.GaugeValue, s.Age.Seconds())
	to <- prometheus.MustNewConstMetric(jwksReadDesc, prometheus.CounterValue, float64(s.Good), "ok")
	to <- prometheus.MustNewConstMetric(jwksReadDesc, prometheus.CounterValue, float64(s.Lost), "failed")
	to <- prometheus.MustNewConstMetric(tokensDesc, prometheus.GaugeValue, float64(s.Remembered))
}
