package collectors

import (
	"github.com/prometheus/client_golang/prometheus"

	"octet/gateway/receipt"
)

// Archive exposes what became of receipts that go to receipts.file.
type Archive struct{ Read func() receipt.Archived }

var archivedDesc = prometheus.NewDesc("octet_receipts_filed_total",
	"Receipts that receipts.file was to take: written, dropped as they came faster than that, or failed.",
	[]string{"outcome"}, nil)

// Describe implements prometheus.Collector.
func (Archive) Describe(to chan<- *prometheus.Desc) { to <- archivedDesc }

// Collect implements prometheus.Collector.
func (c Archive) Collect(to chan<- prometheus.Metric) {
	n := c.Read()
	for outcome, count := range map[string]uint64{"written": n.Kept, "dropped": n.Dropped, "failed": n.Failed} {
		to <- prometheus.MustNewConstMetric(archivedDesc, prometheus.CounterValue, float64(count), outcome)
	}
}
