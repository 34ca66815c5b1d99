package cmd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octet/cmd/adminclient"
)

// errUnhealthy is the kind of every answer that is not the one that was hoped for.
var errUnhealthy = errors.New("not healthy")

// health is one question to a gateway.
type health struct {
	listener string // host:port, or a URL
	live     bool   // /livez instead of /readyz
	insecure bool   // any certificate is accepted
	timeout  time.Duration
}

func healthCommand() *cobra.Command {
	var h health
	c := &cobra.Command{
		Use:   "health",
		Short: "Whether a gateway can serve (/readyz), or is alive (--live): one line, exit 0 or 1",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			said, err := h.ask(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), said)
			return nil
		},
	}
	c.Flags().StringVar(&h.listener, "data", "127.0.0.1:8080",
		"the gateway's data listener; the admin listener answers too")
	c.Flags().BoolVar(&h.live, "live", false, "ask whether it is alive, not whether a replica serves")
	c.Flags().BoolVar(&h.insecure, "insecure", false,
		"with https: accept any certificate, as at one's own loopback, where it is for another name")
	c.Flags().DurationVar(&h.timeout, "timeout", 3*time.Second, "the most that the answer may take")
	return c
}

// ask returns what a gateway says that is healthy, or why it is not.
func (h health) ask(ctx context.Context) (string, error) {
	at, err := h.url()
	if err != nil {
		return "", usageError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", usageError{err}
	}
	client := &http.Client{CheckRedirect: stay, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: h.insecure, MinVersion: tls.VersionTLS12}}}
	resp, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnhealthy, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnhealthy, err)
	}
	said := firstLine(answer)
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%w: %s: %d %s", errUnhealthy, at, resp.StatusCode, said)
	}
	return said, nil
}

// url is what is asked.
func (h health) url() (string, error) {
	text := h.listener
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil ||
		strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.Fragment != "" {
		return "", fmt.Errorf("%.256q is not the address of a listener, such as 127.0.0.1:8080", h.listener)
	}
	at.Path = "/readyz"
	if h.live {
		at.Path = "/livez"
	}
	return at.String(), nil
}

// firstLine is what an answer says: an error's code and message, else its first line.
func firstLine(answer []byte) string {
	var typed struct {
		Error struct{ Code, Message string } `json:"error"`
	}
	if json.Unmarshal(answer, &typed) == nil && typed.Error.Code != "" {
		return adminclient.Plain(typed.Error.Code + ": " + typed.Error.Message)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(answer)), "\n")
	return adminclient.Plain(fmt.Sprintf("%.200s", line))
}

// stay has redirects answered as they are.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
