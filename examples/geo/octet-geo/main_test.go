package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"octet/cmd"
	"octet/config"
	"octet/examples/geo"
	"octet/internal/apptest"
	"octet/routing"
	"octet/routing/plugins"
)

func check(file string) error {
	c := cmd.Root()
	c.SetOut(io.Discard)
	c.SetArgs([]string{"check", file})
	return c.Execute()
}

// MOD3-50, GAIE-04: octet itself does not know the plugin; a main that registers it checks and serves a profile of the
// configuration that names it, and the plugin reads the client's place from the header that the configuration lists.
func TestAMainOfYourOwnAddsAPlugin(t *testing.T) {
	var faults *config.Faults
	if err := check("geo.yaml"); !errors.As(err, &faults) || len(faults.List) != 1 ||
		faults.List[0].Code != string(routing.CodeUnknownPlugin) || faults.List[0].Plugin != "geo-nearest" {
		t.Fatalf("unregistered: %v", err)
	}
	geo.Register()
	if err := check("geo.yaml"); err != nil {
		t.Fatalf("registered: %v", err)
	}
	text, err := os.ReadFile("geo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	yaml := strings.NewReplacer("http://127.0.0.1:9001", "%s", "http://127.0.0.1:9002", "%s").Replace(string(text))
	w := apptest.New(t, yaml, apptest.SmallEngines()[:2])
	for place, want := range map[string]string{
		"48.9, 2.4": "debug-0", "40.7,-74": "debug-1", "": "debug-0", "400,1": "debug-0", "over there": "debug-0",
	} {
		const hello = `{"model":"debug","max_tokens":1,"messages":[{"role":"user","content":"hello"}]}`
		var e struct{ Replica string }
		_, answer := w.Post("/v1/route", hello, "X-Client-Location", place)
		if err := json.Unmarshal(answer, &e); err != nil || e.Replica != want {
			t.Errorf("from %q: %s, want %s: %s", place, e.Replica, want, answer)
		}
		if resp, answer := w.Post("/v1/chat/completions", hello, "X-Client-Location", place); resp.StatusCode != 200 {
			t.Errorf("from %q: status %d: %s", place, resp.StatusCode, answer)
		}
	}
}

func TestANameThatIsTakenCannotBeRegistered(t *testing.T) {
	for _, name := range []string{"", "least-load", "queue-scorer"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was registered", name)
				}
			}()
			plugins.Register(name, geo.New)
		}()
	}
}
