package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayImport is the house's plan: each room, and the rooms it may see. A room that is not here may see none of ours.
var mayImport = map[string][]string{
	"config":         {"internal/dialing"},
	"routing":        {"kvpool", "routing/index"},
	"routing/index":  {"kvpool"},
	"routing/fleet":  {"routing/index"},
	"routing/approx": {"kvpool", "routing/index"},
	"routing/plugins": {"routing", "routing/index", "routing/approx", "routing/fleet", "adapters", "slo",
		"kvpool"},
	"routing/events":             {"routing/events/octetkvpb", "routing/index", "kvpool"},
	"routing/events/enginehash":  {"kvpool"},
	"routing/events/redisstream": {"internal/redisclient", "routing/events", "routing/index", "kvpool"},
	"routing/events/natsstream":  {"internal/natsclient", "routing/events", "routing/index", "kvpool"},
	"routing/events/zmqstream":   {"routing/events", "routing/events/zmtp", "routing/index"},
	"routing/events/grpcstream":  {"routing/events", "routing/events/octetkvpb", "routing/index", "kvpool"},
	"classifier/train":           {"classifier/model"},
	"scheduler":                  {},
	"scheduler/queue":            {"scheduler"},
	"scheduler/core":             {"scheduler", "scheduler/queue", "kvpool"},
	"scheduler/gate":             {"scheduler", "scheduler/queue", "kvpool"},
	"scheduler/internal/naive":   {"kvpool"},
	"internal/http1/poll":        {"internal/contain"},
	"internal/http1/server": {"internal/contain", "internal/http1/field", "internal/http1/lifetime",
		"internal/http1/poll", "internal/http1/sock"},
	"engine/openai": {"engine", "internal/dialing", "internal/http1/field", "internal/http1/lifetime",
		"internal/http1/poll", "internal/http1/sock"},
	"engine/tokens":        {"engine/bpe", "kvpool"},
	"engine/emulator/tiny": {"kvpool"},
	"engine/emulator": {"engine", "engine/bpe", "engine/chattemplate", "engine/emulator/prose",
		"engine/emulator/tiny", "scheduler", "scheduler/core", "kvpool", "routing/events", "routing/index"},
	"gateway/sse":         {"gateway/wire"},
	"gateway/apierr":      {"gateway/wire"},
	"calibration/records": {"calibration", "internal/natsclient", "internal/redisclient"},
	"gateway/sharedrates": {"internal/redisclient"},
	"calibration/judge":   {"calibration"},
	"examples/geo":        {"routing", "routing/index", "routing/fleet", "routing/plugins"},
	"gateway/place":       {"routing/fleet", "scheduler", "scheduler/gate", "internal/http1/lifetime"},
	"gateway": {"gateway/place", "gateway/apierr", "internal/http1/server", "gateway/wire", "gateway/sse",
		"calibration", "classifier", "routing", "routing/index", "routing/fleet", "scheduler", "scheduler/gate", "kvpool",
		"adapters", "engine", "slo", "internal/contain", "internal/http1/lifetime"},
}

// everywhere may be seen by every room.
var everywhere = []string{"internal/poison"}

// quiet rooms have no logger, no metrics and no global randomness of their own.
var quiet = []string{"kvpool", "scheduler", "scheduler/queue", "scheduler/core", "scheduler/gate", "routing",
	"routing/index", "routing/approx", "classifier",
	"classifier/model", "classifier/train", "calibration"}

type pkg struct {
	ImportPath string
	Imports    []string
}

// MEGA-03, MOD2-19
func TestArrowsPointDownOnly(t *testing.T) {
	for _, p := range ours(t) {
		room := strings.TrimPrefix(p.ImportPath, "octet/")
		if room == "octet" || room == "cmd" || strings.HasPrefix(room, "internal/") &&
			!strings.HasPrefix(room, "internal/http1/") {
			continue
		}
		for _, path := range p.Imports {
			if seen, of := strings.CutPrefix(path, "octet/"); of && !slices.Contains(mayImport[room], seen) &&
				!slices.Contains(everywhere, seen) {
				t.Errorf("%s imports %s", room, seen)
			}
		}
	}
}

func TestCoreRoomsAreQuiet(t *testing.T) {
	for _, p := range ours(t) {
		room := strings.TrimPrefix(p.ImportPath, "octet/")
		if !slices.Contains(quiet, room) {
			continue
		}
		for _, path := range p.Imports {
			if path == "log" || path == "log/slog" || strings.Contains(path, "prometheus") {
				t.Errorf("%s imports %s", room, path)
			}
		}
	}
}

// ours lists the packages of this module.
func ours(t *testing.T) (all []pkg) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// Libraries that allocate by what a server says are spoken to through one package each, which bounds it.
func TestClientsOfServersAreMadeInOnePlace(t *testing.T) {
	for call, room := range map[string]string{"redis.NewClient(": "internal/redisclient/",
		"nats.Connect(": "internal/natsclient/"} {
		err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.HasPrefix(path, room) {
				return err
			}
			source, err := os.ReadFile(path)
			if strings.Contains(string(source), call) {
				t.Errorf("%s calls %s", path, call)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
