package openai

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"octet/internal/dialing"
	"octet/internal/dnstest"
)

// A name that has led to an engine and then leads to a link-local or metadata address is not dialled there, whatever it
// was when the configuration was checked.
func TestANameThatComesToLeadToALinkLocalAddressIsNotDialled(t *testing.T) {
	dns, resolver := dnstest.New(t)
	before := net.DefaultResolver
	net.DefaultResolver = resolver
	t.Cleanup(func() { net.DefaultResolver = before })
	at, err := url.Parse(handle(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	if err != nil {
		t.Fatal(err)
	}
	c := dialUp(t, Config{URL: "http://vllm.test.:" + at.Port(), MaxIdle: -1, Guard: new(dialing.Guard)})
	leads := func(to string) {
		records := dnstest.Records{"vllm.test. A": {dnstest.Address("127.0.0.1")}}
		if ip := netip.MustParseAddr(to); ip.Is4() {
			records["vllm.test. A"] = []dnsmessage.ResourceBody{dnstest.Address(to)}
		} else {
			records = dnstest.Records{"vllm.test. AAAA": {&dnsmessage.AAAAResource{AAAA: ip.As16()}}}
		}
		dns.Set(dnstest.Answers{Records: records})
	}
	leads("127.0.0.1")
	if err := c.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{
		"169.254.169.254", "168.63.129.16", "fe80::1", "fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
	} {
		if leads(to); !errors.Is(c.Probe(t.Context()), dialing.ErrLinkLocal) {
			t.Errorf("%s: %v", to, c.Probe(t.Context()))
		}
	}
}
