package discovery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"octet/app/discovery"
	"octet/config"
)

// A listed replica that is another one by now takes the slots that are free, first those of replicas that are found no
// more; one for which there is none is pending until its predecessor's is swept, and what is found does not take it.
func TestListedReplicasOfAFullGatewayWaitForSlots(t *testing.T) {
	list := func(host string) *config.Config {
		var text strings.Builder
		text.WriteString("fleet: {discovery: {keep: 1m}}\nspecialists:\n- name: systems\n  discover: {}\n  replicas:\n")
		for i := range config.MaxReplicas - 2 {
			fmt.Fprintf(&text, "  - {url: 'http://%s%d:1', engine: vllm}\n", host, i)
		}
		return parse(t, text.String())
	}
	m, f := discovery.NewMembers(), &fleet{in: map[string]string{}}
	now := time.Unix(0, 0)
	round := func(c *config.Config, found ...discovery.Found) *discovery.Plan {
		p := m.Merge(c, found, f, now)
		m.Commit(p)
		f.take(p.Config)
		return p
	}
	a, b := at("systems", "a", "http://a:1"), at("systems", "b", "http://b:1")
	if p := round(list("old"), a, b); p.Pending != 0 || len(f.in) != config.MaxReplicas {
		t.Fatalf("%d in force, %d pending", len(f.in), p.Pending)
	}
	round(list("old"), a) // b is kept
	p := round(list("new"), a, b)
	if p.Pending != config.MaxReplicas-2 || p.Again == 0 || f.in["a"] == "" ||
		f.in["b"] == "" || !p.Coming["systems"] {
		t.Fatalf("%d in force, %d pending: all slots are taken or to be swept", len(f.in), p.Pending)
	}
	for f.dirty > 0 {
		f.dirty -= min(f.dirty, 100)
		round(list("new"), a, b, at("systems", "c", "http://c:1"))
	}
	if p := round(list("new"), a, b); p.Pending != 0 || len(p.Coming) > 0 || len(f.in) != config.MaxReplicas ||
		f.in["c"] != "" || f.in["systems-0"] != "http://new0:1" {
		t.Errorf("%d in force, %d pending", len(f.in), p.Pending)
	}
}

// A replica that two sources have is one: that of the source in force stays, the other is refused and shown. Once only
// the other source has it, it goes on as it is, and has not left.
func TestTwoSourcesOfOneReplica(t *testing.T) {
	c, m := parse(t, two), discovery.NewMembers()
	f := &fleet{in: map[string]string{"debug-0": "http://listed:1"}}
	of := func(source, name, url string) discovery.Found {
		one := at("systems", name, url)
		one.Replica.Source = source
		return one
	}
	round := func(found ...discovery.Found) *discovery.Plan {
		p := m.Merge(c, found, f, time.Unix(0, 0))
		m.Commit(p)
		f.take(p.Config)
		return p
	}
	for name, other := range map[string]discovery.Found{
		"the same": of("dns", "a", "http://a:1"), "another name": of("dns", "b", "http://A:1/"),
		"another URL": of("dns", "a", "http://b:1"),
	} {
		first := of("file", "a", "http://a:1")
		round(first)
		p := round(other, first) // what is in force wins, whatever stands first
		if name == "the same" {
			p = round(first, other)
		}
		if len(p.Refused["systems"]["dns"]) != 1 || f.in["a"] != "http://a:1" || len(f.in) != 2 {
			t.Errorf("%s: %v in force, refused %v", name, f.in, p.Refused)
		}
		dirty := f.dirty
		if p = round(other); name == "the same" && (len(p.Left) > 0 || f.dirty != dirty || len(p.Refused) > 0) {
			t.Errorf("%s: left %v, %d slots to be swept", name, p.Left, f.dirty-dirty)
		}
		m, f = discovery.NewMembers(), &fleet{in: map[string]string{"debug-0": "http://listed:1"}}
	}
}
