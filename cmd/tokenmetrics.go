package cmd

import "github.com/prometheus/client_golang/prometheus"

// tokenMetrics reads what the tokenizers have done at the moment of a scrape.
type tokenMetrics struct{ t *tokenizers }

var (
	tokenExactDesc = prometheus.NewDesc("octet_tokenizer_exact",
		"1 unless the engine tokenizes otherwise than we do, which makes the replica scored approximately.",
		[]string{"replica"}, nil)
	tokenChecksDesc = prometheus.NewDesc("octet_tokenizer_checks_total",
		"Prompts whose tokens were compared with the engine's own.", []string{"replica", "result"}, nil)
	tokenTextDesc = prometheus.NewDesc("octet_tokenizer_text_bytes_total",
		"Prompt text tokenized in the gateway: encoded, or remembered from an earlier prompt.", []string{"source"}, nil)
	tokenBytesDesc = prometheus.NewDesc("octet_tokenizer_cache_bytes", "Memory of the cache of prompts' beginnings.",
		nil, nil)
)

// Describe implements prometheus.Collector.
func (m tokenMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{tokenExactDesc, tokenChecksDesc, tokenTextDesc, tokenBytesDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m tokenMetrics) Collect(out chan<- prometheus.Metric) {
	m.checks(out)
	cache := m.t.cache.Load()
	if cache == nil {
		return
	}
	s := cache.Stats()
	out <- prometheus.MustNewConstMetric(tokenTextDesc, prometheus.CounterValue, float64(s.TextBytes-s.ReusedBytes),
		"encoded")
	out <- prometheus.MustNewConstMetric(tokenTextDesc, prometheus.CounterValue, float64(s.ReusedBytes), "remembered")
	out <- prometheus.MustNewConstMetric(tokenBytesDesc, prometheus.GaugeValue, float64(s.Bytes))
}

func (m tokenMetrics) checks(out chan<- prometheus.Metric) {
	c := m.t.checks
	c.mu.Lock()
	defer c.mu.Unlock()
	for replica, k := range c.by {
		trust := 1.0
		if k.State == approximate {
			trust = 0
		}
		out <- prometheus.MustNewConstMetric(tokenExactDesc, prometheus.GaugeValue, trust, replica)
		out <- prometheus.MustNewConstMetric(tokenChecksDesc, prometheus.CounterValue, float64(k.Checked-k.Differed),
			replica, "same")
		out <- prometheus.MustNewConstMetric(tokenChecksDesc, prometheus.CounterValue, float64(k.Differed), replica,
			"different")
	}
}
