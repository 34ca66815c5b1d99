package cmd

import (
	"errors"
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
