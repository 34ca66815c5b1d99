package collectors

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"octet/routing/approx"
	"octet/routing/events"
)

// Events reads the sources of cache events, the feed and the index of guesses at a scrape. The replicas' own sockets
// are one source, zmq: replicas have series of their own.
type Events struct {
	Sources func() map[string]events.ConsumerStats // by name
	Feed    func() events.FeedStats
	Guesses func() approx.Stats
	Known   func() map[string]float64 // of what a replica delivered from its cache, what its events had told of
}

var (
	sourceUp = prometheus.NewDesc("octet_events_connected", "Sources of cache events that can be read now.",
		[]string{"source"}, nil)
	sourceLag = prometheus.NewDesc("octet_events_lag_seconds",
		"From when a source took the last batch to when it was read here; the largest.", []string{"source"}, nil)
	sourceBatches = prometheus.NewDesc("octet_events_batches_total", "Batches that a source brought.",
		[]string{"source"}, nil)
	sourceTroubles = prometheus.NewDesc("octet_events_troubles_total", "What went wrong with a source.",
		[]string{"source", "kind"}, nil)
	feedBatches = prometheus.NewDesc("octet_index_batches_total", "Batches by what became of them.",
		[]string{"outcome"}, nil)
	feedBlocks = prometheus.NewDesc("octet_index_blocks_total",
		"Blocks of engines that are not known for what they are, or were compared with the engine's hash scheme.",
		[]string{"kind"}, nil)
	feedRefused = prometheus.NewDesc("octet_index_refused_events_total",
		"Cache events that were left out of the batch they came in: over a limit, or incomplete.", nil, nil)
	feedLag = prometheus.NewDesc("octet_index_lag_seconds",
		"From an engine's clock to the index, of the batch applied last.", nil, nil)
	feedWaiting = prometheus.NewDesc("octet_index_waiting_batches", "Batches that wait for one before them.", nil,
		nil)
	feedBytes = prometheus.NewDesc("octet_index_waiting_bytes",
		"Bytes of events.index_memory that those batches take, with blocks of engines whose content is not known.", nil,
		nil)
	indexKnown = prometheus.NewDesc("octet_index_known_share",
		"Of the tokens that a replica delivered from its cache lately, the part that its events had told of.",
		[]string{"replica"}, nil)
	guessBlocks = prometheus.NewDesc("octet_approximate_blocks",
		"Blocks that count for replicas because prompts were routed there.", nil, nil)
	guessRouted = prometheus.NewDesc("octet_approximate_routed_blocks_total", "Blocks of prompts that were routed.",
		nil, nil)
	guessFound = prometheus.NewDesc("octet_approximate_found_blocks_total",
		"Of those, the leading ones that had been routed to the same replica before.", nil, nil)
)

// Describe implements prometheus.Collector.
func (Events) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sourceUp, sourceLag, sourceBatches, sourceTroubles, feedBatches, feedBlocks,
		feedRefused, feedLag, feedWaiting, feedBytes, indexKnown, guessBlocks, guessRouted, guessFound} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m Events) Collect(out chan<- prometheus.Metric) {
	for name, s := range bySource(m.Sources()) {
		gauge(out, sourceUp, float64(s.up), name)
		gauge(out, sourceLag, s.Lag.Seconds(), name)
		count(out, sourceBatches, s.Messages, name)
		for kind, n := range map[string]uint64{
			"bad": s.Bad, "refused": s.Refused, "failure": s.Failures, "reconnect": s.Reconnects, "rewind": s.Rewinds,
			"dropped": s.Dropped, "replayed": s.Replayed, "snapshot": s.Snapshots, "panic": s.Panics,
			"other_rank": s.OtherRank,
		} {
			count(out, sourceTroubles, n, name, kind)
		}
	}
	m.feed(out)
	for replica, share := range m.Known() {
		gauge(out, indexKnown, share, replica)
	}
	g := m.Guesses()
	gauge(out, guessBlocks, float64(g.Blocks))
	count(out, guessRouted, g.Routed)
	count(out, guessFound, g.Found)
}

func (m Events) feed(out chan<- prometheus.Metric) {
	f := m.Feed()
	for outcome, n := range map[string]uint64{
		"applied": f.Applied, "duplicate": f.Duplicates, "old_epoch": f.OldEpochs, "gap": f.Gaps, "resync": f.Resyncs,
		"unknown": f.Unknown,
		"foreign": f.Foreign, "dead": f.Dead, "invalid": f.Invalid, "crowded": f.Crowded,
	} {
		count(out, feedBatches, n, outcome)
	}
	for kind, n := range map[string]uint64{
		"orphan": f.Orphans, "stranger": f.Strangers, "unmappable": f.Unmappable, "ignored": f.Ignored,
		"conflict": f.Conflicts,
		"verified": f.Verified, "mismatched": f.Mismatched,
	} {
		count(out, feedBlocks, n, kind)
	}
	count(out, feedRefused, f.RefusedEvents)
	gauge(out, feedLag, f.Lag.Seconds())
	gauge(out, feedWaiting, float64(f.Held))
	gauge(out, feedBytes, float64(f.Waiting))
}

func gauge(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func count(out chan<- prometheus.Metric, d *prometheus.Desc, n uint64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

// sums adds up several consumers of one kind.
type sums struct {
	events.ConsumerStats
	up int
}

func bySource(stats map[string]events.ConsumerStats) map[string]sums {
	all := map[string]sums{}
	for name, st := range stats {
		kind, _, _ := strings.Cut(name, "/")
		s := all[kind]
		if st.Connected {
			s.up++
		}
		s.Messages += st.Messages
		s.Bad += st.Bad
		s.Refused += st.Refused
		s.OtherRank += st.OtherRank
		s.Failures += st.Failures
		s.Reconnects += st.Reconnects
		s.Rewinds += st.Rewinds
		s.Dropped += st.Dropped
		s.Replayed += st.Replayed
		s.Snapshots += st.Snapshots
		s.Panics += st.Panics
		s.Lag = max(s.Lag, st.Lag)
		all[kind] = s
	}
	return all
}
