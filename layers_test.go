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

// mayImport is the house's plan: each room, main, cmd and internal included, and the rooms it may see. A room that is
// not here may see none of ours.
var mayImport = map[string][]string{
	"app": {"adapters", "app/collectors", "app/discovery", "app/doctor", "app/discovery/kubernetes", "app/fabric",
		"app/peering", "app/pipeline",
		"app/sleepers", "calibration",
		"calibration/judge",
		"calibration/records", "classifier", "classifier/model", "classifier/remote", "config", "engine",
		"engine/openai", "engine/tokenizers", "gateway", "gateway/ensemble", "gateway/front", "gateway/intake",
		"gateway/api", "gateway/apierr", "gateway/live", "gateway/metrics", "gateway/picker", "gateway/receipt",
		"gateway/receipt/ringfile",
		"gateway/tenant", "gateway/tenant/bearer", "gateway/tenant/budget", "gateway/tenant/sharedrates",
		"gateway/trace", "gateway/trace/otlp",
		"internal/certs", "internal/command", "internal/contain",
		"internal/dialing",
		"internal/files",
		"internal/http1/poll", "kvpool", "routing", "routing/approx", "routing/belief", "routing/events",
		"routing/events/enginehash", "routing/fleet", "routing/index", "routing/peers", "routing/peers/natslink",
		"routing/peers/redislink", "routing/plugins", "scheduler",
		"scheduler/gate", "scheduler/hold", "slo", "slo/verify"},
	"app/peering": {"app/peering/ledgers", "gateway/intake", "gateway/receipt", "gateway/tenant",
		"internal/contain", "kvpool", "routing/fleet", "routing/index", "routing/peers", "routing/peers/peerspb",
		"scheduler/gate", "slo"},
	"app/peering/ledgers": {"routing/fleet", "routing/peers", "scheduler/gate", "slo"},
	"app/sleepers":        {"internal/contain", "routing/fleet", "scheduler/hold"},
	"app/collectors": {"adapters", "app/discovery", "app/peering", "app/sleepers", "calibration/records", "classifier",
		"engine/tokenizers", "gateway/api", "gateway/receipt", "gateway/tenant/bearer", "gateway/trace",
		"routing",
		"routing/approx",
		"routing/events", "routing/fleet", "routing/index", "routing/plugins"},
	"app/discovery":            {"config", "internal/contain"},
	"app/discovery/kubernetes": {"app/discovery", "config"},
	"app/doctor": {"app/fabric", "config", "engine", "engine/openai", "engine/tokenizers", "gateway/api",
		"gateway/intake",
		"gateway/wire", "internal/certs", "internal/dialing", "routing", "routing/events",
		"routing/events/enginehash", "routing/events/natsstream", "routing/events/redisstream",
		"routing/events/zmqstream", "routing/events/zmtp", "routing/index"},
	"app/fabric": {"app/collectors", "config", "internal/contain", "internal/dialing", "internal/files",
		"kvpool", "routing/approx", "routing/belief", "routing/events", "routing/events/enginehash",
		"routing/events/grpcstream", "routing/events/natsstream", "routing/events/redisstream",
		"routing/events/zmqstream", "routing/index", "routing/index/reference", "routing/index/runs"},
	"app/pipeline": {"config", "gateway/ensemble", "gateway/handover", "routing", "routing/approx", "routing/index",
		"routing/index/runs", "routing/plugins"},
	"calibration/judge":   {"calibration", "internal/command"},
	"calibration/lessons": {"calibration", "classifier", "engine"},
	"calibration/records": {"calibration", "internal/natsclient", "internal/redisclient"},
	"classifier/remote":   {"classifier", "internal/dialing"},
	"classifier/train":    {"classifier/model"},
	"cmd/adapt":           {"app/pipeline", "config", "routing/plugins"},
	"cmd/adminclient":     {"gateway/api", "gateway/apierr", "gateway/live", "gateway/receipt", "slo"},
	"cmd/top":             {"cmd/adminclient", "gateway/api", "gateway/live", "gateway/receipt", "slo"},
	"cmd": {"app", "app/doctor", "app/fabric", "app/pipeline", "calibration", "calibration/lessons",
		"calibration/records",
		"classifier",
		"classifier/model", "classifier/train", "cmd/adapt", "cmd/adminclient", "cmd/top", "config",
		"engine/emulator", "gateway/api",
		"gateway/front",
		"gateway/receipt", "internal/certs", "internal/files", "internal/http1/server", "internal/natsserver",
		"internal/replay",
		"internal/replay/matrix", "internal/systemd",
		"routing", "routing/events", "routing/events/enginehash", "routing/events/grpcstream",
		"routing/events/natsstream",
		"routing/events/redisstream", "routing/events/zmqstream", "routing/plugins", "slo"},
	"config": {"engine", "internal/dialing"},
	"engine/emulator": {"engine", "engine/bpe", "engine/chattemplate", "engine/emulator/tiny", "kvpool",
		"routing/events", "routing/index", "scheduler", "scheduler/core"},
	"engine/emulator/tiny": {"kvpool"},
	"engine/enginetest":    {"engine"},
	"engine/openai": {"engine", "internal/contain", "internal/dialing", "internal/http1/client",
		"internal/http1/field", "internal/http1/poll"},
	"engine/tokenizers": {"engine", "engine/bpe", "engine/chattemplate", "engine/openai", "engine/tokens",
		"gateway/wire", "internal/files", "kvpool", "routing", "routing/events/enginehash", "routing/index",
		"routing/plugins"},
	"engine/tokens":          {"engine/bpe", "kvpool"},
	"examples/geo/octet-geo": {"cmd", "examples/geo"},
	"examples/geo":           {"routing", "routing/fleet", "routing/index", "routing/plugins"},
	"gateway": {"gateway/api", "gateway/apierr", "gateway/conn", "gateway/decide", "gateway/dispatch",
		"gateway/doors", "gateway/doors/messages", "gateway/doors/responses", "gateway/ensemble", "gateway/escalate",
		"gateway/fault",
		"gateway/front", "gateway/head", "gateway/intake", "gateway/live",
		"gateway/metrics", "gateway/receipt", "gateway/seats", "gateway/shadow", "gateway/stream", "gateway/tenant",
		"gateway/trace", "gateway/ui", "gateway/upstream", "gateway/wire", "internal/contain", "routing", "scheduler",
		"slo"},
	"gateway/api": {"adapters", "calibration", "classifier", "gateway/apierr", "gateway/ensemble", "gateway/live",
		"gateway/metrics", "gateway/receipt", "gateway/shadow", "gateway/tenant", "gateway/tenant/budget",
		"gateway/wire", "routing", "routing/index", "scheduler", "slo"},
	"gateway/apierr": {"gateway/wire"},
	"gateway/conn":   {"gateway/head", "internal/http1/server"},
	"gateway/decide": {"calibration", "classifier", "gateway/apierr", "gateway/ensemble", "gateway/intake",
		"gateway/wire", "scheduler/gate", "slo"},
	"gateway/dispatch": {"adapters", "engine", "gateway/apierr", "gateway/doors", "gateway/ensemble", "gateway/fault",
		"gateway/intake", "gateway/metrics", "gateway/place", "gateway/plan", "gateway/receipt", "gateway/sse",
		"gateway/stream", "gateway/trace",
		"gateway/upstream", "internal/contain", "routing", "routing/fleet", "routing/index", "scheduler",
		"scheduler/gate", "scheduler/hold"},
	"gateway/doors":           {"engine", "gateway/apierr", "gateway/sse", "gateway/wire", "internal/poison"},
	"gateway/doors/responses": {"engine", "gateway/apierr", "gateway/doors", "gateway/sse", "gateway/wire"},
	"gateway/doors/messages":  {"engine", "gateway/apierr", "gateway/doors", "gateway/sse", "gateway/wire"},
	"gateway/doors/doorstest": {"gateway/doors", "gateway/wire"},
	"gateway/ensemble": {"adapters", "calibration", "classifier", "engine", "gateway/apierr", "gateway/head",
		"gateway/metrics", "gateway/sse", "gateway/tenant", "gateway/trace", "gateway/wire", "kvpool", "routing",
		"routing/fleet", "routing/index", "scheduler/gate", "scheduler/hold", "slo"},
	"gateway/escalate": {"gateway/ensemble", "scheduler", "scheduler/gate", "slo"},
	"gateway/fault": {"adapters", "classifier", "engine", "gateway/apierr", "gateway/doors", "gateway/ensemble",
		"gateway/intake", "gateway/place", "gateway/sse", "gateway/stream", "gateway/wire", "routing", "routing/fleet",
		"scheduler"},
	"gateway/front":    {"gateway/apierr", "gateway/conn", "internal/contain", "internal/http1/server"},
	"gateway/handover": {"engine", "gateway/ensemble", "gateway/wire", "routing"},
	"gateway/intake": {"classifier", "engine", "gateway/apierr", "gateway/conn", "gateway/doors",
		"gateway/ensemble", "gateway/tenant", "gateway/wire", "routing", "routing/index", "scheduler/gate"},
	"gateway/live":    {"gateway/receipt"},
	"gateway/metrics": {"gateway/apierr", "internal/contain"},
	"gateway/picker":  {"engine", "gateway/dispatch", "gateway/ensemble", "gateway/intake", "internal/contain"},
	"gateway/place":   {"internal/http1/lifetime", "routing/fleet", "scheduler", "scheduler/gate"},
	"gateway/plan": {"gateway/apierr", "gateway/ensemble", "gateway/intake", "gateway/receipt", "routing",
		"routing/index", "scheduler/gate"},
	"gateway/receipt":          {"classifier", "routing", "routing/index"},
	"gateway/receipt/ringfile": {},
	"gateway/seats":            {"gateway/apierr", "scheduler/gate"},
	"gateway/shadow": {"calibration", "classifier", "engine", "gateway/decide", "gateway/ensemble", "gateway/intake",
		"gateway/metrics", "gateway/place", "gateway/plan", "gateway/receipt", "gateway/sse", "gateway/stream",
		"gateway/trace", "gateway/upstream", "gateway/wire", "internal/contain", "routing", "routing/fleet",
		"scheduler", "scheduler/gate", "slo"},
	"gateway/sse": {"gateway/wire"},
	"gateway/stream": {"engine", "gateway/conn", "gateway/doors", "gateway/place", "gateway/sse", "gateway/wire",
		"slo"},
	"gateway/tenant":             {"gateway/apierr", "gateway/tenant/bearer", "gateway/tenant/budget"},
	"gateway/tenant/bearer":      {"internal/dialing", "internal/files"},
	"gateway/tenant/budget":      {},
	"gateway/tenant/sharedrates": {"gateway/tenant/budget", "internal/redisclient"},
	"gateway/trace":              {"gateway/receipt"},
	"gateway/trace/otlp":         {"gateway/trace", "internal/contain", "internal/dialing"},
	"gateway/ui":                 {},
	"gateway/upstream": {"engine", "gateway/doors", "gateway/ensemble", "gateway/intake", "gateway/stream",
		"gateway/wire"},
	"internal/apptest": {"app", "config", "engine/emulator", "gateway/ensemble", "routing/events",
		"routing/plugins"},
	"internal/certs":   {},
	"internal/files":   {},
	"internal/systemd": {"internal/contain"},
	"internal/vectors": {},
	"internal/http1/client": {"internal/http1/field", "internal/http1/guard", "internal/http1/lifetime",
		"internal/http1/poll", "internal/http1/sock"},
	"internal/http1/poll": {"internal/http1/guard"},
	"internal/http1/server": {"internal/http1/field", "internal/http1/guard", "internal/http1/lifetime",
		"internal/http1/poll", "internal/http1/sock"},
	"internal/replay": {"kvpool", "routing", "routing/approx", "routing/belief", "routing/fleet", "routing/index",
		"routing/index/runs", "routing/plugins", "scheduler", "scheduler/core"},
	"internal/replay/matrix": {"internal/replay"},
	"internal/sim":           {"kvpool", "scheduler", "scheduler/core", "scheduler/gate", "scheduler/queue"},
	"internal/sim/gateways": {"app/peering/ledgers", "internal/replay", "kvpool", "routing", "routing/approx",
		"routing/belief", "routing/fleet", "routing/index", "routing/index/runs", "routing/peers",
		"routing/peers/peerspb", "routing/plugins", "scheduler", "scheduler/core", "scheduler/gate"},
	"internal/sim/simgateways":   {"internal/replay", "internal/sim/gateways"},
	"internal/sim/simrun":        {"internal/sim"},
	"internal/soak":              {"internal/program"},
	"internal/soak/deadlines":    {"engine/emulator", "internal/program"},
	"internal/soak/takeover":     {"internal/program"},
	"octet":                      {"cmd"},
	"routing":                    {"kvpool", "routing/index"},
	"routing/approx":             {"kvpool", "routing/index"},
	"routing/belief":             {"kvpool", "routing/approx", "routing/index"},
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
	"routing/peers":              {"routing/peers/peerspb"},
	"routing/peers/peerspb":      {},
	"routing/peers/lease":        {"internal/contain", "routing/peers"},
	"routing/peers/natslink":     {"internal/natsclient", "routing/peers", "routing/peers/lease"},
	"routing/peers/redislink":    {"internal/redisclient", "routing/peers", "routing/peers/lease"},
	"routing/plugins": {"adapters", "kvpool", "routing", "routing/approx", "routing/fleet", "routing/index",
		"slo"},
	"scheduler":                {},
	"scheduler/core":           {"kvpool", "scheduler", "scheduler/queue"},
	"scheduler/gate":           {"kvpool", "scheduler", "scheduler/queue"},
	"scheduler/hold":           {"scheduler", "scheduler/queue"},
	"scheduler/internal/naive": {"kvpool"},
	"scheduler/queue":          {"scheduler"},
}

// everywhere may be seen by every room.
var everywhere = []string{"internal/poison"}

// quiet rooms have no logger, no metrics and no global randomness of their own.
var quiet = []string{"kvpool", "scheduler", "scheduler/queue", "scheduler/core", "scheduler/gate", "routing",
	"routing/index", "routing/index/runs",
	"routing/index/reference", "routing/approx", "classifier",
	"classifier/model", "classifier/train", "calibration"}

type pkg struct {
	ImportPath string
	Imports    []string
}

// MEGA-02, MEGA-03, MOD2-19: as far as rooms go; blocks_test.go looks at what is used of them.
func TestArrowsPointDownOnly(t *testing.T) {
	for _, arrow := range upward(ours(t)) {
		t.Error(arrow)
	}
}

// The check itself: a planted arrow up or across is found, whichever room it leaves.
func TestAPlantedArrowUpwardIsFound(t *testing.T) {
	for _, planted := range []struct{ from, to string }{
		{"kvpool", "scheduler"}, {"scheduler/queue", "scheduler/gate"}, {"routing", "gateway"}, {"gateway", "cmd"},
		{"internal/http1/sock", "config"}, {"internal/sim", "gateway"}, {"config", "cmd"}, {"octet", "gateway"},
		{"a/room/of/no/plan", "kvpool"},
	} {
		found := upward([]pkg{{ImportPath: "octet/" + planted.from, Imports: []string{"fmt", "octet/" + planted.to}}})
		if want := planted.from + " imports " + planted.to; !slices.Equal(found, []string{want}) {
			t.Errorf("%s: found %q", want, found)
		}
	}
}

// upward returns the arrows between rooms that are not in the plan.
func upward(all []pkg) (arrows []string) {
	for _, p := range all {
		room := strings.TrimPrefix(p.ImportPath, "octet/")
		for _, path := range p.Imports {
			seen, of := strings.CutPrefix(path, "octet/")
			// go list names the variant that a profile lays out: "octet/cmd [octet]"
			seen, _, _ = strings.Cut(seen, " ")
			if of && !slices.Contains(mayImport[room], seen) && !slices.Contains(everywhere, seen) {
				arrows = append(arrows, room+" imports "+seen)
			}
		}
	}
	return arrows
}

// The plan names rooms that are there.
func TestThePlanNamesRoomsThatAreThere(t *testing.T) {
	there := map[string]bool{}
	for _, p := range ours(t) {
		there[strings.TrimPrefix(p.ImportPath, "octet/")] = true
	}
	for room, seen := range mayImport {
		for _, r := range append(slices.Clone(seen), room) {
			if !there[r] {
				t.Errorf("%s, in the plan of %s, is no room", r, room)
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

// OpenTelemetry's SDK is one room's: requests know the times of their traces, and nothing of what becomes of them.
func TestOneRoomKnowsOpenTelemetry(t *testing.T) {
	const room = "octet/gateway/trace/otlp"
	knows := false
	for _, p := range ours(t) {
		for _, path := range p.Imports {
			of := strings.HasPrefix(path, "go.opentelemetry.io/")
			knows = knows || of && p.ImportPath == room
			if of && p.ImportPath != room {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
		}
	}
	if !knows {
		t.Errorf("%s does not", room)
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
		err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir // .cache, and what git keeps
			}
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

// Our HTTP could be a module of its own: it knows its own rooms, and nothing else of ours.
func TestHTTPKnowsNothingOfOctet(t *testing.T) {
	const roof = "octet/internal/http1"
	rooms := 0
	for _, p := range ours(t) {
		if p.ImportPath != roof && !strings.HasPrefix(p.ImportPath, roof+"/") {
			continue
		}
		rooms++
		for _, path := range p.Imports {
			of := strings.HasPrefix(path, "octet/") && !strings.HasPrefix(path, roof+"/")
			if of && path != "octet/internal/poison" {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
		}
	}
	if rooms < 8 {
		t.Errorf("%d rooms were found", rooms)
	}
}
