package top

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"octet/cmd/adminclient"
	"octet/gateway/api"
	"octet/gateway/live"
	"octet/slo"
)

var update = flag.Bool("update", false, "write the frames of testdata anew")

var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func of[T any](v T) *T { return &v }

// reading is what a gateway of so many specialists and replicas says.
func reading(specialists, replicas int, name func(sp, rep int) string) *Reading {
	r := &Reading{At: began, Took: 20 * time.Millisecond, SLOs: map[string]slo.Report{},
		Breakers: adminclient.Breakers{Specialists: map[string]adminclient.SpecialistsBreakers{}}}
	r.State = api.EnsembleState{Generation: 3, Open: 412, Started: began.Add(-3 * time.Hour)}
	for i := range specialists {
		sp := api.SpecialistState{Name: name(i, -1), Fallback: "systems", Total: 512 * replicas, Shadow: i,
			Free: 300 * replicas, Used: 200 * replicas, Reserved: 12 * replicas, Cached: 250 * replicas,
			Running: 40 + i, Waiting: 5 * i,
			Queue: []api.Queued{{Priority: 7, Waiting: i}, {Priority: -3, Waiting: 4 * i}},
			Hits:  api.HitAccuracy{All: 90, Part: 6, None: 4, Share: of(0.9)}}
		for j := range replicas {
			sp.Replicas = append(sp.Replicas, api.ReplicaState{Name: name(i, j), URL: "http://10.0.0.1:9001",
				Engine: "vllm", Source: "config", Healthy: true, Draining: j == 1, Why: [2]string{"", "draining"}[j%2],
				Breaker: "closed", Total: 512, Free: 300, Used: 200, Reserved: 12, Cached: 250, Running: 20,
				InFlight: 21})
		}
		r.State.Specialists = append(r.State.Specialists, sp)
		report := slo.Report{TTFT: slo.Latency{P50: of(84.0), P95: of(212.5), P99: of(1432.0), Samples: 99},
			ITL: slo.Latency{P50: of(9.0), P95: of(14.25), P99: of(31.0)}}
		report.Correctness = slo.Correctness{Rate: of(0.973 - 0.03*float64(i)), Floor: 0.95, Samples: 412}
		r.SLOs[sp.Name] = report
		r.Breakers.Specialists[sp.Name] = adminclient.SpecialistsBreakers{
			Correctness: slo.BreakerState{Standing: [2]string{"primary", "shadow-only"}[i%2]},
			Load:        &slo.EscalationState{Step: i % 3, Pressure: 0.4, Enter: 0.7}}
	}
	r.Requests = []api.OpenRequest{{ID: "a-slow-one", Specialist: name(0, -1), Replica: name(0, 0), Tenant: "acme",
		Priority: 7, Stage: "answering", AgeMs: 61500, QueuedMs: 250, Prompt: 4096, Completion: 700, Blocks: 300},
		{ID: "a-slow-one", Specialist: name(0, -1), Replica: name(0, 1), Priority: -101, Shadow: true,
			Stage: "prefilling", AgeMs: 61400, Prompt: 4096}}
	return r
}

// withAdapters gives every specialist so many adapters: each replica has loaded one of two, and waits for the other.
func withAdapters(r *Reading, n int, name func(sp, rep int) string) *Reading {
	r.Adapters = true
	for i := range r.State.Specialists {
		s := &r.State.Specialists[i]
		s.AdapterWork = &api.AdapterWork{Loads: 12, Failures: 1, Evicted: 4, Unloaded: 2}
		for j := range s.Replicas {
			for a := range n {
				v := api.AdapterView{Adapter: name(i, a) + "-lora", Version: "2", State: "loaded", InForce: true,
					Requests: 3}
				if (a+j)%2 == 1 {
					v = api.AdapterView{Adapter: name(i, a) + "-lora", State: "loading", Waiting: 2, Failures: 1,
						Error: "no such file"}
				}
				s.Replicas[j].Adapters = append(s.Replicas[j].Adapters, v)
			}
		}
	}
	return r
}

func usual(sp, rep int) string {
	one := []string{"debug", "systems", "algo"}[sp%3]
	if rep < 0 {
		return one
	}
	return fmt.Sprintf("%s-%d", one, rep)
}

// shown is a model of a terminal after messages.
func shown(width, height int, messages ...any) Model {
	m := Model{URL: "http://127.0.0.1:8081", Now: began}
	for _, msg := range append([]any{Resized{width, height}}, messages...) {
		m, _ = m.Update(msg)
	}
	return m
}

func polled(r *Reading) Polled { return Polled{Reading: r, Now: began.Add(400 * time.Millisecond)} }

func keys(names ...string) (all []any) {
	for _, k := range names {
		all = append(all, Pressed{k})
	}
	return all
}

func TestFramesAreAsTheyWere(t *testing.T) {
	r := reading(3, 2, usual)
	events := []any{Decided{live.Event{Receipt: "r-1", Time: began.Local(), Tenant: "acme", Specialist: "debug",
		Replica: "debug-0", Outcome: "ok", Status: 200, TTFTMs: 80, TotalMs: 1900, Predicted: 640, Delivered: of(640)}}}
	again, loras := *r, withAdapters(reading(3, 2, usual), 2, usual)
	again.State.Started = began
	for name, m := range map[string]Model{
		"specialists": shown(80, 24, polled(r)), "narrow": shown(60, 12, polled(r)), "small": shown(40, 10, polled(r)),
		"wide":         shown(160, 24, polled(r)),
		"replicas":     shown(80, 24, append([]any{polled(r)}, keys("2", "down", "s", "s", "s", "s")...)...),
		"filtered":     shown(80, 24, append([]any{polled(r)}, keys("2", "/", "a", "l", "g", "enter")...)...),
		"drain":        shown(80, 24, append([]any{polled(r)}, keys("2", "d")...)...),
		"requests":     shown(80, 24, append([]any{polled(r)}, keys("3")...)...),
		"decisions":    shown(80, 24, append(append([]any{polled(r)}, keys("4")...), events...)...),
		"adapters":     shown(80, 24, append([]any{polled(loras)}, keys("5", "down")...)...),
		"help":         shown(80, 24, append([]any{polled(r)}, keys("?")...)...),
		"receipt-gone": shown(80, 24, polled(r), Fetched{ID: "x", Failure: "no receipt of that id is kept"}),
		"receipt": shown(80, 24, polled(r), Fetched{ID: "r-1",
			Lines: []string{"receipt  r-1", "result   status 200"}}),
		"away": shown(80, 24, polled(r), Polled{Failure: "no admin listener answers at http://127.0.0.1:8081: " +
			"connection refused", Now: began.Add(5 * time.Second)}, Ticked{began.Add(12 * time.Second)}),
		"restarted": shown(80, 24, polled(r), Polled{Failure: "no", Now: began.Add(time.Second)}, polled(&again)),
		"nothing": shown(80, 24, Polled{Failure: "http://127.0.0.1:8081 wants a token: set OCTET_ADMIN_TOKEN",
			Now: began}),
	} {
		golden(t, name, ansi.Strip(strings.Join(m.Frame(), "\n"))+"\n")
	}
	golden(t, "once", Once("http://127.0.0.1:8081", r))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is now\n%s", name, got)
	}
}

// Issue 22, bad input: as many as there may be, names of 256 bytes that a terminal would obey; every view, every size.
func TestAFrameIsNeverLargerThanTheTerminal(t *testing.T) {
	long := strings.Repeat("\x1b[2J漢\n\u202e", 256/11)
	name := func(sp, rep int) string { return fmt.Sprintf("%s%d.%d", long, sp, rep) }
	most, some := withAdapters(reading(8, 256, name), 50, name), withAdapters(reading(8, 8, name), 2, name)
	for _, size := range [][2]int{{0, 0}, {1, 1}, {60, 12}, {80, 24}, {500, 60}} {
		for _, pressed := range [][]string{{"1"}, {"2", "end", "d"}, {"2", "s", "s", "S", "pgdown"}, {"3", "down"},
			{"4"},
			{"5", "end", "s", "s"}, {"5", "/", "a", "enter"}, {"?", "end"}, {"/", "漢", "x"}, {"1", "enter"}} {
			r := some
			if size[0] == 80 {
				r = most
			}
			m := shown(size[0], size[1], append([]any{polled(r)}, keys(pressed...)...)...)
			lines := m.Frame()
			if len(lines) > size[1] {
				t.Errorf("%v %q: %d lines", size, pressed, len(lines))
			}
			for _, l := range lines {
				text := ansi.Strip(l)
				if ansi.StringWidth(l) > size[0] || strings.ContainsAny(text, "\x1b\n\u202e") {
					t.Fatalf("%v %q: %d cells: %q", size, pressed, ansi.StringWidth(l), l)
				}
			}
		}
	}
}
