package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"octet/app/fabric"
	"octet/calibration"
	"octet/calibration/judge"
	"octet/calibration/records"
	"octet/config"
	"octet/gateway/ensemble"
)

func stickinessOf(cfg *config.Config) ensemble.Stickiness {
	s := cfg.Router.Stickiness
	return ensemble.Stickiness{Margin: s.Margin, PerThousandTokens: s.PerThousandTokens, Conversations: s.Conversations}
}

// shadowOf returns the section of second opinions, with its judge.
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

// openCalibration opens the calibration stream with its sinks; nil if it has none.
func openCalibration(cfg *config.Config) (*records.Stream, error) {
	c := cfg.Shadow
	var sinks []records.Sink
	if c.File != "" {
		f, err := records.NewFile(records.FileConfig{Path: c.File, Bytes: int64(c.FileBytes), Keep: c.FileKeep})
		if err != nil {
			return nil, fmt.Errorf("%w: shadow.file: %w", ErrConfig, err)
		}
		sinks = append(sinks, f)
	}
	if r := cfg.Events.Redis; r != nil && c.Stream != "" {
		sink, err := CalibrationRedis(r, c.Stream, c.StreamLength)
		if err != nil {
			return nil, err
		}
		sinks = append(sinks, sink)
	}
	if n := cfg.Events.NATS; n != nil && c.Stream != "" {
		s, err := records.NewNATS(CalibrationNATS(n, c.Stream))
		if err != nil {
			return nil, fmt.Errorf("%w: shadow.stream: %w", ErrConfig, err)
		}
		sinks = append(sinks, s)
	}
	if len(sinks) == 0 {
		return nil, nil //nolint:nilnil // documented: no stream is not an error
	}
	return records.Open(records.Bounds{Queue: c.Queue, WriteTimeout: c.WriteTimeout, CloseTimeout: c.CloseTimeout},
		sinks...), nil
}

// recentRecords keeps the newest calibration records, beside the stream.
type recentRecords struct {
	*calibration.Recent
	stream *records.Stream // nil without a sink
}

// Offer implements shadow.Stream.
func (r recentRecords) Offer(record calibration.Record) bool {
	r.Recent.Offer(record)
	return r.stream == nil || r.stream.Offer(record)
}

// CalibrationRedis returns the Redis stream of calibration records.
func CalibrationRedis(r *config.Redis, name string, length int64) (*records.Redis, error) {
	c, err := fabric.Redis(r)
	if err != nil {
		return nil, err
	}
	return records.NewRedis(c.Client(1), name, length), nil
}

// CalibrationNATS returns the NATS subject of calibration records.
func CalibrationNATS(n *config.NATS, subject string) records.NATSConfig {
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

func sameCalibration(a, b *config.Shadow) bool {
	return a.Recent == b.Recent && a.Stream == b.Stream && a.StreamLength == b.StreamLength && a.File == b.File &&
		a.FileBytes == b.FileBytes && a.FileKeep == b.FileKeep &&
		a.Queue == b.Queue && a.WriteTimeout == b.WriteTimeout && a.CloseTimeout == b.CloseTimeout
}
