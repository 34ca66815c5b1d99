package cmd

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"octet/calibration"
	"octet/calibration/judge"
	"octet/calibration/records"
	"octet/config"
	"octet/gateway/ensemble"
)

// openCalibration opens what outlives a configuration: the calibration stream, and what is remembered of lanes.
func (h *house) openCalibration(cfg *config.Config) (err error) {
	if h.probation, err = loadProbation(cfg.Router.Probation.File); err != nil {
		return err
	}
	if h.examples, err = openCalibration(cfg); errors.Is(err, errNoStream) {
		return nil
	}
	if err == nil {
		h.metrics.Register(streamMetrics{h.examples})
	}
	return err
}

func stickinessOf(cfg *config.Config) ensemble.Stickiness {
	s := cfg.Router.Stickiness
	return ensemble.Stickiness{Margin: s.Margin, PerThousandTokens: s.PerThousandTokens, Conversations: s.Conversations}
}

// shadowOf is the section of second opinions, with its judge.
func shadowOf(cfg *config.Config) (ensemble.Shadow, error) {
	c := cfg.Shadow
	out := ensemble.Shadow{
		MaxConcurrent: c.MaxConcurrent, Timeout: c.Timeout, AnswerBytes: int64(c.AnswerBytes), MaxWaiting: c.MaxWaiting,
		TallyInterval: c.TallyInterval, KeepText: c.Prompts == "text",
		Tolerance: calibration.Tolerance{Text: c.Tolerance.Text, Code: c.Tolerance.Code},
	}
	var by *judge.Judge
	var err error
	switch {
	case len(c.Judge.Command) > 0:
		by, err = judge.Command(c.Judge.Command, c.Judge.Timeout)
	case c.Judge.URL != "":
		by, err = judge.Service(c.Judge.URL, c.Judge.Timeout)
	default:
		return out, nil
	}
	out.Judge = by
	return out, err
}

// openCalibration opens the sinks of the calibration stream; nil where there is none.
func openCalibration(cfg *config.Config) (*records.Stream, error) {
	c := cfg.Shadow
	var sinks []records.Sink
	if c.File != "" {
		f, err := records.NewFile(records.FileConfig{Path: c.File, Bytes: int64(c.FileBytes), Keep: c.FileKeep})
		if err != nil {
			return nil, fmt.Errorf("%w: shadow.file: %w", errConfig, err)
		}
		sinks = append(sinks, f)
	}
	if r := cfg.Events.Redis; r != nil && c.Stream != "" {
		sink, err := calibrationRedis(r, c.Stream, c.StreamLength)
		if err != nil {
			return nil, err
		}
		sinks = append(sinks, sink)
	}
	if n := cfg.Events.NATS; n != nil && c.Stream != "" {
		s, err := records.NewNATS(calibrationNATS(n, c.Stream))
		if err != nil {
			return nil, fmt.Errorf("%w: shadow.stream: %w", errConfig, err)
		}
		sinks = append(sinks, s)
	}
	if len(sinks) == 0 {
		return nil, errNoStream
	}
	return records.Open(records.Bounds{Queue: c.Queue, WriteTimeout: c.WriteTimeout, CloseTimeout: c.CloseTimeout},
		sinks...), nil
}

// errNoStream is a configuration that keeps no calibration records.
var errNoStream = errors.New("no calibration stream")

func calibrationRedis(r *config.Redis, name string, length int64) (*records.Redis, error) {
	c, err := redisConfig(r)
	if err != nil {
		return nil, err
	}
	return records.NewRedis(c.Client(1), name, length), nil
}

func calibrationNATS(n *config.NATS, subject string) records.NATSConfig {
	return records.NATSConfig{URL: n.URL, Subject: subject, Creds: n.Creds, CA: n.CA, MaxMessage: int64(n.MaxMessage)}
}

// digester returns the keyed hash by which records name texts: the same text has the same in every gateway of a cell.
func digester(seed uint64) func([]byte) string {
	key := binary.BigEndian.AppendUint64([]byte("octet calibration "), seed)
	return func(text []byte) string {
		h := hmac.New(sha256.New, key)
		h.Write(text)
		return hex.EncodeToString(h.Sum(nil)[:16])
	}
}

// streamMetrics show what has become of calibration records.
type streamMetrics struct{ stream *records.Stream }

var recordsDesc = prometheus.NewDesc("octet_calibration_records_total",
	"Calibration records, by sink and by what became of them.", []string{"sink", "outcome"}, nil)

// Describe implements prometheus.Collector.
func (m streamMetrics) Describe(out chan<- *prometheus.Desc) { out <- recordsDesc }

// Collect implements prometheus.Collector.
func (m streamMetrics) Collect(out chan<- prometheus.Metric) {
	for sink, c := range m.stream.Counts() {
		for outcome, n := range map[string]uint64{"written": c.Written, "dropped_full": c.Full,
			"dropped_failed": c.Failed} {
			out <- prometheus.MustNewConstMetric(recordsDesc, prometheus.CounterValue, float64(n), sink, outcome)
		}
	}
}

func sameCalibration(a, b *config.Shadow) bool {
	return a.Stream == b.Stream && a.StreamLength == b.StreamLength && a.File == b.File && a.FileBytes == b.FileBytes &&
		a.FileKeep == b.FileKeep &&
		a.Queue == b.Queue && a.WriteTimeout == b.WriteTimeout && a.CloseTimeout == b.CloseTimeout
}
