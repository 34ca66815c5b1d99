package app_test

import (
	"net/http"
	"strings"
	"testing"

	"octet/adapters"
	"octet/engine/emulator"
	"octet/routing/fleet"
)

const askA = `{"model":"open:a","max_tokens":3,"messages":[{"role":"user","content":"x"}]}`

// viewOf returns what /admin/state says of an adapter on a replica.
func (w *world) viewOf(replica, adapter string) adapters.View {
	for _, v := range w.views()[replica] {
		if v.Adapter == adapter {
			return v
		}
	}
	return adapters.View{}
}

// An adapter with nothing at its path is refused by its engines, whose words operators see and clients do not; the
// engines go on to load others, and what works keeps its places.
func TestABadPathCostsNoOtherAdapter(t *testing.T) {
	const good = "{name: b, path: /b, replicas: 1}, {name: c, path: /c, replicas: 1}, " +
		"{name: d, path: /d, replicas: 1}, {name: e, path: /e, replicas: 1}"
	w := newWorld(t, withAdapters(good+", {name: a, path: /missing/a, replicas: 1}"), lorasEngines())
	all := func() bool {
		for _, name := range []string{"b", "c", "d", "e"} {
			if !w.has("open-0", name) && !w.has("open-1", name) {
				return false
			}
		}
		return true
	}
	eventually(t, "all that work are loaded", all)
	for range 4 {
		resp, body := w.Post("/v1/chat/completions", askA)
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" ||
			!strings.Contains(string(body), "adapter a: ") || strings.Contains(string(body), "/missing") {
			t.Errorf("status %d: %s", resp.StatusCode, body)
		}
		eventually(t, "all that work are loaded again", all)
	}
	shown := w.viewOf("open-0", "a").Error + w.viewOf("open-1", "a").Error
	if !strings.Contains(shown, "No adapter found") || strings.Contains(shown, "does not load") {
		t.Errorf("/admin/state says %q", shown)
	}
	for _, name := range []string{"b", "c", "d", "e"} {
		resp, body := w.Post("/v1/chat/completions", strings.ReplaceAll(askA, "open:a", "open:"+name))
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d: %s", name, resp.StatusCode, body)
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// Where the breaker of the only replica that has an adapter is open, another loads it. Where no other can, the answer
// says that a breaker is open.
func TestAnAdapterBehindAnOpenBreakerIsLoadedElsewhere(t *testing.T) {
	for _, loads := range []bool{true, false} {
		engines := lorasEngines()
		yaml := withAdapters("{name: a, path: /a, replicas: 1}")
		if !loads {
			engines[0].Adapters = []string{"a"}
			yaml = withAdapters("{name: a}")
		}
		w := newWorld(t, yaml, engines, "fleet.breaker.failures=1", "fleet.breaker.open_for=1m")
		eventually(t, "one has it", func() bool { return w.has("open-0", "a") != w.has("open-1", "a") })
		eventually(t, "it is known", func() bool {
			return adapterLoaded(w.viewOf("open-0", "a")) || adapterLoaded(w.viewOf("open-1", "a"))
		})
		holder, other := "open-0", "open-1"
		if w.has("open-1", "a") {
			holder, other = other, holder
		}
		p, err := w.Replica(holder).Fleet.Take()
		if err != nil {
			t.Fatal(err)
		}
		p.Settle(fleet.Failed)
		resp, body := w.Post("/v1/chat/completions", askA)
		if loads && (resp.StatusCode != http.StatusOK || !w.has(other, "a")) {
			t.Errorf("status %d: %s", resp.StatusCode, body)
		}
		if !loads { // once it is known that the other has none
			eventually(t, "the answer says so", func() bool {
				resp, body = w.Post("/v1/chat/completions", askA)
				return resp.StatusCode == http.StatusServiceUnavailable &&
					strings.Contains(string(body), "breaker_open")
			})
		}
		w.Close()
	}
}

// Where nothing may wait, a request for an adapter that is not loaded is refused at once, and has it loaded for those
// that come later.
func TestWhereNothingMayWaitAnAdapterIsLoadedForLaterRequests(t *testing.T) {
	w := newWorld(t, lorasWorld, lorasEngines(), "limits.max_queue_wait=0s")
	missing := func() (names []string) {
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			if !w.has("open-0", name) && !w.has("open-1", name) {
				names = append(names, name)
			}
		}
		return names
	}
	eventually(t, "all slots are taken", func() bool { return len(missing()) == 2 })
	body := strings.ReplaceAll(askA, "open:a", "open:"+missing()[0])
	resp, answer := w.Post("/v1/chat/completions", body)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" ||
		!strings.Contains(string(answer), "not loaded in time") {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
	eventually(t, "it is loaded", func() bool {
		resp, _ := w.Post("/v1/chat/completions", body)
		return resp.StatusCode == http.StatusOK
	})
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// An adapter of which engines die takes one replica of three, though all are to have it: requests for it are refused
// until it is tried again, and those for the model are served by the others.
func TestAnAdapterThatKillsItsEngineIsNotLoadedByTheNext(t *testing.T) {
	engines := lorasEngines()
	engines = append(engines, engines[1])
	engines[2].Name = "open-2"
	for i := range engines {
		engines[i].Faults = []emulator.Fault{{Kind: emulator.LoadKills}}
	}
	w := newWorld(t, strings.Replace(strings.Replace(withAdapters("{name: a, path: /a}"), "retry_after: 200ms",
		"retry_after: 5m", 1), "blocks: 4096}]", `blocks: 4096}, {url: "%s", name: open-2, blocks: 4096}]`, 1), engines)
	dead := func() (n int) {
		for _, e := range w.Engines {
			resp, err := http.Get(e.URL + "/health")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				n++
			}
		}
		return n
	}
	eventually(t, "an engine dies of it", func() bool { return dead() > 0 })
	eventually(t, "the adapter is refused for that", func() bool {
		resp, body := w.Post("/v1/chat/completions", askA)
		return resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "" &&
			strings.Contains(string(body), "adapter a: the engine did not load it")
	})
	for range 6 {
		resp, body := w.Post("/v1/chat/completions", strings.ReplaceAll(askA, "open:a", "open"))
		if resp.StatusCode != http.StatusOK {
			t.Errorf("the model: status %d: %s", resp.StatusCode, body)
		}
	}
	if n := dead(); n != 1 {
		t.Errorf("%d engines died", n)
	}
	for name, views := range w.views() {
		if len(views) > 0 && (views[0].RetryMs == 0 || !strings.Contains(views[0].Error, "not well")) {
			t.Errorf("%s: operators see %+v", name, views)
		}
	}
}
