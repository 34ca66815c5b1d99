package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/gateway/api"
)

const registered = `
auth: {anonymous: true}
admin: {token: a token of twenty-one}
limits: {max_queue_wait: 2s, idle_timeout: 10s, ttft_timeout: 3s, drain: 5s}
fleet: {probe_interval: 50ms, discovery: {settle: 10ms, keep: 1m}}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    sleep: {hold: 0s}
    discover: {template: {blocks: 512, engine: vllm}}
  - {name: listed, tokenizer: builtin, replicas: [{url: '%s', blocks: 512, engine: vllm}]}
`

// admin asks the admin listener.
func (w *world) admin(method, path, body string) (int, string) {
	w.T.Helper()
	req, err := http.NewRequest(method, w.Admin+path, strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer a token of twenty-one")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// A replica that is registered serves as one of the file, is shown with its lease, stays while it is renewed, over a
// reload too, and takes no new requests once its time has passed.
func TestARegisteredReplicaServesForItsTime(t *testing.T) {
	listed := newFarm(t, time.Millisecond)
	w := newWorld(t, fmt.Sprintf(registered, fmt.Sprintf("http://127.0.0.1:%d", listed.port)), nil)
	e := w.Start(debugEngine("e"))
	register := func(ttl string) (int, api.Registration) {
		status, text := w.admin("POST", "/admin/replicas",
			`{"specialist": "debug",`+"\n\t"+`"url":"`+e.URL+`","name":"e","ttl":"`+ttl+`"}`)
		var r api.Registration
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err, text)
		}
		return status, r
	}
	status, r := register("1m")
	if status != 201 || r.Name != "e" || r.Specialist != "debug" || r.TTL != "1m0s" || r.LeaseEnds.IsZero() {
		t.Fatalf("%d, %+v", status, r)
	}
	eventually(t, "it is there", func() bool { return w.Replicas()["e"] != nil })
	was := w.Replica("e")
	if resp, text := w.Post("/v1/chat/completions", simple); resp.StatusCode != 200 {
		t.Fatalf("%d: %s", resp.StatusCode, text)
	}
	if _, text := w.admin("GET", "/admin/state", ""); !strings.Contains(text, `"source":"lease"`) ||
		!strings.Contains(text, `"lease_ends":"20`) || !strings.Contains(text, `"source":"config"`) {
		t.Error(text)
	}
	if err := w.App.Apply(t.Context(), w.App.Config()); err != nil { // as a reload does
		t.Fatal(err)
	}
	status, _ = register("1s")
	if now := w.Replica("e"); status != 200 || now.Host != was.Host || now.Gate != was.Gate {
		t.Errorf("%d: it is another replica after a reload", status)
	}
	eventually(t, "its time has passed", func() bool { return w.Replica("e").Fleet.Withdrawn() })
	if resp, text := w.Post("/v1/chat/completions", simple); resp.StatusCode != 503 {
		t.Errorf("%d: %s", resp.StatusCode, text)
	}
	if status, _ := register("1m"); status != 201 {
		t.Error(status)
	}
	eventually(t, "it is back", func() bool { return !w.Replica("e").Fleet.Withdrawn() })
	if w.Replica("e").Gate != was.Gate {
		t.Error("it has lost what was known of it")
	}
}

// A registration that is ended goes once its stream has come to its end.
func TestARegistrationEndsAfterADrain(t *testing.T) {
	f := newFarm(t, 3*time.Second)
	w := newWorld(t, fmt.Sprintf(registered, fmt.Sprintf("http://127.0.0.1:%d", f.port)), nil)
	if status, text := w.admin("POST", "/admin/replicas",
		fmt.Sprintf(`{"specialist":"debug","url":"http://127.0.0.2:%d"}`, f.port)); status != 201 {
		t.Fatal(status, text)
	}
	name := fmt.Sprintf("debug-127.0.0.2-%d", f.port)
	eventually(t, "it is there", func() bool { return w.Replicas()[name] != nil })
	resp := w.Ask(t.Context(), "/v1/chat/completions",
		`{"model":"debug","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
	defer resp.Body.Close()
	if status, text := w.admin("DELETE", "/admin/replicas/"+name, ""); status != 202 ||
		!strings.Contains(text, `"in_flight":1`) {
		t.Error(status, text)
	}
	eventually(t, "it takes no new requests", func() bool { return w.Replica(name).Fleet.Withdrawn() })
	if status, _ := w.admin("DELETE", "/admin/replicas/"+name, ""); status != 202 {
		t.Error(status)
	}
	if s := readStream(resp.Body); !s.done || s.events != farmTokens+2 {
		t.Errorf("its stream is cut: %+v", s)
	}
	eventually(t, "it has gone", func() bool { return w.Replicas()[name] == nil })
	if status, text := w.admin("DELETE", "/admin/replicas/"+name, ""); status != 404 {
		t.Error(status, text)
	}
	eventually(t, "nothing is held", w.Quiet)
}

// What cannot be registered is refused with a typed error that names what is at fault, and changes nothing.
func TestWhatCannotBeRegisteredIsRefused(t *testing.T) {
	f := newFarm(t, time.Millisecond)
	w := newWorld(t, fmt.Sprintf(registered, fmt.Sprintf("http://127.0.0.1:%d", f.port)), nil)
	if status, text := w.admin("POST", "/admin/replicas",
		`{"specialist":"debug","url":"http://10.0.0.1:1","name":"first","ttl":"1h"}`); status != 201 {
		t.Fatal(status, text)
	}
	for _, c := range []struct {
		body   string
		status int
		code   string
		param  string
	}{
		{`{"specialist":"debug"`, 400, "invalid_json", ""},
		{`{"specialist":"debug"} {}`, 400, "invalid_json", ""},
		{`specialist: debug`, 400, "invalid_json", ""},
		{`[]`, 400, "invalid_value", ""},
		{`{}`, 400, "missing_required_parameter", "specialist"},
		{`{"specialist":"debug"}`, 400, "missing_required_parameter", "url"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","url":"http://10.0.0.3:1"}`, 400, "duplicate_key", "url"},
		{`{"specialist":"absent","url":"http://10.0.0.2:1"}`, 404, "model_not_found", "specialist"},
		{`{"specialist":"debug","url":"ftp://10.0.0.2"}`, 400, "invalid_value", "url"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","bogus":1}`, 400, "unsupported_parameter", "bogus"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","ttl":"soon"}`, 400, "invalid_value", "ttl"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","ttl":"1ms"}`, 400, "invalid_value", "ttl"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","ttl":"25h"}`, 400, "invalid_value", "ttl"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","engine":"none"}`, 400, "invalid_value", "engine"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","role":"prefill","prefill_header":true}`, 400,
			"invalid_value", "prefill_header"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","api_key":"${HOME}"}`, 400, "invalid_value", "api_key"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","name":"a b"}`, 400, "invalid_value", "name"},
		{`{"specialist":"listed","url":"http://10.0.0.2:1","name":"first"}`, 400, "invalid_value", "name"},
		{`{"specialist":"debug","url":"http://10.0.0.2:1","name":"listed-0"}`, 400, "invalid_value", "name"},
		{`{"specialist":"debug","url":"http://10.0.0.1:1/","name":"second"}`, 400, "invalid_value", "url"},
		{`{"specialist":"debug","url":"http://169.254.169.254"}`, 400, "invalid_value", "url"},
		{`{"specialist":"debug","url":"http://[fe80::1]:8000"}`, 400, "invalid_value", "url"},
		{`{"specialist":"debug","url":"http://[fd00:ec2::254]"}`, 400, "invalid_value", "url"},
		{`{"specialist":"debug","url":"http://100.100.100.200"}`, 400, "invalid_value", "url"},
		{`{"specialist":"debug","labels":` + strings.Repeat(`{"a":`, 2000), 400, "invalid_json", ""},
		{`{"specialist":"debug","model":"` + strings.Repeat("x", 17<<10) + `"}`, 413, "payload_too_large", ""},
	} {
		status, text := w.admin("POST", "/admin/replicas", c.body)
		var e errorBody
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err, text)
		}
		param := ""
		if e.Error.Param != nil {
			param = *e.Error.Param
		}
		if status != c.status || e.Error.Code != c.code || param != c.param {
			t.Errorf("%.80s: %d, %s", c.body, status, text)
		}
	}
	if status, text := w.admin("DELETE", "/admin/replicas/listed-0", ""); status != 400 ||
		!strings.Contains(text, "was not registered") {
		t.Error(status, text)
	}
	resp, err := http.Post(w.Admin+"/admin/replicas", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 401 {
		t.Errorf("without the token: %d", resp.StatusCode)
	}
	if len(w.App.Server().Runtime().Replicas) == 0 || w.Replicas()["second"] != nil {
		t.Error("a refused replica is there")
	}
}
