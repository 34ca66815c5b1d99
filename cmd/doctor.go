package cmd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"octet/app"
	"octet/app/doctor"
	"octet/cmd/adminclient"
	"octet/gateway/api"
)

// errFound is why doctor ends with status 1: it was told which checks have failed.
var errFound = errors.New("a check has failed")

// defaultAdmin is where commands that talk to a gateway look for it.
const defaultAdmin = adminclient.DefaultURL

// doctorFlags are the flags of `octet doctor`.
type doctorFlags struct {
	config, admin string
	asJSON        bool
	secure        secureFlags
}

func doctorCommand() *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor [--config FILE | --admin URL]",
		Short: "What is wrong between a gateway and its engines, and what to paste; exit 0 without a fail, else 1",
		Long: `What is wrong between a gateway and its engines, and what to paste.

--config asks the engines that a file lists; otherwise the gateway at --admin is asked, with the token in
OCTET_ADMIN_TOKEN. Engines get two requests for one token each. docs/doctor.md explains each check.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.config != "" && cmd.Flags().Changed("admin") {
				return usageError{errors.New("either --config or --admin, not both")}
			}
			found, err := f.examine(cmd.Context())
			if err != nil {
				return err
			}
			return presentFindings(cmd.OutOrStdout(), found, f.asJSON)
		},
	}
	c.Flags().StringVar(&f.config, "config", "", "ask the engines of this configuration file from here")
	c.Flags().StringVar(&f.admin, "admin", defaultAdmin, "ask the gateway with this admin listener")
	f.secure.add(c)
	c.Flags().BoolVar(&f.asJSON, "json", false, "print a list of objects")
	return c
}

func (f doctorFlags) examine(ctx context.Context) ([]api.Finding, error) {
	if f.config == "" {
		secure, err := f.secure.config()
		if err != nil {
			return nil, err
		}
		return askDoctor(ctx, f.admin, os.Getenv("OCTET_ADMIN_TOKEN"), secure)
	}
	if _, err := os.Stat(f.config); err != nil {
		return nil, err
	}
	cfg, err := app.Source{Path: f.config}.Load()
	if err != nil {
		return nil, err
	}
	return app.Examine(ctx, cfg, nil)
}

// maxFindings bounds a gateway's answer, in bytes.
const maxFindings = 64 << 20

// askDoctor asks a gateway.
func askDoctor(ctx context.Context, admin, token string, secure *tls.Config) ([]api.Finding, error) {
	admin = adminclient.URLOf(admin, secure)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(admin, "/")+"/admin/doctor", nil)
	if err != nil {
		return nil, usageError{err}
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	// A redirect would carry the token to another place.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := (&http.Client{Timeout: 3 * time.Minute, CheckRedirect: stay, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: secure, DisableKeepAlives: true,
	}}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("no gateway answers: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxFindings))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", admin, err)
	}
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized:
		return nil, fmt.Errorf("%s wants its admin token in OCTET_ADMIN_TOKEN", admin)
	case http.StatusNotFound:
		return nil, fmt.Errorf("%s is no admin listener of a gateway that has a doctor", admin)
	default:
		return nil, fmt.Errorf("%s answers %s: %.200q", admin, resp.Status, answer)
	}
	var found []api.Finding
	if err := json.Unmarshal(answer, &found); err != nil {
		return nil, fmt.Errorf("%s answers no findings: %w", admin, err)
	}
	return found, nil
}

// presentFindings prints findings, and returns errFound if one is a failure.
func presentFindings(out io.Writer, found []api.Finding, asJSON bool) error {
	if asJSON {
		if found == nil {
			found = []api.Finding{}
		}
		if err := json.NewEncoder(out).Encode(found); err != nil {
			return err
		}
	} else if err := printFindings(out, found); err != nil {
		return err
	}
	for _, f := range found {
		if f.Status == doctor.Fail {
			return errFound
		}
	}
	return nil
}

func printFindings(out io.Writer, found []api.Finding) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range found {
		cure := ""
		if f.Cure != "" {
			cure = "  → " + f.Cure
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\n", f.Status, f.Check, f.Replica, f.Detail, cure)
	}
	return w.Flush()
}
