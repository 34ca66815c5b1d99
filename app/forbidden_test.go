package app_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"octet/app"
	"octet/app/discovery"
	"octet/app/discovery/kubernetes"
	"octet/config"
	"octet/internal/apptest"
)

// forbidden are addresses that no engine has: link-local ones and those of metadata services, as IPv6 writes IPv4 too.
var forbidden = []string{"169.254.0.1", "169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fe80::1",
	"febf::1", "fd00:ec2::254", "fd20:ce::254", "::ffff:169.254.1.1", "::ffff:168.63.129.16", "64:ff9b::a9fe:a9fe",
	"::169.254.1.2", "::ffff:0:a9fe:103"}

// permitted are their neighbours, which an engine may have.
var permitted = []string{"169.253.0.1", "10.0.0.1", "::ffff:10.0.0.2", "fec0::1", "fd00::1", "64:ff9b::a00:1"}

// allAllowed are prefixes that hold all that is forbidden.
const allAllowed = `"169.254.0.0/16", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fe80::/10", "fd00:ec2::254",
  "fd20:ce::254"`

// everywhere has the same replicas in each source, one of a specialist's own.
const everywhere = `
fleet: {discovery: {settle: 0s, keep: 0s, lease: 1h}, allow_addresses: [%s]}
specialists:
- {name: addresses, tokenizer: none, discover: {dns: {name: a.test, port: 8001, every: 100ms, family: both},
    template: {engine: openai, blocks: 512}}}
- {name: services, tokenizer: none, discover: {dns: {name: _http._tcp.a.test, every: 100ms},
    template: {engine: openai, blocks: 512}}}
- {name: file, tokenizer: none, discover: {file: '%s', template: {engine: openai, blocks: 512}}}
- {name: pods, tokenizer: none, discover: {kubernetes: {service: vllm, port: http, kubeconfig: '%s'},
    template: {engine: openai, blocks: 512}}}
- {name: lease, tokenizer: none, discover: {template: {engine: openai, blocks: 512}}}
`

// anywhere is a resolver of names that lead everywhere.
type anywhere struct{}

// LookupNetIP implements discovery.Resolver.
func (anywhere) LookupNetIP(_ context.Context, network, _ string) (all []netip.Addr, err error) {
	for _, text := range slices.Concat(permitted, forbidden) {
		if ip := netip.MustParseAddr(text); ip.Is4() == (network == "ip4") {
			all = append(all, ip)
		}
	}
	return all, nil
}

// LookupSRV implements discovery.Resolver.
func (anywhere) LookupSRV(context.Context, string, string, string) (_ string, all []*net.SRV, err error) {
	for _, text := range slices.Concat(permitted, forbidden) {
		all = append(all, &net.SRV{Target: text + ".", Port: 8002})
	}
	return "", all, nil
}

// urlOf is where a replica at an address is, at a port of the source's own: no two sources have one URL.
func urlOf(ip, port string) string { return "http://" + net.JoinHostPort(ip, port) }

// plainly returns addresses as they are compared, sorted.
func plainly(all ...string) string {
	var out []string
	for _, text := range all {
		out = append(out, netip.MustParseAddr(text).Unmap().String())
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// registerAll registers a replica at each address, and returns those that are refused for theirs.
func registerAll(t *testing.T, a *app.App) (refused []string) {
	t.Helper()
	for _, ip := range slices.Concat(permitted, forbidden) {
		_, _, err := a.Discovery().Register(fmt.Appendf(nil, `{"specialist":"lease","url":%q}`, urlOf(ip, "8005")))
		switch {
		case err == nil:
		case err.Param != "url":
			t.Errorf("%s: %v", ip, err)
		default:
			refused = append(refused, ip)
		}
	}
	return refused
}

// An address that no engine has makes no replica, whichever source leads there, and is shown with its fault; one that
// fleet.allow_addresses lists makes one, until it is listed no more. What the configuration lists is refused whole.
func TestForbiddenAddressesAreRefusedFromEverySource(t *testing.T) {
	k, path := newKubeAPI(t), filepath.Join(t.TempDir(), "replicas.yaml")
	pods, lines := map[string]string{}, []string(nil)
	for i, ip := range slices.Concat(permitted, forbidden) {
		pods[fmt.Sprint("pod-", i)], lines = urlOf(ip, "8004"), append(lines, "- {url: '"+urlOf(ip, "8003")+"'}")
	}
	k.set(false, pods)
	listAt(t, path, lines...)
	configured := func(allowed string) *config.Config {
		text := fmt.Sprintf(everywhere, allowed, path, k.kubeconfig(t))
		cfg, err := config.Parse("test.yaml", []byte(text), config.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	a, err := app.New(t.Context(), configured(""), app.Options{Log: apptest.Log(t), Finders: []discovery.Kind{
		discovery.File(config.Options{Environ: os.Environ()}), discovery.DNS(anywhere{}), kubernetes.Kind(nil)},
		Dial: func(context.Context, string) (net.Conn, error) { return nil, errors.New("no engine here") }})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	if got := registerAll(t, a); plainly(got...) != plainly(forbidden...) {
		t.Errorf("registrations refused: %s", got)
	}
	for _, phase := range []struct{ allowed, more string }{{"", ""}, {allAllowed, "all"}, {"", ""}} {
		if err := a.Apply(t.Context(), configured(phase.allowed)); err != nil {
			t.Fatal(err)
		}
		want := permitted
		if phase.more != "" {
			want = slices.Concat(permitted, forbidden)
			if got := registerAll(t, a); len(got) > 0 {
				t.Errorf("registrations refused of what is listed: %s", got)
			}
		}
		for i, sp := range configured("").Specialists {
			eventually(t, sp.Name+" has what it may", func() bool {
				return t.Failed() || hosts(a, i) == plainly(want...)
			})
		}
		for _, s := range a.Discovery().Sources().Sources {
			refused := plainly(forbidden...)
			if phase.more != "" {
				refused = ""
			}
			if s.State != "ok" || s.Specialist != "lease" && shownRefused(t, s.Why) != refused {
				t.Errorf("%s of %s: %s %s, refused %v", s.Source, s.Specialist, s.State, s.Error, s.Why)
			}
		}
	}
	for _, ip := range forbidden {
		text := "specialists: [{name: a, tokenizer: none, replicas: [{url: '" + urlOf(ip, "8000") + "', blocks: 512}]}]"
		if _, err := config.Parse("test.yaml", []byte(text), config.Options{}); err == nil ||
			!strings.Contains(err.Error(), "specialists[0].replicas[0].url: bad_url") {
			t.Errorf("%s in the configuration: %v", ip, err)
		}
	}
}

// hosts returns the addresses of a specialist's replicas in force.
func hosts(a *app.App, specialist int) string {
	var all []string
	for _, rep := range a.Config().Specialists[specialist].Replicas {
		if u, err := url.Parse(rep.URL); err == nil {
			all = append(all, u.Hostname())
		}
	}
	return plainly(all...)
}

// shownRefused returns the addresses that a source is shown to have refused for themselves.
func shownRefused(t *testing.T, why any) string {
	t.Helper()
	var all []string
	list, _ := why.([]discovery.Refusal)
	for _, r := range list {
		if r.Code != config.CodeBadURL || r.Path != "url" {
			t.Errorf("refused: %+v", r)
		}
		var found string
		for _, ip := range forbidden {
			if strings.Contains(r.Why, fmt.Sprintf("%q", netip.MustParseAddr(ip).Unmap())) ||
				strings.Contains(r.Why, fmt.Sprintf("%q", ip)) {
				found = ip
			}
		}
		if all = append(all, found); found == "" {
			t.Fatalf("refused: %+v", r)
		}
	}
	return plainly(all...)
}
