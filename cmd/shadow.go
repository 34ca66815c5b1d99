package cmd

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"octet/calibration"
	"octet/calibration/judge"
	"octet/calibration/records"
	"octet/config"
	"octet/gateway"
	"octet/slo"
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

// rememberProbation writes the file of probation, where there is one.
func (h *house) rememberProbation() {
	if h.cfg == nil || h.cfg.Router.Probation.File == "" {
		return
	}
	if err := saveProbation(h.cfg.Router.Probation.File, h.probation); err != nil {
		h.log.Warn("probation was not remembered", "error", err)
	}
}

func probationOf(cfg *config.Config) gateway.Probation {
	p := cfg.Router.Probation
	return gateway.Probation{ShadowThreshold: p.ShadowThreshold, Share: p.Share}
}

func stickinessOf(cfg *config.Config) gateway.Stickiness {
	s := cfg.Router.Stickiness
	return gateway.Stickiness{Margin: s.Margin, PerThousandTokens: s.PerThousandTokens, Conversations: s.Conversations}
}

// shadowOf is the section of second opinions, with its judge.
func shadowOf(cfg *config.Config) (gateway.Shadow, error) {
	c := cfg.Shadow
	out := gateway.Shadow{
		MaxConcurrent: c.MaxConcurrent, Timeout: c.Timeout, AnswerBytes: int64(c.AnswerBytes), KeepText: c.Prompts == "text",
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
		rc, err := calibrationRedis(r, c.Stream, c.StreamLength)
		if err != nil {
			return nil, err
		}
		sinks = append(sinks, records.NewRedis(rc))
	}
	if n := cfg.Events.NATS; n != nil && c.Stream != "" {
		s, err := records.NewNATS(records.NATSConfig{URL: n.URL, Subject: c.Stream, Creds: n.Creds, CA: n.CA})
		if err != nil {
			return nil, fmt.Errorf("%w: shadow.stream: %w", errConfig, err)
		}
		sinks = append(sinks, s)
	}
	if len(sinks) == 0 {
		return nil, errNoStream
	}
	return records.Open(sinks...), nil
}

// errNoStream is a configuration that keeps no calibration records.
var errNoStream = errors.New("no calibration stream")

func calibrationRedis(r *config.Redis, name string, length int64) (records.RedisConfig, error) {
	c, err := redisConfig(r)
	return records.RedisConfig{Addr: c.Addr, Username: c.Username, Password: c.Password, TLS: c.TLS, Stream: name, MaxLen: length}, err
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

var recordsDesc = prometheus.NewDesc("octet_calibration_records_total", "Calibration records, by sink and by what became of them.", []string{"sink", "outcome"}, nil)

// Describe implements prometheus.Collector.
func (m streamMetrics) Describe(out chan<- *prometheus.Desc) { out <- recordsDesc }

// Collect implements prometheus.Collector.
func (m streamMetrics) Collect(out chan<- prometheus.Metric) {
	for sink, c := range m.stream.Counts() {
		for outcome, n := range map[string]uint64{"written": c.Written, "dropped_full": c.Full, "dropped_failed": c.Failed} {
			out <- prometheus.MustNewConstMetric(recordsDesc, prometheus.CounterValue, float64(n), sink, outcome)
		}
	}
}

// terms are the lanes of a configuration, as probation takes them.
func terms(cfg *config.Config) []slo.Term {
	var all []slo.Term
	for _, sp := range cfg.Specialists {
		need := sp.SLO.Correctness.MinSamples
		all = append(all, slo.Term{Lane: slo.Lane{Specialist: sp.Name}, Version: sp.Version, Need: need})
		for _, a := range sp.Adapters {
			all = append(all, slo.Term{Lane: slo.Lane{Specialist: sp.Name, Adapter: a.Name}, Version: a.Version, Need: need})
		}
	}
	return all
}

func adapterVersions(sp *config.Specialist) map[string]string {
	versions := make(map[string]string, len(sp.Adapters))
	for _, a := range sp.Adapters {
		versions[a.Name] = a.Version
	}
	return versions
}

// loadProbation reads what was remembered of lanes; nothing is remembered where there is no file yet.
func loadProbation(path string) (*slo.Probation, error) {
	if path == "" {
		return slo.NewProbation(), nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return slo.NewProbation(), nil
	}
	var remembered []slo.Standing
	if err == nil {
		err = json.Unmarshal(text, &remembered)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: router.probation.file: %w", errConfig, err)
	}
	return slo.NewProbation(remembered...), nil
}

// saveProbation replaces the file as a whole or not at all.
func saveProbation(path string, p *slo.Probation) error {
	text, err := json.MarshalIndent(p.Standings(), "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func sameCalibration(a, b *config.Shadow) bool {
	return a.Stream == b.Stream && a.StreamLength == b.StreamLength && a.File == b.File && a.FileBytes == b.FileBytes && a.FileKeep == b.FileKeep
}
