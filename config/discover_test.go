package config

import (
	"strings"
	"testing"
)

// What discover says is checked as the rest of the file, with its line.
func TestDiscoverIsChecked(t *testing.T) {
	const head = "specialists:\n- name: debug\n"
	for _, c := range []struct{ name, text, want string }{
		{"neither replicas nor discover", head, "specialists[0].replicas: missing: replicas is required (line 2)"},
		{"an empty list alone", head + "  replicas: []", "specialists[0].replicas: missing: at least one is required"},
		{"DNS without a port", head + "  discover: {dns: {name: a.b}}",
			"specialists[0].discover.dns.port: missing: A and AAAA records have no port: port is required (line 3)"},
		{"SRV with a port", head + "  discover: {dns: {name: _http._tcp.a.b, port: 80}}",
			"specialists[0].discover.dns.port: conflict: SRV records have ports of their own (line 3)"},
		{"an address for a name", head + "  discover: {dns: {name: 10.0.0.1, port: 80}}",
			"specialists[0].discover.dns.name: bad_value"},
		{"a name that is none", head + "  discover: {dns: {name: 'a..b', port: 80}}",
			"specialists[0].discover.dns.name: bad_value"},
		{"a template with a name", head + "  discover: {template: {name: x}}",
			"specialists[0].discover.template.name: unknown_key"},
		{"a template with a URL", head + "  discover: {template: {url: 'http://h:1'}}",
			"specialists[0].discover.template.url: unknown_key"},
		{"a template of no kind", head + "  discover: {template: {engine: vlm}}",
			"specialists[0].discover.template.engine: bad_value"},
		{"a template that hashes otherwise", head + "  hash_scheme: sglang\n  discover: {template: {engine: vllm}}",
			"specialists[0].discover.template.engine: conflict"},
		{"a template with another block size", head + "  block_size: 8\n  discover: {template: {block_size: 16}}",
			"specialists[0].discover.template.block_size: conflict: the specialist's replicas have blocks of 8 tokens"},
		{"a template with one socket for all", head + "  discover: {template: {events: {zmq: 'tcp://h:1'}}}",
			"specialists[0].discover.template.events.zmq: conflict"},
		{"an allowed address that is none", small + "fleet: {allow_addresses: [somewhere]}",
			"fleet.allow_addresses[0]: bad_address"},
		{"keep below zero", small + "fleet: {discovery: {keep: -1s}}", "fleet.discovery.keep: out_of_range"},
	} {
		_, err := Parse("octet.yaml", []byte(c.text), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %s, found %v", c.name, c.want, err)
		}
	}
	c := parsed(t, head+"  discover: {template: {block_size: 32, labels: {zone: a}}}\n"+
		"fleet: {allow_addresses: [169.254.10.0/24]}")
	if s := c.Specialists[0]; s.BlockSize != 32 || len(s.Replicas) != 0 {
		t.Errorf("%+v", s)
	}
	parsed(t, head+"  replicas: [{url: 'http://169.254.10.7:1'}]\nfleet: {allow_addresses: [169.254.10.0/24]}")
	parsed(t, head+"  replicas: []\n  discover: {}")
}

// A list of found replicas is read as replicas are, onto the template, with its own lines; each has a name that its URL
// alone decides.
func TestFoundReplicasAreReadOntoTheTemplate(t *testing.T) {
	c := parsed(t, "specialists: [{name: debug, discover: {template: {blocks: 512, role: prefill, labels: {zone: a}, "+
		"events: {zmq: 'tcp://{host}:5557'}}}}]")
	s := &c.Specialists[0]
	all, err := s.ParseFound("list.yaml", []byte(`[{"url": "http://10.0.0.7:8000"}, {"url": "http://[fd00::7]:8000"},
{"url": "https://engine.example.org/base", "name": "own", "blocks": 7, "labels": {"rack": "3"}}]`), "file", Options{})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	if r := all[0]; r.Name != "debug-10.0.0.7-8000" || r.Blocks != 512 || r.Role != "prefill" || r.Model != "debug" ||
		r.Labels["zone"] != "a" || r.Events.ZMQ != "tcp://10.0.0.7:5557" || r.Source != "file" {
		t.Errorf("%+v", r)
	}
	if r := all[1]; r.Name != "debug-fd00--7-8000" || r.Events.ZMQ != "tcp://[fd00::7]:5557" {
		t.Errorf("%+v", r)
	}
	if r := all[2]; r.Name != "own" || r.Blocks != 7 || len(r.Labels) != 1 ||
		s.Discover.Template.Replica.Blocks != 512 {
		t.Errorf("%+v", r)
	}
	for _, f := range []struct{ text, want string }{
		{"", ".: wrong_type: want a list of replicas, found a mapping"},
		{"replicas: []", ".: wrong_type"},
		{"- {url: 'http://h:1'}\n- {url: 'http://h:2', blocks: many}",
			"[1].blocks: wrong_type: want a whole number, found text (line 2)"},
		{"- {name: x}", "[0].url: missing: url is required (line 1)"},
		{"- {url: 'http://h:1', zone: a}", "[0].zone: unknown_key"},
		{"- {url: 'http://h:1'}\n-", "[1]: missing: a list has no empty items (line 2)"},
		{"- {url: 'http://${NOT_SET}'}", "[0].url: unset_variable"},
		{"[" + strings.Repeat("{url: 'http://h:1'}, ", 26_000) + "]", ".: too_complex"},
	} {
		if _, err := s.ParseFound("list.yaml", []byte(f.text), "file", Options{}); err == nil ||
			!strings.Contains(err.Error(), f.want) {
			t.Errorf("%.40s: want %s, found %v", f.text, f.want, err)
		}
	}
	if all, err := s.ParseFound("list.yaml", []byte("[]"), "file", Options{}); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	long, err := s.Found(Endpoint{URL: "http://" + strings.Repeat("a", 60) + ".example:8000"}, "dns")
	if err != nil || len(long[0].Name) > maxName || formName(long[0].Name) != nil {
		t.Errorf("%q, %v", long[0].Name, err)
	}
}
