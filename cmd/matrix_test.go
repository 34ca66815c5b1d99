package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// matrixOnce plays base cells of a small matrix and returns its table.
func matrixOnce(t *testing.T, args ...string) string {
	t.Helper()
	table, err := replayOnce(t, append([]string{"--matrix", "--cells", "base", "--requests", "96"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestAMatrixPlaysDrawnTracesFilesAndMixes(t *testing.T) {
	trace, out := traceFile(t, 60, ""), filepath.Join(t.TempDir(), "matrix.md")
	args := []string{"coder:1:40", "coder:2:40", trace, "team:1:40+" + trace, "--seed", "3"}
	table := matrixOnce(t, args...)
	for _, want := range []string{"default beside the other profiles", "| coder:1:40 | base |", "| coder:2:40 | base |",
		"| trace | base |", "| team:1:40 + trace | base |", "lmetric, ", "round-robin", "no own_weight",
		"no memory_weight", "| all traces | 4 |"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "direct") || strings.Contains(table, "NaN") {
		t.Error(table)
	}
	matrixOnce(t, append(args, "--out", out, "--parallel", "1")...)
	again, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(again, []byte(table)) {
		t.Errorf("%v: the same seed gives\n%s\nand then\n%s", err, table, again)
	}
	if one := matrixOnce(t, "team:1:40", "--profiles", "lmetric,random"); !strings.Contains(one, "# lmetric beside") ||
		strings.Contains(one, "What each part is worth") {
		t.Errorf("without least-work:\n%s", one)
	}
}

func TestAMatrixNamesWhatIsWrong(t *testing.T) {
	for name, args := range map[string][]string{
		"no such cells":          {"team:1", "--cells", "corners"},
		"too few requests":       {"team:1", "--requests", "3"},
		"a cell's own":           {"team:1", "--replicas", "3"},
		"figures of one":         {"team:1", "--json", "-"},
		"an engine that is none": {"team:1", "--prefill-rate", "0"},
		"no copy":                {"team:1", "--copies", "0"},
		"no profile":             {"team:1", "--profiles", "fastest"},
		"a bad seed":             {"team:1", "team:-2"},
	} {
		if _, err := replayOnce(t, append([]string{"--matrix"}, args...)...); err == nil ||
			report(err, false) != exitConfig {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := replayOnce(t, "--matrix"); err == nil {
		t.Error("a matrix of no trace")
	}
}

// What draws two traces plays one that is like neither alone, by the usual command, too.
func TestReplayDrawsAndMixes(t *testing.T) {
	for _, name := range []string{"coder:1:10", "team:2:10", "coder:1:10+team:2:10"} {
		if out, err := replayOnce(t, name, "--profiles", "default,oracle"); err != nil ||
			!strings.Contains(out, "oracle") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
