package cmd

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"octet/internal/replay"
)

// traceFile writes a trace of n requests, conversations of three turns, and returns its path.
func traceFile(t *testing.T, n int, more string) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		talk, turns := i/3, i%3+1
		ids := []int{0}
		for turn := range turns {
			ids = append(ids, 1000*talk+2*turn+1, 1000*talk+2*turn+2)
		}
		fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": 20, "hash_ids": %s}`+"\n",
			i*400, 512*len(ids), strings.ReplaceAll(fmt.Sprint(ids), " ", ","))
	}
	b.WriteString(more)
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// replayOnce runs the command and returns what it prints.
func replayOnce(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := Root()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(append([]string{"replay"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// DYN-22
func TestReplayComparesProfilesAndRepeatsItself(t *testing.T) {
	trace, dir := traceFile(t, 90, ""), t.TempDir()
	svg, figures := filepath.Join(dir, "plot.svg"), filepath.Join(dir, "figures.json")
	args := []string{trace, "--profiles", "default,random,round-robin,oracle,endless-cache,dynamo-kv", "--replicas",
		"3", "--rate",
		"2", "--seed", "7", "--capacity", "--ttft-goal", "500ms", "--svg", svg, "--json", figures}
	table, err := replayOnce(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hit %", "TTFT", "ITL", "tokens/s", "good %", "imbalance", "capacity", "default",
		"random", "round-robin", "oracle", "endless-cache", "dynamo-kv"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	first := contents(t, svg, figures)
	var out replayed
	if err := json.Unmarshal(first[1], &out); err != nil || len(out.Results) != 6 || out.Results[0].Requests != 90 ||
		out.Capacities["default"] <= 0 {
		t.Errorf("%v: %+v", err, out)
	}
	if again, err := replayOnce(t, args...); err != nil || again != table {
		t.Errorf("%v: the same seed gives\n%s\nand then\n%s", err, table, again)
	}
	if !slices.EqualFunc(first, contents(t, svg, figures), bytes.Equal) {
		t.Error("the same seed gives two plots or two sets of figures")
	}
	if alone, err := replayOnce(t, trace, "--profiles", "default", "--json", "-"); err != nil ||
		!json.Valid([]byte(alone)) {
		t.Errorf("%v: %s", err, alone)
	}
}

func contents(t *testing.T, paths ...string) (all [][]byte) {
	t.Helper()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

func TestReplayTakesProfilesOfAConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "octet.yaml")
	yaml := "specialists: [{name: a, profile: mine, replicas: [{url: 'http://127.0.0.1:1'}]}]\n" +
		"profiles: {mine: {score: [{least-load: 1}], pick: max-score}, bad: {pick: nothing}}\n"
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := replayOnce(t, traceFile(t, 9, ""), "--config", path, "--profiles", "mine")
	if err != nil || !strings.Contains(out, "mine") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := replayOnce(t, traceFile(t, 9, ""), "--config", path, "--profiles", "bad"); err == nil ||
		report(err, false) != exitConfig {
		t.Errorf("a profile that cannot be built: %v", err)
	}
}

// The turns of sessions wait for each other, and blocks are as the trace says.
func TestReplayReadsSessionsOfAgents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents.jsonl")
	text := ""
	for turn := range 3 {
		text += fmt.Sprintf(`{"session":0,"t_in_session_ms":%d,"gap_ms":60000,"input_length":%d,"output_length":2,`+
			`"hash_id_runs":[[0,%d]]}`+"\n", turn, 160*(turn+1), 10*(turn+1))
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := replayOnce(t, path, "--profiles", "default", "--session-rate", "3", "--json", "-")
	var out replayed
	if err != nil || json.Unmarshal([]byte(table), &out) != nil || len(out.Results) != 1 {
		t.Fatalf("%v: %s", err, table)
	}
	if r := out.Results[0]; r.Makespan < 120 || r.HitRate < 0.49 || r.Throughput <= 0 ||
		!strings.Contains(table, `"tokens_per_s"`) || out.BlockSize != 16 || out.Blocks != 1<<16 {
		t.Errorf("%+v, %d blocks of %d", r, out.Blocks, out.BlockSize)
	}
	table, err = replayOnce(t, path, "--profiles", "default", "--copies", "3", "--json", "-")
	if err != nil || json.Unmarshal([]byte(table), &out) != nil || out.Results[0].Requests != 9 ||
		out.Results[0].HitRate > 0.51 {
		t.Errorf("three copies: %v: %s", err, table)
	}
}

func TestReplayReadsGzip(t *testing.T) {
	plain, err := os.ReadFile(traceFile(t, 9, ""))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(plain)
	_ = z.Close()
	path := filepath.Join(t.TempDir(), "trace.jsonl.gz")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := replayOnce(t, path, "--profiles", "default"); err != nil || !strings.Contains(out, "default") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestReplayNamesWhatIsWrong(t *testing.T) {
	good := traceFile(t, 3, "")
	for name, test := range map[string]struct {
		args []string
		exit int
	}{
		"no trace":        {nil, exitConfig},
		"unknown profile": {[]string{good, "--profiles", "fastest"}, exitConfig},
		"no replicas":     {[]string{good, "--replicas", "0"}, exitConfig},
		"no rate":         {[]string{good, "--rate", "-1"}, exitConfig},
		"other blocks":    {[]string{good, "--trace-block", "100"}, exitFailed},
		"negative blocks": {[]string{good, "--trace-block", "-1"}, exitConfig},
		"no session":      {[]string{good, "--session-rate", "0"}, exitConfig},
		"negative rate":   {[]string{good, "--session-rate", "-1"}, exitConfig},
		"no copy":         {[]string{good, "--copies", "0"}, exitConfig},
		"many copies":     {[]string{good, "--copies", "100000"}, exitConfig},
		"early metrics":   {[]string{good, "--metrics-delay", "-1s"}, exitConfig},
		"too many liars":  {[]string{good, "--lying-replicas", "9"}, exitConfig},
		"empty part":      {[]string{good, "--from", "0.9", "--to", "0.95"}, exitConfig},
		"unknown flag":    {[]string{good, "--speed", "3"}, exitConfig},
		"bad seed":        {[]string{"coder:x"}, exitConfig},
		"no sessions":     {[]string{"team:1:0"}, exitConfig},
		"many sessions":   {[]string{"team:1:x"}, exitConfig},
		"mix of nothing":  {[]string{"team:1:5+" + good + "x"}, exitFailed},
		"mix of blocks":   {[]string{"team:1:5+" + good, "--trace-block", "24"}, exitFailed},
		"missing file":    {[]string{good + "x"}, exitFailed},
		"missing config":  {[]string{good, "--config", good + "x"}, exitConfig},
	} {
		if _, err := replayOnce(t, test.args...); err == nil || report(err, false) != test.exit {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := replayOnce(t, traceFile(t, 3, "{\"timestamp\": 1}\n"))
	var bad *replay.TraceError
	if !errors.As(err, &bad) || bad.Line != 4 {
		t.Errorf("a bad line: %v", err)
	}
}

// A profile that refuses all has no times to first token, and not the best ones.
func TestReplayShowsNoTimesOfWhatWasRefused(t *testing.T) {
	out, err := replayOnce(t, traceFile(t, 3, ""), "--profiles", "least-load", "--blocks", "1", "--block-size", "16")
	if err != nil {
		t.Fatal(err)
	}
	row := strings.Fields(out[strings.Index(out, "least-load"):])
	if want := slices.Repeat([]string{"–"}, 7); !slices.Equal(row[2:9], want) || row[12] != "3" {
		t.Errorf("%q", row)
	}
}
