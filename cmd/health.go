package cmd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octet/cmd/adminclient"
	"octet/gateway/front"
)

// errUnhealthy is the kind of every answer that is not the one that was hoped for.
var errUnhealthy = errors.New("not healthy")

// health is one question to a gateway.
type health struct {
	listener string // host:port, or a URL
	live     bool   // /livez instead of /readyz
	insecure bool   // any certificate is accepted
	secure   secureFlags
	timeout  time.Duration
}

func healthCommand() *cobra.Command {
	var h health
	c := &cobra.Command{
		Use:   "health",
		Short: "Whether a gateway can serve (/readyz), or is alive (--live): one line, exit 0 or 1",
		Long: `Whether a gateway can serve (/readyz), or is alive (--live): one line, exit 0 or 1.

A listener without a scheme is asked as it speaks: plain HTTP or TLS. At this machine's loopback any certificate is
accepted then, unless --ca says which. Where a client's certificate is demanded and none is given, the gateway is alive,
but not known to be ready.`,
		Args: none,
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
	h.secure.add(c)
	c.Flags().DurationVar(&h.timeout, "timeout", 3*time.Second, "the most that the answer may take")
	return c
}

// errSpeaksTLS is the answer of a listener that is to be asked by https.
var errSpeaksTLS = errors.New(front.SpeaksTLS)

// ask returns what a gateway says that is healthy, or why it is not.
func (h health) ask(ctx context.Context) (string, error) {
	secure, err := h.secure.config()
	if err != nil {
		return "", err
	}
	named := strings.Contains(h.listener, "://")
	at, err := h.url(adminclient.URLOf(h.listener, secure))
	if err != nil {
		return "", usageError{err}
	}
	if secure == nil {
		secure = new(tls.Config)
	}
	secure = secure.Clone()
	secure.MinVersion, secure.InsecureSkipVerify = tls.VersionTLS12, h.insecure
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	said, err := answerOf(ctx, at, secure)
	if !named && errors.Is(err, errSpeaksTLS) {
		at.Scheme = "https"
		secure.InsecureSkipVerify = h.insecure || isLoopback(at.Hostname())
		said, err = answerOf(ctx, at, secure)
	}
	switch {
	case err == nil:
		return said, nil
	case h.live && demandsCertificate(err):
		return "ok: a client's certificate is demanded", nil
	}
	return "", fmt.Errorf("%w: %w", errUnhealthy, err)
}

// answerOf asks at a URL.
func answerOf(ctx context.Context, at *url.URL, secure *tls.Config) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{CheckRedirect: stay,
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: secure}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return "", err
	}
	said := firstLine(answer)
	switch {
	case resp.StatusCode == http.StatusBadRequest && strings.HasSuffix(said, front.SpeaksTLS):
		return "", fmt.Errorf("%s: %w", at, errSpeaksTLS)
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s: %d %s", at, resp.StatusCode, said)
	}
	return said, nil
}

// demandsCertificate returns true if the other side has ended a handshake for want of a client's certificate.
func demandsCertificate(err error) bool {
	var of *net.OpError
	return errors.As(err, &of) && of.Op == "remote error" && strings.Contains(of.Error(), "certificate")
}

// isLoopback returns true if a host is this machine, as far as its name says.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip.IsLoopback()
}

// url returns what is asked at an address.
func (h health) url(address string) (*url.URL, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil ||
		strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.Fragment != "" {
		return nil, fmt.Errorf("%.256q is not the address of a listener, such as 127.0.0.1:8080", h.listener)
	}
	at.Path = "/readyz"
	if h.live {
		at.Path = "/livez"
	}
	return at, nil
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
