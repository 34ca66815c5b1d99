package app_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"octet/app"
	"octet/app/discovery"
	"octet/config"
	"octet/internal/apptest"
	"octet/internal/dnstest"
)

const dnsYAML = `
fleet: {discovery: {settle: 0s, keep: 0s}}
specialists:
- {name: debug, tokenizer: none, discover: {dns: {name: vllm.test., port: 8000, every: 100ms, empty_after: 1h},
    template: {engine: openai, blocks: 512}}}
- {name: systems, tokenizer: none, discover: {dns: {name: _http._tcp.vllm.test., every: 100ms, empty_after: 1h},
    template: {engine: openai, blocks: 512}}}
`

// resolved starts a gateway whose replicas a DNS server has. No engine is there.
func resolved(t *testing.T, r discovery.Resolver) *app.App {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(dnsYAML), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, app.Options{Log: apptest.Log(t), Finders: []discovery.Kind{discovery.DNS(r)},
		Dial: func(context.Context, string) (net.Conn, error) { return nil, fmt.Errorf("no engine here") }})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// Whatever a DNS server answers beside addresses of engines is shown with its code or its error, and takes no replica
// away that was found before; what is good in it is taken.
func TestBadDNSAnswersAreShownAndTakeNothingAway(t *testing.T) {
	const a, srv = "vllm.test. A", "_http._tcp.vllm.test. SRV"
	good := func(more ...dnsmessage.ResourceBody) []dnsmessage.ResourceBody {
		return append([]dnsmessage.ResourceBody{dnstest.Address("10.0.0.1"), dnstest.Address("10.0.0.2")}, more...)
	}
	services := func(more ...dnsmessage.ResourceBody) []dnsmessage.ResourceBody {
		return append([]dnsmessage.ResourceBody{dnstest.Service("a.vllm.test.", 8000)}, more...)
	}
	addresses := func(n int) (all []dnsmessage.ResourceBody) {
		for i := range n {
			all = append(all, dnstest.Address(fmt.Sprintf("10.1.%d.%d", i/250, i%250+1)))
		}
		return all
	}
	dns, resolver := dnstest.New(t)
	whole := dnstest.Answers{Records: dnstest.Records{a: good(), srv: services()}}
	dns.Set(whole)
	g := resolved(t, resolver)
	urls := func() (all string) {
		for _, sp := range g.Config().Specialists {
			for _, rep := range sp.Replicas {
				all += " " + strings.TrimPrefix(rep.URL, "http://")
			}
		}
		return all
	}
	const before = " 10.0.0.1:8000 10.0.0.2:8000 a.vllm.test:8000"
	// shown is what the admin's view says of both sources.
	shown := func() string {
		var all strings.Builder
		for _, s := range g.Discovery().Sources().Sources {
			fmt.Fprintf(&all, "%s %s %s %d", s.Specialist, s.State, s.Error, s.Refused)
			why, _ := s.Why.([]discovery.Refusal)
			for _, why := range why {
				fmt.Fprintf(&all, " %s: %s", why.Replica, why.Code)
			}
			all.WriteString("; ")
		}
		return all.String()
	}
	const well = "debug ok  0; systems ok  0; "
	for _, c := range []struct {
		name    string
		answers dnstest.Answers
		shown   []string
		urls    string // empty: those that were there before
	}{
		{"no such name", dnstest.Answers{Code: dnsmessage.RCodeNameError}, []string{
			"debug failing vllm.test.: the answer has no addresses",
			"systems failing _http._tcp.vllm.test.: the answer has no addresses"}, ""},
		{"a server that fails", dnstest.Answers{Code: dnsmessage.RCodeServerFailure}, []string{
			"debug failing lookup vllm.test.", "server misbehaving",
			"systems failing lookup _http._tcp.vllm.test."}, ""},
		{"an empty answer", dnstest.Answers{}, []string{"debug failing vllm.test.: the answer has no addresses",
			"systems failing _http._tcp.vllm.test.: the answer has no addresses"}, ""},
		{"an alias of nothing", dnstest.Answers{Records: dnstest.Records{
			a: {dnstest.Alias("gone.test.")}, srv: {dnstest.Alias("gone.test.")}}}, []string{
			"debug failing vllm.test.: the answer has no addresses", "systems failing"}, ""},
		{"no DNS message", dnstest.Answers{Garbage: true}, []string{"debug failing lookup vllm.test.",
			"systems failing lookup _http._tcp.vllm.test."}, ""},
		{"no answer in time", dnstest.Answers{Silent: true}, []string{"debug failing lookup vllm.test.", "i/o timeout",
			"systems failing lookup _http._tcp.vllm.test."}, ""},
		{"ports of 0", dnstest.Answers{Records: dnstest.Records{a: good(),
			srv: services(dnstest.Service("b.vllm.test.", 0))}},
			[]string{"debug ok", "systems ok  1 b.vllm.test: bad_address"}, ""},
		{"one name twice", dnstest.Answers{Records: dnstest.Records{a: good(good()...),
			srv: services(dnstest.Service("A.vllm.test.", 8000), dnstest.Service("a.vllm.test.", 8000))}},
			[]string{"debug ok  0", "systems ok  1 systems-a.vllm.test-8000: duplicate_name"}, ""},
		{"more than a gateway can tell apart", dnstest.Answers{Records: dnstest.Records{
			a: good(addresses(config.MaxReplicas - 2)...), srv: services()}},
			[]string{"debug ok  1 debug-10.1.", ": too_many", "systems ok  0"},
			before + fmt.Sprintf(" and %d more", config.MaxReplicas-3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dns.Set(whole)
			eventually(t, "all is well", func() bool { return shown() == well && urls() == before })
			dns.Set(c.answers)
			eventually(t, "it is shown", func() bool {
				for _, part := range c.shown {
					if !strings.Contains(shown(), part) {
						return false
					}
				}
				return true
			})
			if c.urls == "" && urls() != before {
				t.Errorf("in force:%s", urls())
			}
			if c.urls != "" {
				eventually(t, "the gateway is full", func() bool {
					return strings.Count(urls(), " ") == config.MaxReplicas && strings.HasPrefix(urls(), before[:28]) &&
						strings.HasSuffix(urls(), before[28:])
				})
			}
		})
	}
}
