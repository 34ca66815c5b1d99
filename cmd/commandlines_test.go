package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandLinesOfEnginesAndBridgesAreChecked(t *testing.T) {
	for _, args := range [][]string{
		{"bridge"}, {"bridge", "--zmq", "tcp://127.0.0.1:1", "--replica", "r"}, {"bridge", "--redis", "127.0.0.1:1"},
		{"bridge", "--redis", "127.0.0.1:1", "--zmq", "x", "--replica", "r"},
		{"engine", "--zmq", "nowhere"}, {"engine", "--zmq-replay", "tcp://127.0.0.1:0"},
		{"engine", "--zmq", "tcp://127.0.0.1:0", "--zmq-layout", "xml"},
	} {
		root := Root()
		root.SetArgs(args)
		err := root.ExecuteContext(t.Context())
		var usage usageError
		if !errors.As(err, &usage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// What makes no sense is told as that, by exit status 2: a supervisor that starts it again changes nothing.
func TestCommandLinesThatMakeNoSenseAreFaultsOfUsage(t *testing.T) {
	for _, args := range [][]string{
		{"serve", "octet.yaml"}, {"epp", "octet.yaml"}, {"demo", "x"}, {"demo", "--gateways", "27"}, {"engine", "x"},
		{"bridge", "x"}, {"doctor", "x"},
		{"explain", "why", "not"}, {"replay"}, {"replay", "a", "b"}, {"replay", "--matrix"}, {"train"},
		{"train", "x", "--out", "y"}, {"train", "--data", "x"}, {"evaluate"}, {"evaluate", "a", "b"}, {"calibrate"},
		{"adapt"}, {"check"}, {"top", "x"}, {"health", "x"}, {"drain"}, {"knob", "set", "x"}, {"nothing"},
		{"serve", "--nothing"},
	} {
		root := Root()
		root.SetArgs(args)
		err := root.ExecuteContext(t.Context())
		if usage := (usageError{}); !errors.As(err, &usage) || report(err, false) != exitConfig {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// Where the artefact cannot go is told before the training, which takes minutes, and not behind it.
func TestTrainLooksWhereItsArtefactGoes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{dir, filepath.Join(dir, "none", "x"), filepath.Join(file, "x")} {
		_, err := command(t, "train", "--data", file, "--folds", "2", "--out", out)
		if err == nil || report(err, false) != exitFailed || !strings.Contains(err.Error(), dir) ||
			strings.Contains(err.Error(), "labelled") { // the data is not read yet
			t.Errorf("%s: %v", out, err)
		}
	}
}
