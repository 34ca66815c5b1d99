package app_test

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"octet/app"
	"octet/engine/emulator"
	"octet/gateway/apierr"
)

// operatorToken is an admin token.
const operatorToken = "an operator's sesame"

// newDirectWorld is yaml with a tenant that may name replicas, a tenant that may not, and an admin token.
func newDirectWorld(t *testing.T, yaml string, engines []emulator.Config, sets ...string) *world {
	t.Helper()
	w := newWorld(t, yaml, engines, keyed(append(sets, "auth.tenants[0].may_direct=true",
		"auth.tenants[1].name=plain", "auth.tenants[1].key_sha256="+strings.Repeat("ab", 32),
		"admin.token="+operatorToken)...)...)
	w.Key = key
	return w
}

// errorIn reads an error's body.
func errorIn(t testing.TB, answer []byte) (e errorBody) {
	t.Helper()
	if err := json.Unmarshal(answer, &e); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return e
}

// refusal sends a chat and returns its error: status, code and parameter.
func (w *world) refusal(body string, headers ...string) (status int, code apierr.Code, param, message string) {
	w.T.Helper()
	resp, answer := w.Post("/v1/chat/completions", body, headers...)
	e := errorIn(w.T, answer)
	if e.Error.Param != nil {
		param = *e.Error.Param
	}
	return resp.StatusCode, apierr.Code(e.Error.Code), param, e.Error.Message
}

// DYN-13: a caller names the replica, whatever the profile prefers; the receipt says so.
func TestACallerNamesTheReplica(t *testing.T) {
	for _, profile := range []string{"default", "cache-aware-sticky", "consistent-hash", "least-load", "direct"} {
		w := newDirectWorld(t, worldWith(profile, ""), smallEngines())
		for i := range 6 {
			name := []string{"debug-0", "debug-1"}[i/3]
			model := []string{"debug", "octet", ""}[i%3]
			resp, answer := w.Post("/v1/chat/completions",
				`{"model":"`+model+`","max_tokens":4,"messages":[{"role":"user","content":"hello"}]}`,
				"X-Octet-Replica", name, "X-Session-Id", "one")
			if resp.StatusCode != 200 || resp.Header.Get("X-Replica") != app.Opaque(name) ||
				resp.Header.Get("X-Specialist") != "debug" || resp.Header.Get("X-Attempts") != "1" {
				t.Errorf("%s, model %q: status %d from %s: %s", profile, model, resp.StatusCode,
					resp.Header.Get("X-Replica"), answer)
			}
			if r := w.receiptOf(resp.Header); r.Asked.Replica != name || r.Decision.RoutedBy != "model" {
				t.Errorf("%s: asked %+v, decision %+v", profile, r.Asked, r.Decision)
			}
		}
		eventually(t, "ledgers at their baseline", w.Quiet)
	}
}

// GAIE-06: endpoints of one address on ports of their own, such as data-parallel ranks, are chosen each on its own: one
// is named, drained and counted without the other.
func TestEndpointsOfOneAddressAreChosenEachOnItsOwn(t *testing.T) {
	w := newDirectWorld(t, smallWorld, smallEngines())
	ends := map[string]string{}
	for _, name := range []string{"debug-0", "debug-1"} {
		host, port, err := net.SplitHostPort(strings.TrimPrefix(w.Engines[name].URL, "http://"))
		if err != nil || host != "127.0.0.1" || ends[port] != "" {
			t.Fatalf("%s is at %s, port %s: %v", name, host, port, err)
		}
		ends[port] = name
	}
	for name, other := range map[string]string{"debug-0": "debug-1", "debug-1": "debug-0"} {
		w.Replica(other).Fleet.SetDraining(true)
		named, alone := w.Engines[name].Stats().Admitted, w.Engines[other].Stats().Admitted
		for _, headers := range [][]string{nil, {"X-Octet-Replica", name}} {
			if resp, answer := w.Post("/v1/chat/completions", hello, headers...); resp.StatusCode != 200 ||
				resp.Header.Get("X-Replica") != app.Opaque(name) {
				t.Errorf("%s drains: status %d from %s: %s", other, resp.StatusCode, resp.Header.Get("X-Replica"),
					answer)
			}
		}
		if w.Engines[name].Stats().Admitted != named+2 || w.Engines[other].Stats().Admitted != alone {
			t.Errorf("%s drains and is asked, or %s is not", other, name)
		}
		if status, code, _, _ := w.refusal(hello, "X-Octet-Replica", other); status != 503 ||
			code != apierr.NoHealthyReplica {
			t.Errorf("%s drains and is named: %d %s", other, status, code)
		}
		w.Replica(other).Fleet.SetDraining(false)
	}
	if w.Replica("debug-0").Gate == w.Replica("debug-1").Gate {
		t.Error("the two endpoints have one Gate")
	}
}

// DYN-13: the admin token names a replica with or without tenants, and is no key otherwise.
func TestTheAdminTokenNamesAReplica(t *testing.T) {
	for name, sets := range map[string][]string{"with tenants": keyed("auth.anonymous=false"), "without": nil} {
		w := newWorld(t, smallWorld, smallEngines(), append(sets, "admin.token="+operatorToken)...)
		w.Key = operatorToken
		resp, answer := w.Post("/v1/chat/completions", hello, "X-Octet-Replica", "debug-1")
		if resp.StatusCode != 200 || resp.Header.Get("X-Replica") != app.Opaque("debug-1") {
			t.Errorf("%s: status %d: %s", name, resp.StatusCode, answer)
		}
		if resp, _ := w.Post("/v1/chat/completions", hello); name == "with tenants" &&
			resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("the admin token is a key: status %d", resp.StatusCode)
		}
	}
}

// DYN-13: a replica that is unknown, not of the specialist, or not to be named by this caller is a typed error, over
// POST /v1/route as well; never another replica.
func TestARefusedReplicaIsNeverAnother(t *testing.T) {
	w := newDirectWorld(t, smallWorld, smallEngines())
	asked := func() (n int64) {
		for _, e := range w.Engines {
			n += int64(e.Stats().Admitted)
		}
		return n
	}
	for name, c := range map[string]struct {
		body, replica, key string
		status             int
		code               apierr.Code
	}{
		"unknown":               {hello, "debug-9", key, 404, apierr.ModelNotFound},
		"another specialist's":  {hello, "systems-0", key, 404, apierr.ModelNotFound},
		"its opaque name":       {hello, app.Opaque("debug-0"), key, 404, apierr.ModelNotFound},
		"without the right":     {hello, "debug-0", "", 403, apierr.PermissionDenied},
		"unknown, no right":     {hello, "debug-9", "", 403, apierr.PermissionDenied},
		"a wrong admin token":   {hello, "debug-0", operatorToken + "x", 401, apierr.InvalidAPIKey},
		"too long to be a name": {hello, strings.Repeat("d", 300), key, 400, apierr.InvalidValue},
	} {
		w.Key = c.key
		before := asked()
		for _, path := range []string{"/v1/chat/completions", "/v1/route"} {
			resp, answer := w.Post(path, c.body, "X-Octet-Replica", c.replica)
			e := errorIn(t, answer)
			if resp.StatusCode != c.status || apierr.Code(e.Error.Code) != c.code ||
				c.status != 401 && (e.Error.Param == nil || *e.Error.Param != "X-Octet-Replica") {
				t.Errorf("%s: status %d: %s", name, resp.StatusCode, answer)
			}
		}
		if asked() != before {
			t.Errorf("%s: an engine was asked", name)
		}
	}
}

// DYN-13: a replica that is draining, whose breaker is open, or whose specialist is demoted is an error.
func TestANamedReplicaThatCannotServeIsAnError(t *testing.T) {
	w := newDirectWorld(t, judgedWorld, judgedEngines())
	w.Engines["systems-0"].Kill()
	eventually(t, "the death is seen", func() bool {
		return !w.App.Server().Runtime().Replica("systems-0").Fleet.Healthy()
	})
	routed := strings.Replace(hello, `"debug"`, `"octet"`, 1)
	if status, code, _, message := w.refusal(routed, "X-Octet-Replica", "systems-0"); status != 503 ||
		code != apierr.NoHealthyReplica || !strings.Contains(message, "systems-0") {
		t.Errorf("dead: %d %s: %s", status, code, message)
	}
	w.App.Server().Runtime().Replica("debug-0").Fleet.SetDraining(true)
	if status, code, _, _ := w.refusal(hello, "X-Octet-Replica", "debug-0"); status != 503 ||
		code != apierr.NoHealthyReplica {
		t.Errorf("draining: %d %s", status, code)
	}
	w.App.Server().Runtime().Replica("debug-0").Fleet.SetDraining(false)
	w.demote("debug")
	if status, code, _, message := w.refusal(hello, "X-Octet-Replica", "debug-0"); status != 503 ||
		code != apierr.BreakerOpen || !strings.Contains(message, "demoted") {
		t.Errorf("demoted: %d %s: %s", status, code, message)
	}
}

// DYN-13: the preset direct serves what names a replica, and says to the rest what it lacks.
func TestTheDirectPresetWantsAName(t *testing.T) {
	w := newDirectWorld(t, worldWith("direct", ""), smallEngines())
	if status, code, param, _ := w.refusal(hello); status != 400 || code != apierr.MissingParameter ||
		param != "X-Octet-Replica" {
		t.Errorf("without a name: %d %s, %q", status, code, param)
	}
}

// DYN-13 with stickiness: the name wins over the session's replica, and the session then stays where it was served.
func TestANamedReplicaWinsOverTheSessions(t *testing.T) {
	w := newDirectWorld(t, worldWith("sticky", "profiles: {sticky: {prepare: [session-key], filter: [health], "+
		"score: [{least-load: 1}], pick: session}}\n"), smallEngines())
	at := func(headers ...string) string {
		resp, _ := w.Post("/v1/chat/completions", hello, append(headers, "X-Session-Id", "s")...)
		return resp.Header.Get("X-Replica")
	}
	first := at()
	other := "debug-0"
	if first == app.Opaque(other) {
		other = "debug-1"
	}
	if got := at("X-Octet-Replica", other); got != app.Opaque(other) {
		t.Errorf("served by %s, named %s", got, other)
	}
	if got := at(); got != app.Opaque(other) {
		t.Errorf("the session goes on at %s, its cache is at %s", got, other)
	}
}

// DYN-13 with a death: a stream whose named replica dies ends with a typed error. It does not go on elsewhere, though
// another replica could.
func TestAStreamOfANamedReplicaDoesNotGoOnElsewhere(t *testing.T) {
	const body = `{"model":"debug","stream":true,"temperature":0,"max_tokens":40,` +
		`"messages":[{"role":"user","content":"x"}]}`
	for _, fault := range []string{emulator.DieAfterTokens, emulator.DieBeforeHeaders} {
		w := newDirectWorld(t, smallWorld, speaking(emulator.TextIndex), "limits.retry_budget=1")
		w.Fault("debug-1", `{"kind":"`+fault+`","k":3}`)
		before := w.Engines["debug-0"].Stats().Admitted
		resp := w.Ask(t.Context(), "/v1/chat/completions", body, "X-Octet-Replica", "debug-1")
		s := readStream(resp.Body)
		if fault == emulator.DieAfterTokens && (resp.StatusCode != 200 || s.done || s.failed == nil) {
			t.Errorf("%s: status %d, %+v", fault, resp.StatusCode, s)
		}
		// a request that was lost with a kept connection is sent once more: to the same replica
		if fault == emulator.DieBeforeHeaders && resp.StatusCode != 502 &&
			(resp.StatusCode != 200 || resp.Header.Get("X-Replica") != app.Opaque("debug-1")) {
			t.Errorf("%s: status %d from %s", fault, resp.StatusCode, resp.Header.Get("X-Replica"))
		}
		if after := w.Engines["debug-0"].Stats().Admitted; after != before {
			t.Errorf("%s: debug-0 was asked", fault)
		}
		eventually(t, "ledgers at their baseline", w.Quiet)
	}
}

// DYN-13 with disaggregation: the name is that of the replica that answers; the steps before it choose as ever.
func TestANamedReplicaDecodes(t *testing.T) {
	w := newDirectWorld(t, halves, halvesEngines())
	for i, name := range []string{"d-0", "d-1", "d-1", "d-0"} {
		_, resp := w.says("whole", long("debug", string(rune('a'+i)), ""), "X-Octet-Replica", name)
		if got := attempts(w.receipt(resp)); !strings.Contains(got, "decode:"+name+"=ok") ||
			!strings.Contains(got, "prefill:p-") {
			t.Errorf("named %s: %s", name, got)
		}
	}
	if status, code, _, _ := w.refusal(long("debug", "z", ""), "X-Octet-Replica", "p-0"); status != 503 ||
		code != apierr.NoHealthyReplica {
		t.Errorf("a replica that cannot answer: %d %s", status, code)
	}
}

// DYN-13 with a shadow: a copy at the same specialist goes where its own routing sends it.
func TestAShadowDoesNotFollowTheName(t *testing.T) {
	yaml := worldWith("pinned", "profiles: {pinned: {filter: [health], pick: {direct: {replica: debug-0}}}}\n"+
		"router: {probation: {settled: false}}\n")
	w := newDirectWorld(t, yaml, smallEngines(), "shadow.stream=")
	resp, answer := w.Post("/v1/chat/completions", hello, "X-Octet-Replica", "debug-1", "X-Adapter", "gdb-v2")
	if resp.StatusCode != 200 || resp.Header.Get("X-Replica") != app.Opaque("debug-1") ||
		resp.Header.Get("X-Shadow") != "debug" {
		t.Fatalf("status %d, shadow %q: %s", resp.StatusCode, resp.Header.Get("X-Shadow"), answer)
	}
	eventually(t, "the shadow at its own replica", func() bool { return w.Engines["debug-0"].Stats().Admitted == 1 })
	if n := w.Engines["debug-1"].Stats().Admitted; n != 1 {
		t.Errorf("the named replica was asked %d times", n)
	}
}
