package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/receipt"
	"octet/gateway/shadow"
	"octet/gateway/tenant"
	"octet/routing"
	"octet/scheduler"
	"octet/slo"
)

// refusing is a Refuse that says the code alone.
func refusing(c *gin.Context, e *apierr.Error) { c.String(e.Status(), string(e.Code)) }

// say sends a request to e, and returns the status and the answer.
func say(e http.Handler, method, path, body string, fields ...string) (int, string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:8081"
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// serving is a configuration of two specialists without replicas.
func serving(t *testing.T) *ensemble.Runtime {
	t.Helper()
	rt := &ensemble.Runtime{Judges: ensemble.Judges{Whose: ensemble.VerdictsOwn}}
	for _, name := range []string{"debug", "systems"} {
		rt.Specialists = append(rt.Specialists, &ensemble.Specialist{Name: name, Created: 7, Adapters: []string{"v2"},
			Board: slo.NewBoard(slo.Config{})})
	}
	return rt.Seal()
}

// as has h answer the requests of a tenant.
func as(rt *ensemble.Runtime, t *tenant.Tenant, h TenantHandler) gin.HandlerFunc {
	return func(c *gin.Context) { h(c, rt, t) }
}

func TestATenantSeesItsOwnModelsAndWindows(t *testing.T) {
	e, rt, acme := NewEngine(refusing), serving(t), &tenant.Tenant{Name: "acme", Specialists: []string{"debug"}}
	e.GET("/models", as(rt, acme, Models{refusing}.List))
	e.GET("/models/:id", as(rt, acme, Models{refusing}.One))
	e.GET("/slo", as(rt, acme, SLOs{refusing}.List))
	e.GET("/slo/:specialist", as(rt, acme, SLOs{refusing}.One))
	for path, want := range map[string]string{
		"/models": `"debug:v2"`, "/models/octet": `"octet"`, "/models/debug:v2": `"parent":"debug"`,
		"/models/systems": "model_not_found", "/slo": `{"specialists":{"debug":`, "/slo/debug": `"correctness"`,
		"/slo/systems": "model_not_found", "/nothing": "route_not_found",
	} {
		if _, got := say(e, "GET", path, ""); !strings.Contains(got, want) || strings.Contains(got, `"systems"`) {
			t.Errorf("%s: %s", path, got)
		}
	}
	if status, got := say(e, "POST", "/slo", ""); status != 405 || got != "method_not_allowed" {
		t.Errorf("%d %s", status, got)
	}
}

func TestAGatewayIsReadyWhileASpecialistServes(t *testing.T) {
	var draining *apierr.Error
	h := Ready{Refuse: refusing, Now: time.Now, Proved: new(atomic.Bool),
		Draining: func() *apierr.Error { return draining },
		Current:  func() *ensemble.Runtime { return serving(t) }}
	e := NewEngine(refusing)
	e.GET("/readyz", h.Handle)
	if status, got := say(e, "GET", "/readyz", ""); status != 503 || got != "no_healthy_replica" {
		t.Errorf("%d %s", status, got)
	}
	draining = apierr.New(apierr.Draining, "", "")
	if _, got := say(e, "GET", "/readyz", ""); got != "draining" {
		t.Error(got)
	}
}

func TestOnlyOperatorsPass(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	for name, test := range map[string]struct {
		token  string
		fields []string
		want   string
	}{
		"a loopback address":   {"", nil, "yes"},
		"a host of ours":       {"", []string{"Host", "admin.example:8081"}, "yes"},
		"a name led here":      {"", []string{"Host", "evil.example"}, "permission_denied"},
		"the token":            {"t", []string{"Authorization", "Bearer t", "Host", "any.example"}, "yes"},
		"another":              {"t", []string{"Authorization", "Bearer u"}, "invalid_api_key"},
		"none":                 {"t", nil, "invalid_api_key"},
		"another site's page":  {"", []string{"Origin", "http://evil.example"}, "permission_denied"},
		"what a browser says":  {"", []string{"Sec-Fetch-Site", "cross-site"}, "permission_denied"},
		"a page of this host":  {"", []string{"Origin", "http://127.0.0.1:8081"}, "yes"},
		"a form of some page":  {"", []string{"Content-Type", form}, "unsupported_media_type"},
		"json of this machine": {"", []string{"Content-Type", "application/json"}, "yes"},
	} {
		e := NewEngine(refusing)
		e.Use(Operator{Refuse: refusing, Token: test.token, Hosts: []string{"admin.example"}}.Handle)
		e.POST("/", func(c *gin.Context) { c.String(200, "yes") })
		if _, got := say(e, "POST", "/", "", test.fields...); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestKnobsAreSetForATime(t *testing.T) {
	now := func() time.Time { return time.Unix(1000, 0) }
	knobs, err := slo.NewKnobs(now, slo.Knob{Name: "k", Max: 1, Default: .5})
	if err != nil {
		t.Fatal(err)
	}
	h := Knobs{Refuse: refusing, Knobs: knobs, Now: now, Log: slog.New(slog.DiscardHandler)}
	e := NewEngine(refusing)
	e.PUT("/knobs/:name", h.Set)
	e.DELETE("/knobs/:name", h.Clear)
	for _, test := range []struct{ path, body, want string }{
		{"/knobs/k", `{"value":0.25,"by":"me","why":"so"}`, `"why":"so"`},
		{"/knobs/k", `{"value":2}`, "invalid_value"},
		{"/knobs/k", `{"value":0.1,"for":"soon"}`, "invalid_value"},
		{"/knobs/k", `{"by":"me"}`, "missing_required_parameter"},
		{"/knobs/k", `{"value":0.1,"fro":"15m"}`, "invalid_request"},
		{"/knobs/none", `{"value":0.1}`, "route_not_found"},
	} {
		if _, got := say(e, "PUT", test.path, test.body); !strings.Contains(got, test.want) {
			t.Errorf("%s %s: %s", test.path, test.body, got)
		}
	}
	if v, _ := knobs.Value("k"); v != .25 {
		t.Errorf("the knob is at %v", v)
	}
	if _, got := say(e, "DELETE", "/knobs/k", ""); strings.Contains(got, "so") {
		t.Errorf("cleared: %s", got)
	}
	if _, got := say(e, "DELETE", "/knobs/none", ""); got != "route_not_found" {
		t.Error(got)
	}
	if e := knobError(errors.New("else")); e.Code != apierr.Internal {
		t.Errorf("%+v", e)
	}
}

func TestAVerdictSaysWhatItLacks(t *testing.T) {
	rings := receipt.NewRings(4)
	h := Outcomes{Refuse: refusing, Rings: rings, Verdicts: new(shadow.Verdicts), Now: time.Now}
	rt, acme := serving(t), &tenant.Tenant{Name: "acme"}
	d := new(receipt.Draft)
	d.Begin("r")
	rings.Of("acme").Put(d.Receipt())
	var body string
	h.Body = func(*gin.Context, *ensemble.Runtime, *tenant.Tenant) ([]byte, *apierr.Error) {
		return []byte(body), nil
	}
	e := NewEngine(refusing)
	e.POST("/outcomes", as(rt, acme, h.Handle))
	for text, want := range map[string]string{
		`{"receipt":"r","kind":"k","pass":true}`:             `{"counted":false,"receipt":"r"}`, // it has no answer
		`{"receipt":"r","kind":"k","pass":true,"pass":true}`: "duplicate_key",
		`{"receipt":"r"`: "invalid_json",
		`{"receipt":"r","kind":"k","pass":true,"more":1}`:             "invalid_request",
		`{"kind":"k","pass":true}`:                                    "missing_required_parameter",
		`{"receipt":"r","kind":"Verifier","pass":true}`:               "invalid_value",
		`{"receipt":"s","kind":"k","pass":true}`:                      "receipt_not_found",
		`{"receipt":"r","kind":"k","pass":true,"specialist":"debug"}`: "invalid_value",
	} {
		body = text
		if _, got := say(e, "POST", "/outcomes", ""); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	acme.Keyless = true
	body = `{"receipt":"r","kind":"k","pass":true}`
	if _, got := say(e, "POST", "/outcomes", ""); got != "permission_denied" {
		t.Error(got)
	}
}

// The answering step stands for the decision; a step that is left out has no pick.
//
//nolint:lll // raw text that cannot be broken
func TestAnExplanationNamesTheAnsweringStepFirst(t *testing.T) {
	r := &receipt.Receipt{RequestID: "q", Routing: []receipt.Routing{{Step: "prefill", Skipped: "short"},
		{Step: "decode"}}}
	plan := routing.Plan{Steps: []routing.Step{{Name: "decode"}}}
	e := Explain(r, plan, func(int) Pick {
		return Pick{Replica: "d-0", Predicted: 32,
			Admission: &scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, RetryAfter: time.Second}}
	})
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Steps) != 2 || e.Steps[0].Replica != "" || e.Replica != "d-0" || e.Predicted != 32 ||
		e.Admission.RetryAfterMs != 1000 || e.Routing.Step != "decode" || !strings.Contains(string(text), `"skipped":"short"`) {
		t.Errorf("%s", text)
	}
}
