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
	"calibration/judge":   {"calibration"},
	"calibration/records": {"calibration", "internal/natsclient", "internal/redisclient"},
	"classifier/train":    {"classifier/model"},
	"config":              {"internal/dialing"},
	"engine/emulator": {"engine", "engine/bpe", "engine/chattemplate", "engine/emulator/prose",
		"engine/emulator/tiny", "kvpool", "routing/events", "routing/index", "scheduler", "scheduler/core"},
	"engine/emulator/tiny": {"kvpool"},
	"engine/openai": {"engine", "internal/dialing", "internal/http1/client", "internal/http1/field",
		"internal/http1/poll"},
	"engine/tokens": {"engine/bpe", "kvpool"},
	"examples/geo":  {"routing", "routing/fleet", "routing/index", "routing/plugins"},
	"gateway": {"adapters", "calibration", "classifier", "engine", "gateway/apierr", "gateway/conn", "gateway/head",
		"gateway/metrics", "gateway/place", "gateway/receipt", "gateway/sse", "gateway/tenant", "gateway/wire",
		"internal/contain",
		"internal/http1/lifetime", "internal/http1/server", "kvpool", "routing", "routing/fleet",
		"routing/index", "scheduler", "scheduler/gate", "slo"},
	"gateway/apierr":             {"gateway/wire"},
	"gateway/metrics":            {"gateway/apierr", "internal/contain"},
	"gateway/conn":               {"gateway/head", "internal/http1/server"},
	"gateway/place":              {"internal/http1/lifetime", "routing/fleet", "scheduler", "scheduler/gate"},
	"gateway/receipt":            {"classifier", "routing", "routing/index"},
	"gateway/sse":                {"gateway/wire"},
	"gateway/tenant":             {"gateway/apierr"},
	"gateway/tenant/sharedrates": {"internal/redisclient"},
	"internal/http1/client": {"internal/http1/field", "internal/http1/lifetime", "internal/http1/poll",
		"internal/http1/sock"},
	"internal/http1/poll": {"internal/contain"},
	"internal/http1/server": {"internal/contain", "internal/http1/field", "internal/http1/lifetime",
		"internal/http1/poll", "internal/http1/sock"},
	"routing":                    {"kvpool", "routing/index"},
	"routing/approx":             {"kvpool", "routing/index"},
	"routing/events":             {"kvpool", "routing/events/octetkvpb", "routing/index"},
	"routing/events/enginehash":  {"kvpool"},
	"routing/events/grpcstream":  {"kvpool", "routing/events", "routing/events/octetkvpb", "routing/index"},
	"routing/events/natsstream":  {"internal/natsclient", "kvpool", "routing/events", "routing/index"},
	"routing/events/redisstream": {"internal/redisclient", "kvpool", "routing/events", "routing/index"},
	"routing/events/zmqstream":   {"routing/events", "routing/events/zmtp", "routing/index"},
	"routing/fleet":              {"routing/index"},
	"routing/index":              {"kvpool"},
	"routing/index/indextest":    {"kvpool", "routing/index"},
	"routing/index/reference":    {"kvpool", "routing/index"},
	"routing/index/runs":         {"kvpool", "routing/index"},
	"routing/plugins": {"adapters", "kvpool", "routing", "routing/approx", "routing/fleet", "routing/index",
		"slo"},
	"scheduler":                {},
	"scheduler/core":           {"kvpool", "scheduler", "scheduler/queue"},
	"scheduler/gate":           {"kvpool", "scheduler", "scheduler/queue"},
	"scheduler/internal/naive": {"kvpool"},
	"scheduler/queue":          {"scheduler"},
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
