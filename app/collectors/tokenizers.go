package collectors

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/engine/tokenizers"
)

// Tokenizers reads what the tokenizers have done at a scrape.
type Tokenizers struct{ Of *tokenizers.Tokenizers }

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
func (m Tokenizers) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{tokenExactDesc, tokenChecksDesc, tokenTextDesc, tokenBytesDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m Tokenizers) Collect(out chan<- prometheus.Metric) {
	m.checks(out)
	s, ok := m.Of.Cache()
	if !ok {
		return
	}
	count(out, tokenTextDesc, s.TextBytes-s.ReusedBytes, "encoded")
	count(out, tokenTextDesc, s.ReusedBytes, "remembered")
	gauge(out, tokenBytesDesc, float64(s.Bytes))
}

func (m Tokenizers) checks(out chan<- prometheus.Metric) {
	m.Of.Checks().Each(func(replica string, k tokenizers.Check) {
		trust := 1.0
		if k.State == tokenizers.Approximate {
			trust = 0
		}
		gauge(out, tokenExactDesc, trust, replica)
		count(out, tokenChecksDesc, k.Checked-k.Differed, replica, "same")
		count(out, tokenChecksDesc, k.Differed, replica, "different")
	})
}
