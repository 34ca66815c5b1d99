package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/sony/gobreaker/v2"

	"octet/classifier"
	"octet/internal/dialing"
)

// Config is where a classifier is asked.
type Config struct {
	URL     string
	APIKey  string        // sent as a bearer token; empty means none
	Timeout time.Duration // of one question; above 0
	Excerpt int           // bytes of a text that are sent; above 0
}

const (
	maxAnswer   = 64 << 10 // bytes
	connections = 64       // at once; a question without one by the end of its time has timed out
	idleFor     = 90 * time.Second

	failures     = 5 // in a row, after which the service is not asked
	suspendedFor = 5 * time.Second
)

// ErrConfig is a Config that cannot be used.
var ErrConfig = errors.New("classifier over HTTP")

// Service is one classifier that is asked over HTTP. It is safe for concurrent use.
type Service struct {
	cfg     Config
	client  *http.Client
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
}

// NewService returns a Service. It connects with the first question.
func NewService(cfg Config) (*Service, error) {
	if cfg.URL == "" || cfg.Timeout <= 0 || cfg.Excerpt <= 0 {
		return nil, fmt.Errorf("%w: url %q, %v, %d bytes", ErrConfig, cfg.URL, cfg.Timeout, cfg.Excerpt)
	}
	d := &net.Dialer{Control: dialing.Control}
	return &Service{
		cfg: cfg,
		client: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{DialContext: d.DialContext, MaxConnsPerHost: connections,
				MaxIdleConnsPerHost: connections, IdleConnTimeout: idleFor, DisableCompression: true,
				MaxResponseHeaderBytes: maxAnswer, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}},
		},
		breaker: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Timeout:     suspendedFor,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failures },
			IsExcluded:  func(err error) bool { return errors.Is(err, classifier.OutageAbandoned) },
		}),
	}, nil
}

// Close closes the connections that no question uses.
func (s *Service) Close() { s.client.CloseIdleConnections() }

// ask puts a question and has read take the answer. Errors wrap a classifier.Outage, as read's do.
func (s *Service) ask(ctx context.Context, question []byte, read func(answer []byte) error) (err error) {
	settle, err := s.breaker.Allow()
	if err != nil {
		return fmt.Errorf("%w: %w", classifier.OutageSuspended, err)
	}
	failed := error(classifier.OutageMalformed) // if read panics
	defer func() { settle(failed) }()
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	answer, err := s.exchange(limited, question)
	var known classifier.Outage
	switch {
	case err == nil:
		err = read(answer)
	case errors.As(err, &known):
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", classifier.OutageAbandoned, context.Cause(ctx))
	case limited.Err() != nil:
		err = fmt.Errorf("%w: %v", classifier.OutageTimeout, s.cfg.Timeout)
	default:
		err = fmt.Errorf("%w: %w", classifier.OutageUnreachable, err)
	}
	failed = err
	return err
}

// exchange sends a question and reads the whole answer.
func (s *Service) exchange(ctx context.Context, question []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.URL, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.cfg.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+s.cfg.APIKey)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: %d", classifier.OutageStatus, resp.StatusCode)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("%w: more than %d bytes", classifier.OutageTooLarge, maxAnswer)
	}
	return answer, nil
}
