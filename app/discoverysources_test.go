package app_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"octet/app"
	"octet/app/discovery"
	"octet/config"
	"octet/internal/apptest"
)

// names is a resolver of a test's own.
type names struct {
	mu  sync.Mutex
	ips []netip.Addr
	err error
}

func (n *names) set(err error, ips ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ips, n.err = nil, err
	for _, ip := range ips {
		n.ips = append(n.ips, netip.MustParseAddr(ip))
	}
}

// LookupNetIP implements discovery.Resolver.
func (n *names) LookupNetIP(_ context.Context, network, _ string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if network == "ip6" && n.err == nil {
		return nil, &net.DNSError{IsNotFound: true}
	}
	return n.ips, n.err
}

// LookupSRV implements discovery.Resolver.
func (n *names) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", nil, &net.DNSError{IsNotFound: true}
}

// named starts a gateway whose replicas a resolver has.
func named(t *testing.T, n *names, more string) *app.App {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(`
fleet: {discovery: {settle: 0s, keep: 0s}`+more+`}
specialists: [{name: debug, tokenizer: none, discover: {dns: {name: a.test, port: 8000, every: 100ms, empty_after: 0s},
  template: {engine: openai, blocks: 512}}}]`), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, app.Options{Log: apptest.Log(t),
		Finders: []discovery.Kind{discovery.DNS(n)},
		Dial:    func(context.Context, string) (net.Conn, error) { return nil, fmt.Errorf("no engine here") }})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// inForce returns the URLs of the replicas in force.
func inForce(a *app.App) (urls string) {
	for _, rep := range a.Config().Specialists[0].Replicas {
		urls += rep.URL + " "
	}
	return urls
}

// A name that leads to a link-local or metadata address after a while makes no replica of it, and takes none of the
// others away; one that is allowed is a replica.
func TestARebindingNameMakesNoReplica(t *testing.T) {
	n := &names{}
	n.set(nil, "10.0.0.1")
	a := named(t, n, ", allow_addresses: [169.254.7.0/24]")
	if got := inForce(a); got != "http://10.0.0.1:8000 " {
		t.Fatalf("before the first request: %q", got)
	}
	n.set(nil, "10.0.0.1", "169.254.169.254", "100.100.100.200", "169.254.7.9", "127.0.0.1")
	eventually(t, "the allowed one is there", func() bool { return strings.Contains(inForce(a), "169.254.7.9") })
	if got := inForce(a); strings.Contains(got, "169.254.169") || strings.Contains(got, "100.100") ||
		!strings.Contains(got, "10.0.0.1") {
		t.Error(got)
	}
	state := a.Discovery().Sources()
	if len(state.Sources) != 1 || state.Sources[0].Refused != 2 || !strings.Contains(fmt.Sprint(state.Sources[0].Why),
		"bad_url") {
		t.Errorf("%+v", state)
	}
}

// An answer of ten thousand addresses is bounded: as many replicas as the gateway can tell apart, those in force first,
// and what is left out is counted. It is taken back as it came.
func TestTenThousandAddressesInOneAnswerAreBounded(t *testing.T) {
	n, many := &names{}, []string{"10.0.0.1"}
	for i := range 10_000 {
		many = append(many, fmt.Sprintf("10.1.%d.%d", i/250, i%250+1))
	}
	n.set(nil, "10.0.0.1")
	a := named(t, n, "")
	n.set(nil, many...)
	eventually(t, "the gateway is full", func() bool { return strings.Count(inForce(a), "http") == config.MaxReplicas })
	source := a.Discovery().Sources().Sources[0]
	if source.State != "ok" || !strings.Contains(fmt.Sprint(source.Why), "only the first 4096 records count") ||
		source.Refused != 4096-config.MaxReplicas+1 || !strings.Contains(inForce(a), "http://10.0.0.1:8000 ") {
		t.Errorf("%s, %d are refused: %.300v", source.State, source.Refused, source.Why)
	}
	n.set(nil, "10.0.0.1")
	eventually(t, "one is left", func() bool { return inForce(a) == "http://10.0.0.1:8000 " })
}

// A source that fails keeps what it found last, says so, and is back once it answers.
func TestASourceThatFailsKeepsItsLastSet(t *testing.T) {
	n := &names{}
	n.set(nil, "10.0.0.1", "10.0.0.2")
	a := named(t, n, "")
	n.set(&net.DNSError{Err: "server misbehaving", Name: "a.test", IsTemporary: true})
	source := func() string { s := a.Discovery().Sources().Sources[0]; return s.State + " " + s.Error }
	eventually(t, "it is shown", func() bool { return strings.Contains(source(), "failing lookup a.test") })
	if got := inForce(a); got != "http://10.0.0.1:8000 http://10.0.0.2:8000 " {
		t.Error(got)
	}
	n.set(nil, "10.0.0.2")
	eventually(t, "it is back", func() bool { return source() == "ok " && inForce(a) == "http://10.0.0.2:8000 " })
	n.set(&net.DNSError{IsNotFound: true})
	eventually(t, "an empty answer that counts at once", func() bool { return inForce(a) == "" })
}

// The failures of a file are counted and shown on the metrics page, with what was found.
func TestSourcesAreMeasured(t *testing.T) {
	w := newWorld(t, fmt.Sprintf(found, filepath.Join(t.TempDir(), "absent.yaml")), nil)
	page := w.Metrics()
	for _, line := range []string{`octet_discovery_up{source="file",specialist="debug"} 0`,
		`octet_discovery_replicas{source="file",specialist="debug"} 0`,
		`octet_discovery_failures_total{source="file",specialist="debug"} 1`, `octet_discovery_pending 0`} {
		if !strings.Contains(page, line) {
			t.Errorf("%s is not on the page", line)
		}
	}
}
