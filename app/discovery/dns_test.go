package discovery_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"octet/app/discovery"
	"octet/config"
	"octet/internal/dnstest"
)

// specialist returns one whose discover says so.
func specialist(t testing.TB, discover string) *config.Specialist {
	t.Helper()
	c, err := config.Parse("test.yaml", []byte("specialists: [{name: debug, discover: {"+discover+"}}]"),
		config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &c.Specialists[0]
}

// first returns what a source tells first.
func first(t *testing.T, s discovery.Source) (discovery.Set, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var set discovery.Set
	var failed error
	s.Watch(ctx, func(found discovery.Set, err error) {
		set, failed = found, err
		cancel()
	})
	return set, failed
}

func urlsOf(set discovery.Set) (urls []string) {
	for _, rep := range set.Replicas {
		urls = append(urls, rep.URL)
	}
	return urls
}

type records = dnstest.Records

var address, service = dnstest.Address, dnstest.Service // short names

// What a DNS server answers becomes replicas, or a failure that takes nothing away.
func TestDNSAnswersBecomeReplicas(t *testing.T) {
	many := records{}
	for i := range 3000 {
		many["vllm.test. A"] = append(many["vllm.test. A"], address(fmt.Sprintf("10.1.%d.%d", i/250, i%250+1)))
	}
	const byAddress, byService = "dns: {name: vllm.test., port: 8000, empty_after: 0s}",
		"dns: {name: _http._tcp.vllm.test., empty_after: 0s, scheme: https}"
	for _, c := range []struct {
		name, discover string
		code           dnsmessage.RCode
		garbage        bool
		records        records
		urls           []string
		refused        int
		fails          string
	}{
		{name: "A records, sorted", discover: byAddress, records: records{
			"vllm.test. A": {address("10.0.0.7"), address("10.0.0.5"), address("10.0.0.7")}},
			urls: []string{"http://10.0.0.5:8000", "http://10.0.0.7:8000"}},
		{name: "one engine of two families", discover: byAddress, records: records{
			"vllm.test. A": {address("10.0.0.7")}, "vllm.test. AAAA": {address("fd00::7")}},
			urls: []string{"http://10.0.0.7:8000"}},
		{name: "AAAA alone", discover: byAddress, records: records{"vllm.test. AAAA": {address("fd00::7")}},
			urls: []string{"http://[fd00::7]:8000"}},
		{name: "both families", discover: "dns: {name: vllm.test., port: 8000, family: both}", records: records{
			"vllm.test. A": {address("10.0.0.7")}, "vllm.test. AAAA": {address("fd00::7")}},
			urls: []string{"http://10.0.0.7:8000", "http://[fd00::7]:8000"}},
		{name: "SRV records", discover: byService, records: records{"_http._tcp.vllm.test. SRV": {
			service("b.vllm.test.", 8001), service("a.vllm.test.", 8000)}},
			urls: []string{"https://a.vllm.test:8000", "https://b.vllm.test:8001"}},
		{name: "no such service", discover: byService, records: records{
			"_http._tcp.vllm.test. SRV": {service(".", 1)}}},
		{name: "SRV without a port", discover: byService, records: records{"_http._tcp.vllm.test. SRV": {
			service("a.vllm.test.", 0), service("b.vllm.test.", 1)}}, urls: []string{"https://b.vllm.test:1"},
			refused: 1},
		{name: "an empty answer", discover: byAddress},
		{name: "no such name", discover: byAddress, code: dnsmessage.RCodeNameError},
		{name: "addresses of no engine", discover: byAddress, records: records{"vllm.test. A": {address("0.0.0.0"),
			address("224.0.0.1"), address("255.255.255.255"), address("10.0.0.1")}},
			urls: []string{"http://10.0.0.1:8000"}, refused: 3},
		{name: "none but such", discover: byAddress, records: records{"vllm.test. A": {address("0.0.0.0")}},
			fails: "no addresses"},
		{name: "a server that fails", discover: byAddress, code: dnsmessage.RCodeServerFailure, fails: "misbehaving"},
		{name: "garbage", discover: byAddress, garbage: true, fails: "vllm.test"},
		{name: "a server that refuses", discover: byAddress, code: dnsmessage.RCodeRefused, fails: "vllm.test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // garbage is waited out
			s, resolver := dnstest.New(t)
			s.Set(dnstest.Answers{Code: c.code, Garbage: c.garbage, Records: c.records})
			sp := specialist(t, c.discover)
			set, err := first(t, discovery.DNS(resolver).Open(sp))
			if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) || c.fails == "" && err != nil {
				t.Fatalf("want the failure %q, found %v", c.fails, err)
			}
			if got := urlsOf(set); !slices.Equal(got, c.urls) || len(set.Refused) != c.refused {
				t.Errorf("found %q, refused %v", got, set.Refused)
			}
		})
	}
	t.Run("thousands", func(t *testing.T) {
		s, resolver := dnstest.New(t)
		s.Set(dnstest.Answers{Records: many})
		set, err := first(t, discovery.DNS(resolver).Open(specialist(t, byAddress)))
		if err != nil || len(set.Replicas) != 3000 {
			t.Errorf("%d replicas, %v", len(set.Replicas), err)
		}
	})
}

// scripted is a resolver that answers by a func.
type scripted func() ([]netip.Addr, error)

func (s scripted) LookupNetIP(_ context.Context, network, _ string) ([]netip.Addr, error) {
	if network == "ip6" {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	return s()
}

func (scripted) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", nil, nil
}

// An answer without addresses counts once it has stood for empty_after; a lookup that fails never does.
func TestAnEmptyAnswerCountsOnceItHasStood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		here := []netip.Addr{netip.MustParseAddr("10.0.0.1")}
		resolver := scripted(func() ([]netip.Addr, error) {
			switch at := time.Since(began); {
			case at < 10*time.Second:
				return here, nil
			case at < 100*time.Second:
				return nil, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
			case at < 120*time.Second:
				return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
			case at < 130*time.Second:
				return here, nil
			}
			return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Second)
		defer cancel()
		var emptied []time.Duration
		discovery.DNS(resolver).Open(specialist(t, "dns: {name: a.b, port: 1, every: 1s, empty_after: 30s}")).
			Watch(ctx, func(set discovery.Set, err error) {
				if err == nil && len(set.Replicas) == 0 {
					emptied = append(emptied, time.Since(began).Round(time.Second))
				}
			})
		if len(emptied) == 0 || emptied[0] != 160*time.Second {
			t.Errorf("no replicas at %v", emptied)
		}
	})
}
