package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/adapters"
	"octet/config"
	"octet/engine/emulator"
	"octet/gateway/api"
	"octet/routing/plugins"
)

// lorasWorld is a specialist with two replicas and adapters; %s are the replicas' URLs.
const lorasWorld = `
fleet: {probe_interval: 50ms, scrape_interval: 100ms}
specialists:
  - name: open
    tokenizer: none
    adapter_slots: 2
    adapter_rules: {retry_after: 200ms, linger: 100ms, patience: 200ms, swaps_per_minute: 6000}
    adapters: [{name: a, path: /a, replicas: 1}, {name: b, path: /b, replicas: 1}, {name: c, path: /c, replicas: 1},
      {name: d, path: /d, replicas: 1}, {name: e, path: /e, replicas: 1}, {name: f, path: /f, replicas: 1}]
    replicas: [{url: "%s", name: open-0, blocks: 4096}, {url: "%s", name: open-1, blocks: 4096}]
`

// withAdapters is lorasWorld with other adapters.
func withAdapters(list string) string {
	head, rest, _ := strings.Cut(lorasWorld, "    adapters: [")
	_, tail, _ := strings.Cut(rest, "]\n")
	return head + "    adapters: [" + list + "]\n" + tail
}

func lorasEngines() []emulator.Config {
	one := emulator.Config{Name: "open-0", Model: "open", AdapterSlots: 2, AdapterLoad: 20 * time.Millisecond,
		Step: time.Millisecond}
	two := one
	two.Name = "open-1"
	return []emulator.Config{one, two}
}

// rotate has another text be in force before the same engines.
func (w *world) rotate(yaml string, sets ...string) {
	w.T.Helper()
	text := fmt.Sprintf(yaml, w.Engines["open-0"].URL, w.Engines["open-1"].URL)
	cfg, err := config.Parse("world.yaml", []byte(text),
		config.Options{Presets: plugins.Presets(), Sets: append(w.Sets(), sets...)})
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.App.Apply(w.T.Context(), cfg); err != nil {
		w.T.Fatal(err)
	}
}

// views returns what /admin/state says of adapters, by replica.
func (w *world) views() map[string][]adapters.View {
	var state struct {
		Specialists []struct {
			Replicas []struct {
				Name     string
				Adapters []adapters.View
			}
		}
	}
	w.Get(w.Admin+"/admin/state", &state)
	all := map[string][]adapters.View{}
	for _, sp := range state.Specialists {
		for _, r := range sp.Replicas {
			all[r.Name] = r.Adapters
		}
	}
	return all
}

func adapterLoaded(v adapters.View) bool { return v.State == "loaded" && v.Confirmed }

// has reports whether an engine has an adapter by that name.
func (w *world) has(engine, name string) bool {
	var list struct{ Data []struct{ ID string } }
	w.Get(w.Engines[engine].URL+"/v1/models", &list)
	return slices.ContainsFunc(list.Data, func(m struct{ ID string }) bool { return m.ID == name })
}

// Six adapters share two replicas with two slots each: every request is answered with its adapter, and no engine is
// told to load one more than it has room for.
func TestMoreAdaptersThanSlots(t *testing.T) {
	w := newWorld(t, lorasWorld, lorasEngines())
	var asking sync.WaitGroup
	for i := range 6 {
		name := string(rune('a' + i))
		for range 2 {
			asking.Go(func() {
				for range 8 {
					resp, body := w.Post("/v1/chat/completions", `{"model":"open:`+name+
						`","max_tokens":3,"messages":[{"role":"user","content":"x"}]}`)
					if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Adapter") != name {
						t.Errorf("%s: status %d: %s", name, resp.StatusCode, body)
					}
				}
			})
		}
	}
	asking.Wait()
	eventually(t, "ledgers at their baseline", w.Quiet)
	text := w.Metrics()
	if !strings.Contains(text, `octet_adapter_loads_total{outcome="failed",specialist="open"} 0`) ||
		strings.Contains(text, `octet_adapter_unloads_total{reason="evicted",specialist="open"} 0`) {
		t.Errorf("metrics say\n%s", lines(text, "octet_adapter_"))
	}
	eventually(t, "the state tells what metrics do", func() bool { // adapters may move in between
		var state, less api.EnsembleState
		w.Get(w.Admin+"/admin/state?specialist=open", &state)
		w.Get(w.Admin+"/admin/state?adapters=none", &less)
		work, told := state.Specialists[0].AdapterWork, w.Metrics()
		tells := func(name, label string, n uint64) bool {
			return strings.Contains(told,
				fmt.Sprintf("octet_adapter_%s_total{%s,specialist=\"open\"} %d\n", name, label, n))
		}
		return less.Specialists[0].AdapterWork == nil && work.Loads >= 6 &&
			tells("loads", `outcome="loaded"`, work.Loads) && tells("unloads", `reason="evicted"`, work.Evicted)
	})
}

func lines(text, prefix string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// MEGA-68: a new path is a new edition: it is loaded beside the old one under a name of its own, requests move to it,
// the old one goes, and its probation begins. No request fails meanwhile.
func TestAnAdapterIsRotatedUnderLoad(t *testing.T) {
	sets := []string{"specialists[0].slo.correctness.floor=0.5", "router.probation.settled=true"}
	w := newWorld(t, withAdapters("{name: a, path: /a, version: '1', replicas: 2}"), lorasEngines(), sets...)
	// edition reports whether both replicas have it and no other. An engine has it before its gateway has heard so.
	edition := func(version string) bool {
		views := w.views()
		ok := len(views) == 2
		for _, v := range views {
			ok = ok && len(v) == 1 && adapterLoaded(v[0]) && v[0].Version == version && v[0].InForce
		}
		return ok
	}
	eventually(t, "both have it", func() bool { return edition("1") && w.has("open-0", "a") && w.has("open-1", "a") })
	if names := w.fresh(); slices.Contains(names, "open:a") {
		t.Errorf("on probation: %q", names)
	}
	done := make(chan struct{})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				resp, body := w.Post("/v1/chat/completions",
					`{"model":"open:a","max_tokens":3,"messages":[{"role":"user","content":"x"}]}`)
				if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Adapter") != "a" {
					t.Errorf("status %d: %s", resp.StatusCode, body)
				}
			}
		})
	}
	w.rotate(withAdapters("{name: a, path: /a2, version: '2', replicas: 2}"), sets...)
	eventually(t, "the old one is unloaded", func() bool { return !w.has("open-0", "a") && !w.has("open-1", "a") })
	close(done)
	asking.Wait()
	eventually(t, "the new one is on both, alone", func() bool { return edition("2") })
	for name, views := range w.views() {
		if views[0].Served == "a" {
			t.Errorf("%s: %+v", name, views)
		}
	}
	if names := w.fresh(); !slices.Contains(names, "open:a") {
		t.Errorf("on probation: %q", names)
	}
}

// Loads that fail half way: the request goes to the replica that can, or ends in one typed error with a time. What went
// wrong is shown, and later loads succeed.
func TestLoadsThatFailHalfWay(t *testing.T) {
	for _, kind := range []string{emulator.LoadRefused, emulator.LoadDies, emulator.LoadCut, emulator.LoadLost} {
		t.Run(kind, func(t *testing.T) {
			engines := lorasEngines()
			engines[0].Faults = []emulator.Fault{{Kind: kind, Times: 2}}
			engines[1].Faults = []emulator.Fault{{Kind: kind, Times: 2}}
			w := newWorld(t, lorasWorld, engines)
			ask := func() (*http.Response, []byte) {
				return w.Post("/v1/chat/completions",
					`{"model":"open:a","max_tokens":3,"messages":[{"role":"user","content":"x"}]}`)
			}
			refused := 0
			eventually(t, "an answer", func() bool {
				resp, body := ask()
				if resp.StatusCode == http.StatusOK {
					return true
				}
				var e struct {
					Error struct{ Code, Param, Message string }
				}
				if json.Unmarshal(body, &e) != nil || resp.StatusCode != 503 || e.Error.Code != "no_healthy_replica" ||
					e.Error.Param != "X-Adapter" || !strings.Contains(e.Error.Message, "adapter a") {
					t.Fatalf("status %d: %s", resp.StatusCode, body)
				}
				if resp.Header.Get("Retry-After") == "" {
					t.Errorf("no Retry-After: %s", body)
				}
				refused++
				return false
			})
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}
