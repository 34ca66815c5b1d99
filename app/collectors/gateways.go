package collectors

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/app/peering"
)

// Gateways tells of the other gateways before the same replicas, at the moment of a scrape. It is a
// prometheus.Collector.
type Gateways struct {
	Read func() (peers int, away bool, c peering.Counts)
}

var (
	gatewaysDesc = prometheus.NewDesc("octet_gateways", "Gateways before the same replicas, this one included.", nil,
		nil)
	gatewaysAwayDesc = prometheus.NewDesc("octet_gateways_store_away",
		"Whether the store at which gateways meet cannot be asked: this one goes on alone then.", nil, nil)
	gatewayMessagesDesc = prometheus.NewDesc("octet_gateway_messages_total",
		"Messages between gateways: sent, failed, lost (of others), refused (of others).", []string{"result"}, nil)
	gatewayUnsharedDesc = prometheus.NewDesc("octet_gateway_unshared_keys_total",
		"Idempotency keys that were used at this gateway alone: the store could not be asked.", nil, nil)
	gatewayBytesDesc = prometheus.NewDesc("octet_gateway_sent_bytes_total", "Bytes of the messages that were sent.",
		nil, nil)
)

// Describe implements prometheus.Collector.
func (c Gateways) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{gatewaysDesc, gatewaysAwayDesc, gatewayMessagesDesc, gatewayBytesDesc,
		gatewayUnsharedDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c Gateways) Collect(out chan<- prometheus.Metric) {
	others, away, n := c.Read()
	gauge(out, gatewaysDesc, float64(others+1))
	gauge(out, gatewaysAwayDesc, map[bool]float64{true: 1}[away])
	for _, of := range []struct {
		result string
		n      uint64
	}{{"sent", n.Sent}, {"failed", n.Failed}, {"lost", n.Lost}, {"refused", n.Refused}} {
		out <- prometheus.MustNewConstMetric(gatewayMessagesDesc, prometheus.CounterValue, float64(of.n), of.result)
	}
	out <- prometheus.MustNewConstMetric(gatewayBytesDesc, prometheus.CounterValue, float64(n.Bytes))
	out <- prometheus.MustNewConstMetric(gatewayUnsharedDesc, prometheus.CounterValue, float64(n.Unshared))
}
