// Command vuln fails on known vulnerabilities that the gateway's code reaches, as govulncheck finds them, unless
// accepted.txt has their id with a reason. Where the database cannot be reached it says so, and does not fail.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/vuln/scan"
)

// patience is how long the database may take to answer that it is there.
const patience = 10 * time.Second

func main() {
	database := flag.String("db", "https://vuln.go.dev", "the database")
	accepted := flag.String("accepted", "vuln/accepted.txt", "ids that do not fail, each with a reason")
	folder := flag.String("C", "../..", "the module to look at")
	flag.Parse()
	found, err := look(context.Background(), *database, *accepted, *folder)
	switch {
	case errors.Is(err, errUnreachable):
		fmt.Fprintf(os.Stderr, "no vulnerability was looked for: %v\n", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, "vuln:", err)
		os.Exit(1)
	case len(found) > 0:
		fmt.Fprintf(os.Stderr, "reached: %s\n", strings.Join(found, ", "))
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "no known vulnerability is reached")
	}
}

var errUnreachable = errors.New("the database cannot be reached")

// look returns the ids of vulnerabilities whose code is reached and which are not accepted.
func look(ctx context.Context, database, accepted, folder string) ([]string, error) {
	if err := reach(ctx, database); err != nil {
		return nil, err
	}
	known, err := reasons(accepted)
	if err != nil {
		return nil, err
	}
	var out, failed bytes.Buffer
	c := scan.Command(ctx, "-db", database, "-C", folder, "-format", "json", "./...")
	c.Stdout, c.Stderr = &out, &failed
	if err := c.Start(); err != nil {
		return nil, err
	}
	if err := c.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, failed.Bytes())
	}
	reached, err := findings(&out)
	return slices.DeleteFunc(reached, func(id string) bool { return known[id] != "" }), err
}

// reach returns errUnreachable unless the database answers. A folder (file://) is always there.
func reach(ctx context.Context, database string) error {
	if strings.HasPrefix(database, "file://") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, database+"/index/db.json", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	_ = resp.Body.Close() // its status says all
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", errUnreachable, resp.Status)
	}
	return nil
}

// findings returns the ids with a trace down to a function, of govulncheck's JSON messages.
func findings(r io.Reader) (ids []string, err error) {
	messages := json.NewDecoder(r)
	for {
		var m struct {
			Finding *struct {
				OSV   string
				Trace []struct{ Function string }
			}
		}
		if err := messages.Decode(&m); errors.Is(err, io.EOF) {
			slices.Sort(ids)
			return slices.Compact(ids), nil
		} else if err != nil {
			return nil, fmt.Errorf("reading findings: %w", err)
		}
		if m.Finding != nil && len(m.Finding.Trace) > 0 && m.Finding.Trace[0].Function != "" {
			ids = append(ids, m.Finding.OSV)
		}
	}
}

// reasons reads lines of an id and a reason. "#" begins a comment.
func reasons(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		id, why, _ := strings.Cut(line, " ")
		if why = strings.TrimSpace(why); why == "" {
			return nil, fmt.Errorf("%s: %s is accepted without a reason", path, id)
		}
		known[id] = why
	}
	return known, lines.Err()
}
