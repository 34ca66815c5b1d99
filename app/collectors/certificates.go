package collectors

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Certificates tells of the certificates in force at a scrape. It is a prometheus.Collector.
type Certificates struct{ Read func() []Certificate }

// Certificate is what is in force of the files of one use.
type Certificate struct {
	Use     string    // the section of a listener, or replica
	Replica string    // empty for listeners
	Expires time.Time // of the own certificate; zero without one
	Refused bool      // the files are no use, so that the last good ones are in force, or none
}

var (
	expiresDesc = desc("octet_certificate_expiry_timestamp_seconds",
		"When the certificate in force expires, of its chain what expires first.", "use", "replica")
	refusedFilesDesc = desc("octet_certificate_files_refused",
		"1 while files of certificates are of no use, so that the last good ones are in force.", "use", "replica")
)

// Describe implements prometheus.Collector.
func (Certificates) Describe(out chan<- *prometheus.Desc) {
	out <- expiresDesc
	out <- refusedFilesDesc
}

// Collect implements prometheus.Collector.
func (c Certificates) Collect(out chan<- prometheus.Metric) {
	for _, one := range c.Read() {
		refused := 0.0
		if one.Refused {
			refused = 1
		}
		gauge(out, refusedFilesDesc, refused, one.Use, one.Replica)
		if !one.Expires.IsZero() {
			gauge(out, expiresDesc, float64(one.Expires.Unix()), one.Use, one.Replica)
		}
	}
}
