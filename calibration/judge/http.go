package judge

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

// service is asked over HTTP.
type service struct {
	url    string
	client *http.Client
}

// Service returns a judge that is asked by POST at url. Redirects are not followed.
func Service(url string, timeout time.Duration) (*Judge, error) {
	if url == "" || timeout <= 0 {
		return nil, fmt.Errorf("judge: url %q, %v", url, timeout)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Judge{service{url, &http.Client{CheckRedirect: stay, Transport: &http.Transport{DisableKeepAlives: true}}},
		timeout}, nil
}

func (s service) ask(ctx context.Context, question []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("judge: status %d", resp.StatusCode)
	}
	return readVerdict(resp.Body)
}
