package cmd

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inPage finds the commands of docs/coming-from.md.
var inPage = regexp.MustCompile(`(?m)^octet adapt (\w+) (\S+) > octet\.yaml`)

// runLine runs a command line, and returns what it writes.
func runLine(t *testing.T, args ...string) (out, notes string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	root := Root()
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// The commands of docs/coming-from.md, as they are written: what each writes passes octet check, and what has no
// counterpart is told on standard error alone.
func TestWhatAdaptWritesPassesCheck(t *testing.T) {
	page, err := os.ReadFile("../docs/coming-from.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := inPage.FindAllStringSubmatch(string(page), -1)
	if len(lines) < 5 {
		t.Errorf("%d commands", len(lines))
	}
	t.Setenv("VLLM_KEY", "a")
	t.Setenv("OCTET_ENGINE_KEY_1", "b")
	for _, line := range lines {
		out, notes, err := runLine(t, "adapt", line[1], filepath.Join("..", line[2]))
		if err != nil || notes == "" || strings.Contains(out, "no counterpart") {
			t.Errorf("%s: %v\n%s%s", line[0], err, notes, out)
		}
		file := filepath.Join(t.TempDir(), "octet.yaml")
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, _, err := runLine(t, "check", file); err != nil || !strings.Contains(said, ": ok: ") {
			t.Errorf("%s: %v\n%s\n%s", line[0], err, said, out)
		}
	}
}

func TestAdaptRefusesWhatMakesNoSense(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var usage usageError
	for _, args := range [][]string{{"adapt"}, {"adapt", "litellm"}, {"adapt", "nginx", empty}} {
		if _, _, err := runLine(t, args...); !errors.As(err, &usage) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if out, _, err := runLine(t, "adapt", "sglang", empty); err == nil || out != "" {
		t.Errorf("%v %q", err, out)
	}
	if text, err := source("-", io.LimitReader(endless{}, 3<<20)); err != nil || len(text) != 1<<20+1 {
		t.Errorf("%d bytes are read, %v", len(text), err)
	}
}

// endless is a text without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}
