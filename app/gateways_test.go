package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/app"
	"octet/app/peering"
	"octet/config"
	"octet/engine/emulator"
	"octet/gateway/receipt"
	"octet/internal/apptest"
	"octet/internal/natsserver"
	"octet/internal/redistest"
	"octet/routing/plugins"
)

const groupWorld = `
auth:
  anonymous: true
  tenants:
    - {name: acme, key_sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}
    - {name: other, key_sha256: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae}
specialists:
  - name: debug
    tokenizer: builtin
    replicas: [{name: one, url: "%s", blocks: 512}]
`

// The keys of acme and of other.
const acmeKey, otherKey = "test", "foo"

// group is several gateways before the same engine.
type group struct {
	t     *testing.T
	yaml  string
	urls  []any    // of its engines, as yaml names them
	store []string // the keys that name it
	gone  func()   // stops it
	first *world
}

// eachStore runs f once for each kind of store.
func eachStore(t *testing.T, f func(t *testing.T, g *group)) {
	eachStoreOver(t, groupWorld, []emulator.Config{{Name: "one", Model: "debug", Blocks: 512,
		Step: 50 * time.Millisecond, PrefillTPS: 200000}}, f)
}

// eachStoreOver does so before other engines.
func eachStoreOver(t *testing.T, yaml string, engines []emulator.Config, f func(t *testing.T, g *group)) {
	for name, store := range map[string]func(t *testing.T) (key string, gone func()){
		"nats": func(t *testing.T) (key string, gone func()) {
			srv := natsserver.Run(t)
			return "gateways.nats.url=" + srv.ClientURL(), srv.Shutdown
		},
		"redis": func(t *testing.T) (key string, gone func()) {
			s := redistest.Start(t)
			return "gateways.redis.addr=" + s.Addr, s.Kill
		},
	} {
		t.Run(name, func(t *testing.T) {
			key, gone := store(t)
			g := &group{t: t, yaml: yaml, store: []string{key, "gateways.lease=1s"}, gone: gone}
			g.first = newWorld(t, yaml, engines, append(g.store, "gateways.name=gw-a")...)
			for _, e := range engines {
				g.urls = append(g.urls, g.first.Engines[e.Name].URL)
			}
			f(t, g)
		})
	}
}

// config returns the configuration of one more gateway.
func (g *group) config(name string) *config.Config {
	g.t.Helper()
	cfg, err := config.Parse("group.yaml", []byte(fmt.Sprintf(g.yaml, g.urls...)),
		config.Options{Presets: plugins.Presets(),
			Sets: append(append(g.first.Sets(), g.store...), "gateways.name="+name)})
	if err != nil {
		g.t.Fatal(err)
	}
	return cfg
}

// another starts one more gateway, and waits until the first one knows it.
func (g *group) another(name string) *world {
	g.t.Helper()
	before := len(g.state(g.first).Peers)
	w := &world{g.first.Another(g.config(name))}
	eventually(g.t, "they know each other", func() bool {
		return len(g.state(g.first).Peers) == before+1 && len(g.state(w).Peers) == before+1
	})
	return w
}

func (g *group) state(w *world) (s peering.State) {
	g.t.Helper()
	if status := w.Get(w.Admin+"/admin/gateways", &s); status != 200 {
		g.t.Fatalf("/admin/gateways is %d", status)
	}
	return s
}

// open begins a stream of so many tokens and returns what ends it.
func (w *world) open(tokens int) (end func()) {
	w.T.Helper()
	resp := w.Ask(w.T.Context(), "/v1/chat/completions", fmt.Sprintf(
		`{"model":"debug","stream":true,"max_tokens":%d,"messages":[{"role":"user","content":"x"}]}`, tokens))
	if resp.StatusCode != 200 {
		w.T.Fatalf("status %d", resp.StatusCode)
	}
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		w.T.Fatal(err)
	}
	return func() { _ = resp.Body.Close() }
}

// What one gateway has at a replica counts at the others while it has it, and no longer.
func TestGatewaysCountWhatTheOthersHave(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		seen := b.Replica("one")
		if n := seen.Fleet.InFlight(); n != 0 {
			t.Fatalf("%d in flight at rest", n)
		}
		end := g.first.open(400)
		eventually(t, "the other one counts it", func() bool {
			return seen.Fleet.InFlight() == 1 && seen.Gate.Calibration().Withheld > 0
		})
		s := g.state(b)
		if len(s.Peers) != 1 || s.Peers[0].Name != "gw-a" || len(s.Peers[0].Holds) != 1 ||
			s.Peers[0].Holds[0].Replica != "one" || s.Peers[0].Holds[0].Running != 1 || s.Alone || s.Name != "gw-b" {
			t.Errorf("%+v", s)
		}
		if own := seen.Fleet.Own(); own.Running != 0 {
			t.Errorf("its own is %+v", own)
		}
		if page := b.Metrics(); !strings.Contains(page, "octet_gateways 2") {
			t.Error("octet_gateways is not 2")
		}
		end()
		eventually(t, "it counts no more", func() bool {
			return seen.Fleet.InFlight() == 0 && seen.Gate.Calibration().Withheld == 0
		})
		if err := seen.Gate.Check(); err != nil {
			t.Error(err)
		}
	})
}

// A gateway that leaves is gone at once, with all that it had.
func TestAGatewayThatStopsCountsNoMore(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		end := b.open(400)
		seen := g.first.Replica("one")
		eventually(t, "it counts", func() bool { return seen.Fleet.InFlight() == 1 })
		end()
		b.Stop()
		b.Close()
		eventually(t, "it is gone", func() bool { return g.state(g.first).Alone && seen.Fleet.InFlight() == 0 })
	})
}

// A receipt is found at any gateway by its client and by operators, and by no other tenant.
func TestReceiptsAreFoundAtAnyGateway(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		resp, _ := g.first.Post("/v1/chat/completions", hello, "Authorization", "Bearer "+acmeKey)
		id := resp.Header.Get("X-Receipt-Id")
		if !strings.HasPrefix(id, "gw-a.") {
			t.Fatalf("the id is %q", id)
		}
		ask := func(path, key string) (status int, r receipt.Receipt) {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, path+id, nil)
			req.Header.Set("Authorization", "Bearer "+key)
			answer, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			_ = json.NewDecoder(answer.Body).Decode(&r)
			return answer.StatusCode, r
		}
		for name, one := range map[string]struct {
			path, key string
			want      int
		}{
			"its client":     {b.Data + "/v1/receipts/", acmeKey, 200},
			"another tenant": {b.Data + "/v1/receipts/", otherKey, 404},
			"an operator":    {b.Admin + "/admin/receipts/", "", 200},
			"at its own":     {g.first.Data + "/v1/receipts/", acmeKey, 200},
		} {
			status, r := ask(one.path, one.key)
			if status != one.want || status == 200 && (r.ID != id || r.Result.Specialist != "debug") {
				t.Errorf("%s: status %d, %+v", name, status, r)
			}
		}
	})
}

// A knob that is set at one gateway holds at all, with who and why; one that joins later takes it over.
func TestAKnobHoldsAtAllGateways(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		const knob = "load_floor.debug"
		put := func(w *world, method, body string) {
			req, _ := http.NewRequestWithContext(t.Context(), method, w.Admin+"/admin/knobs/"+knob,
				strings.NewReader(body))
			resp, err := http.DefaultClient.Do(req)
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("%v, %+v", err, resp)
			}
			_ = resp.Body.Close()
		}
		at := func(w *world) float64 {
			v, _, _ := w.App.Knobs().Own(knob)
			return v
		}
		before := at(b)
		put(g.first, http.MethodPut, `{"value":7,"by":"ops","why":"a test","for":"1h"}`)
		eventually(t, "it holds at the other", func() bool { return at(b) == 7 })
		for _, k := range b.App.Knobs().List() {
			if k.Name == knob && (k.Override == nil || k.Override.By != "ops" || k.Override.Why != "a test" ||
				k.Override.Until.IsZero()) {
				t.Errorf("%+v", k.Override)
			}
		}
		put(b, http.MethodPut, `{"value":9,"by":"ops","why":"again"}`)
		eventually(t, "the later one holds at both", func() bool { return at(g.first) == 9 })
		c := g.another("gw-c")
		eventually(t, "one that joins has it", func() bool { return at(c) == 9 })
		put(c, http.MethodDelete, "")
		eventually(t, "it ends at all", func() bool {
			return at(g.first) == before && at(b) == before && at(c) == before
		})
	})
}

// A verdict that is given at one gateway counts once at all.
func TestAVerdictCountsOnceAtEachGateway(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		judged := func(w *world) int {
			return w.App.Server().Runtime().Specialist("debug").Board.Report().Correctness.Samples
		}
		for i := range 3 {
			resp, body := g.first.Post("/v1/chat/completions", hello, "Authorization", "Bearer "+acmeKey)
			if resp.StatusCode != 200 {
				t.Fatalf("status %d: %s", resp.StatusCode, body)
			}
			verdict := fmt.Sprintf(`{"receipt":%q,"kind":"compile","pass":true}`, resp.Header.Get("X-Receipt-Id"))
			for range 2 { // the same again changes nothing
				resp, body = g.first.Post("/v1/outcomes", verdict, "Authorization", "Bearer "+acmeKey)
				if resp.StatusCode != 200 {
					t.Fatalf("status %d: %s", resp.StatusCode, body)
				}
			}
			eventually(t, "both count it", func() bool { return judged(g.first) == i+1 && judged(b) == i+1 })
		}
	})
}

// A verdict is taken at any gateway, and counts as if it had been given where the answer was.
func TestAVerdictIsTakenAtAnyGateway(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		b := g.another("gw-b")
		judged := func(w *world) int {
			return w.App.Server().Runtime().Specialist("debug").Board.Report().Correctness.Samples
		}
		resp, _ := g.first.Post("/v1/chat/completions", hello, "Authorization", "Bearer "+acmeKey)
		id := resp.Header.Get("X-Receipt-Id")
		for i, one := range []struct {
			at              *world
			key, id, of     string
			status, samples int
			says            string
		}{
			{b, otherKey, id, "", 404, 0, "receipt_not_found"},
			{b, acmeKey, "gw-a.00", "", 404, 0, "receipt_not_found"},
			{b, acmeKey, "gw-z.00", "", 404, 0, "receipt_not_found"},
			{b, acmeKey, id, "systems", 400, 0, "systems neither answered this request"},
			{b, acmeKey, id, "", 200, 1, `"counted":true`},
			{b, acmeKey, id, "", 200, 1, `"counted":false`},
			{g.first, acmeKey, id, "", 200, 1, `"counted":false`},
		} {
			verdict := fmt.Sprintf(`{"receipt":%q,"kind":"compile","pass":true,"specialist":%q}`, one.id, one.of)
			resp, body := one.at.Post("/v1/outcomes", verdict, "Authorization", "Bearer "+one.key)
			if resp.StatusCode != one.status || !strings.Contains(string(body), one.says) {
				t.Fatalf("%d: status %d: %s", i, resp.StatusCode, body)
			}
			eventually(t, "both count it", func() bool {
				return judged(g.first) == one.samples && judged(b) == one.samples
			})
		}
	})
}

// A tenant's rate is one, at whichever gateway its requests come in, and without a Redis that counts them.
func TestATenantsRateHoldsAcrossGateways(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		g.store = append(g.store, "auth.anonymous_limits.rate.requests_per_second=0.001",
			"auth.anonymous_limits.rate.burst=4")
		b, c := g.another("gw-b"), g.another("gw-c")
		for range 4 { // each takes longer than what is told of it
			if resp, body := b.Post("/v1/chat/completions", hello); resp.StatusCode != 200 {
				t.Fatalf("status %d: %s", resp.StatusCode, body)
			}
		}
		for name, w := range map[string]*world{"the same": b, "another": c} {
			resp, body := w.Post("/v1/chat/completions", hello)
			if resp.StatusCode != 429 || codeOf(t, body) != "quota_exceeded" {
				t.Errorf("%s: status %d: %s", name, resp.StatusCode, body)
			}
		}
	})
}

// While the store is away each gateway grants its part of a rate.
func TestWithoutTheStoreEachGatewayGrantsItsPartOfARate(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		g.store = append(g.store, "auth.anonymous_limits.rate.requests_per_second=0.001",
			"auth.anonymous_limits.rate.burst=6")
		b, c := g.another("gw-b"), g.another("gw-c")
		eventually(t, "b knows both", func() bool { return len(g.state(b).Peers) == 2 }) // as the first one and c do
		g.gone()
		for name, w := range map[string]*world{"b": b, "c": c} {
			eventually(t, "it says that the store is away", func() bool { return g.state(w).Away != "" })
			for i := range 3 {
				resp, body := w.Post("/v1/chat/completions", hello)
				if want := []int{200, 200, 429}[i]; resp.StatusCode != want {
					t.Errorf("%s: request %d is %d, not %d: %s", name, i, resp.StatusCode, want, body)
				}
			}
		}
	})
}

// One that starts without the store grants its part of as many gateways as there are at least.
func TestAGatewayThatStartsWithoutTheStoreGrantsItsPartOfARate(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		g.store = append(g.store, "auth.anonymous_limits.rate.requests_per_second=0.001",
			"auth.anonymous_limits.rate.burst=6", "gateways.count=3")
		g.gone()
		w := &world{g.first.Another(g.config("gw-b"))}
		if s := g.state(w); s.Away == "" {
			t.Errorf("%+v", s)
		}
		for i, want := range []int{200, 200, 429} {
			if resp, body := w.Post("/v1/chat/completions", hello); resp.StatusCode != want {
				t.Errorf("request %d is %d, not %d: %s", i, resp.StatusCode, want, body)
			}
		}
	})
}

// A second gateway of a name is refused at its start, and the first goes on.
func TestASecondGatewayOfANameIsRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, g *group) {
		a, err := app.New(t.Context(), g.config("gw-a"), app.Options{Log: apptest.Log(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if err := a.Start(); err == nil || !strings.Contains(err.Error(), "gateways.name") {
			t.Errorf("it starts: %v", err)
		}
		if s := g.state(g.first); !s.Alone || s.Away != "" {
			t.Errorf("%+v", s)
		}
	})
}
