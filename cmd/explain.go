package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octet/gateway/api"
)

// explainFlags are the flags of `octet explain`.
type explainFlags struct {
	server, key, intent, priority, deadline, adapter, session, model, body string

	admin   adminFlag
	receipt string // id of a past decision
}

func explainCommand() *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain [PROMPT]",
		Short: "A decision without running it, or with --receipt a past one, as a table",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("PROMPT is one argument, in quotes: %d given", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.receipt != "" && len(args) > 0:
				return usageError{errors.New("a PROMPT is decided, a --receipt was: name one of them")}
			case f.receipt == "" && cmd.Flags().Changed("receipt"):
				return usageError{errors.New("the --receipt is empty")}
			case f.receipt != "":
				return f.past(cmd)
			}
			return f.run(cmd, strings.Join(args, ""))
		},
	}
	f.admin.add(c)
	flags := c.Flags()
	flags.StringVar(&f.receipt, "receipt", "",
		"show the past decision of that id (X-Receipt-Id, else X-Request-Id) instead, as the admin listener of "+
			"--admin tells it")
	flags.StringVar(&f.server, "server", "http://127.0.0.1:8080", "the gateway's data listener")
	flags.StringVar(&f.key, "key", "", "API key")
	flags.StringVar(&f.model, "model", "octet", "model: octet, a specialist, or specialist:adapter")
	flags.StringVar(&f.intent, "intent", "", "X-Intent")
	flags.StringVar(&f.priority, "priority", "", "X-Priority")
	flags.StringVar(&f.deadline, "deadline-ms", "", "X-Deadline-Ms")
	flags.StringVar(&f.adapter, "adapter", "", "X-Adapter")
	flags.StringVar(&f.session, "session", "", "X-Session-Id")
	flags.StringVar(&f.body, "body", "", "a whole request body as JSON, or - for standard input, instead of PROMPT")
	return c
}

func (f explainFlags) run(cmd *cobra.Command, prompt string) error {
	body, err := f.request(cmd.InOrStdin(), prompt)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(cmd.Context(), http.MethodPost, strings.TrimRight(f.server, "/")+"/v1/route",
		bytes.NewReader(body))
	if err != nil {
		return usageError{err}
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{
		"X-Intent": f.intent, "X-Priority": f.priority, "X-Deadline-Ms": f.deadline, "X-Adapter": f.adapter,
		"X-Session-Id": f.session,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if f.key != "" {
		req.Header.Set("Authorization", "Bearer "+f.key)
	}
	// A redirect would carry the key to another place.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := (&http.Client{Timeout: 30 * time.Second, CheckRedirect: stay}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", resp.StatusCode, bytes.TrimSpace(answer))
	}
	var e api.Explanation
	if err := json.Unmarshal(answer, &e); err != nil {
		return err
	}
	return printExplanation(cmd.OutOrStdout(), &e)
}

func (f explainFlags) request(in io.Reader, prompt string) ([]byte, error) {
	switch f.body {
	case "":
		return json.Marshal(map[string]any{"model": f.model,
			"messages": []map[string]string{{"role": "user", "content": prompt}}})
	case "-":
		return io.ReadAll(in)
	}
	return []byte(f.body), nil
}
