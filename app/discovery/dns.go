package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"octet/config"
)

// Resolver is what DNS is asked by; net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, all []*net.SRV, err error)
}

// Bounds of a lookup.
const (
	mostLookup = 5 * time.Second
	// mostRecords bounds what is made of one answer: more than any gateway can tell apart.
	mostRecords = 4096
)

// DNS is the source of a name that leads to A, AAAA or SRV records.
func DNS(r Resolver) Kind {
	return Kind{"dns", func(sp *config.Specialist) Source {
		if sp.Discover.DNS == nil {
			return nil
		}
		return &dns{sp: sp, DNS: sp.Discover.DNS, resolver: r}
	}}
}

type dns struct {
	*config.DNS
	sp       *config.Specialist
	resolver Resolver
	empty    time.Time // when the answers without an address began; zero while they have some
}

// Watch implements Source. An answer without addresses counts as a failure until it has stood for empty_after.
func (d *dns) Watch(ctx context.Context, tell func(Set, error)) {
	every := time.NewTicker(d.Every)
	defer every.Stop()
	for {
		set, err := d.look(ctx)
		if ctx.Err() != nil {
			return
		}
		tell(set, err)
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// errEmpty is an answer without addresses that does not count yet.
var errEmpty = errors.New("the answer has no addresses")

// look asks once.
func (d *dns) look(ctx context.Context) (Set, error) {
	ctx, cancel := context.WithTimeout(ctx, mostLookup)
	defer cancel()
	found, refused, err := d.ask(ctx)
	if err != nil {
		return Set{}, err
	}
	if len(found) > 0 {
		d.empty = time.Time{}
		set := SetOf(d.sp, "dns", found)
		set.Refused = append(set.Refused, refused...)
		return set, nil
	}
	if d.empty.IsZero() {
		d.empty = time.Now()
	}
	if stood := time.Since(d.empty); stood < d.EmptyAfter || len(refused) > 0 {
		return Set{}, fmt.Errorf("%s: %w, for %s", d.Name, errEmpty, stood.Round(time.Second))
	}
	return Set{}, nil
}

// ask returns what the name leads to, sorted, each once. A name that does not exist leads to nothing.
func (d *dns) ask(ctx context.Context) (found []config.Endpoint, refused []Refusal, err error) {
	var at []string // host:port
	if d.Service() {
		at, refused, err = d.services(ctx)
	} else {
		at, refused, err = d.addresses(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(at)
	for _, host := range slices.Compact(at) {
		if len(found) == mostRecords {
			return found, append(refused, Refusal{d.Name, "", config.CodeTooMany,
				fmt.Sprintf("only the first %d records count", mostRecords)}), nil
		}
		found = append(found, config.Endpoint{URL: d.Scheme + "://" + host})
	}
	return found, refused, nil
}

// services returns the targets of SRV records. A target of "." says that there is no such service.
func (d *dns) services(ctx context.Context) (at []string, refused []Refusal, err error) {
	_, records, err := d.resolver.LookupSRV(ctx, "", "", d.Name)
	if err != nil && len(records) == 0 {
		return nil, nil, missing(err)
	}
	if err != nil { // some of the records are no names
		refused = append(refused, Refusal{d.Name, "", config.CodeBadValue, err.Error()})
	}
	for _, r := range records {
		host := strings.TrimSuffix(r.Target, ".")
		switch {
		case host == "":
		case r.Port == 0:
			refused = append(refused, Refusal{host, "", config.CodeBadAddress, "an SRV record without a port"})
		default:
			at = append(at, net.JoinHostPort(host, strconv.Itoa(int(r.Port))))
		}
	}
	return at, refused, nil
}

// addresses returns what A and AAAA records say, by family.
func (d *dns) addresses(ctx context.Context) (at []string, refused []Refusal, err error) {
	var ips []netip.Addr
	for _, network := range map[string][]string{"auto": {"ip4", "ip6"}, "ipv4": {"ip4"}, "ipv6": {"ip6"},
		"both": {"ip4", "ip6"}}[d.Family] {
		if len(ips) > 0 && d.Family == "auto" {
			break
		}
		more, err := d.resolver.LookupNetIP(ctx, network, d.Name)
		if err != nil && missing(err) != nil {
			return nil, nil, err
		}
		ips = append(ips, more...)
	}
	for _, ip := range ips {
		ip = ip.Unmap().WithZone("")
		if ip.IsUnspecified() || ip.IsMulticast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
			refused = append(refused, Refusal{ip.String(), "", config.CodeBadAddress,
				"not an address that a replica can have"})
			continue
		}
		at = append(at, netip.AddrPortFrom(ip, uint16(d.Port)).String())
	}
	return at, refused, nil
}

// missing returns err unless it says that there is no such name, or no such record of it.
func missing(err error) error {
	var of *net.DNSError
	if errors.As(err, &of) && of.IsNotFound {
		return nil
	}
	return err
}
