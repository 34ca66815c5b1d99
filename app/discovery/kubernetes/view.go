package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	stdslices "slices"
	"strconv"

	slices "k8s.io/api/discovery/v1"

	"octet/app/discovery"
	"octet/config"
)

// maxEndpoints bounds what is held of one service; a gateway has far fewer replicas.
const maxEndpoints = 20_000

// maxRefused bounds what is told of endpoints that can be no replica.
const maxRefused = 64

// maxPodName is the longest name of a pod that its replica is called by.
const maxPodName = 63

// view is the slices of one service as far as they are of use.
type view struct {
	cfg       *config.Kubernetes
	namespace string
	slices    map[string][]endpoint // by name
	held      int                   // endpoints in all
	left      int                   // endpoints that were too many, since there was room last
}

// endpoint is one address of a pod.
type endpoint struct {
	pod         string // what tells pods apart: the UID of a pod, else its address
	name        string // of the pod; "" if the endpoint is none
	host        string
	six         bool // an IPv6 address
	port        int
	https       bool
	ready       bool
	terminating bool
	zone, node  string
	why         string // it can be no replica; "" if it can
}

func newView(c *config.Kubernetes, namespace string) *view {
	return &view{cfg: c, namespace: namespace, slices: map[string][]endpoint{}}
}

// selector returns the labels of the service's slices.
func (v *view) selector() string {
	text := v.cfg.Selector
	if v.cfg.Service == "" {
		return text
	}
	service := slices.LabelServiceName + "=" + v.cfg.Service
	if text == "" {
		return service
	}
	return service + "," + text
}

// ours returns true for a slice of the namespace and the service.
func (v *view) ours(s *slices.EndpointSlice) bool {
	return s.Namespace == v.namespace &&
		(v.cfg.Service == "" || s.Labels[slices.LabelServiceName] == v.cfg.Service)
}

// full returns true if no further endpoint has room.
func (v *view) full() bool { return v.held >= maxEndpoints }

// put takes a slice as it is now.
func (v *view) put(s *slices.EndpointSlice) {
	v.drop(s)
	if !v.ours(s) {
		return
	}
	port, https, why := v.port(s.Ports)
	room := max(maxEndpoints-v.held, 0)
	v.left += max(len(s.Endpoints)-room, 0)
	var all []endpoint
	for i := range s.Endpoints[:min(len(s.Endpoints), room)] {
		e := endpointOf(&s.Endpoints[i], s.AddressType)
		e.port, e.https, e.why = port, https, cmp.Or(e.why, why)
		all = append(all, e)
	}
	v.slices[s.Name] = all
	v.held += len(all)
}

func (v *view) drop(s *slices.EndpointSlice) {
	v.held -= len(v.slices[s.Name])
	delete(v.slices, s.Name)
	if v.held == 0 {
		v.left = 0
	}
}

// port returns the configured port among those of a slice. why tells that there is none.
func (v *view) port(ports []slices.EndpointPort) (port int, https bool, why string) {
	var fit []*slices.EndpointPort
	for i := range ports {
		p := &ports[i]
		if p.Port == nil || p.Protocol != nil && *p.Protocol != "TCP" || !v.fits(p) {
			continue
		}
		if p.Name != nil && *p.Name == v.cfg.Port {
			fit = []*slices.EndpointPort{p}
			break
		}
		fit = append(fit, p)
	}
	switch {
	case len(fit) == 0:
		return 0, false, fmt.Sprintf("the service has no TCP port %q", v.cfg.Port)
	case len(fit) > 1 && v.cfg.Port == "":
		return 0, false, "the service has several ports: name one as port"
	case *fit[0].Port < 1 || *fit[0].Port > 65535:
		return 0, false, fmt.Sprintf("%d is no port", *fit[0].Port)
	}
	return int(*fit[0].Port), fit[0].AppProtocol != nil && *fit[0].AppProtocol == "https", ""
}

// fits returns true for the configured port, by its name or its number; for any where none is configured.
func (v *view) fits(p *slices.EndpointPort) bool {
	return v.cfg.Port == "" || p.Name != nil && *p.Name == v.cfg.Port ||
		strconv.Itoa(int(*p.Port)) == v.cfg.Port
}

// endpointOf returns the first address of an endpoint: the others of a slice are the same endpoint's.
func endpointOf(e *slices.Endpoint, kind slices.AddressType) (out endpoint) {
	if len(e.Addresses) == 0 {
		return endpoint{why: "an endpoint has no address"}
	}
	out.host, out.pod = e.Addresses[0], e.Addresses[0]
	if t := e.TargetRef; t != nil && t.Kind == "Pod" {
		out.name, out.pod = t.Name, cmp.Or(string(t.UID), t.Namespace+"/"+t.Name)
	}
	if kind != slices.AddressTypeFQDN {
		a, err := netip.ParseAddr(out.host)
		if err != nil || a.Is4() != (kind == slices.AddressTypeIPv4) || a.Zone() != "" {
			out.why = fmt.Sprintf("%.64q is no %s address", out.host, kind)
		}
		out.six = kind == slices.AddressTypeIPv6
	}
	c := &e.Conditions
	out.terminating = c.Terminating != nil && *c.Terminating
	out.ready = c.Ready == nil || *c.Ready
	if e.Zone != nil {
		out.zone = *e.Zone
	}
	if e.NodeName != nil {
		out.node = *e.NodeName
	}
	return out
}

// set returns the replicas of all slices, one a pod, in the order of their names. The error is ErrTooMany: it is not
// known then what all replicas are.
func (v *view) set(sp *config.Specialist) (discovery.Set, error) {
	if v.left > 0 && v.full() {
		return discovery.Set{}, fmt.Errorf("%w: service %s has more than %d", ErrTooMany, v.cfg.Service, maxEndpoints)
	}
	pods, refused := v.pods()
	found := make([]config.Endpoint, 0, len(pods))
	for _, key := range stdslices.Sorted(maps.Keys(pods)) {
		found = append(found, v.found(pods[key]))
	}
	set := discovery.SetOf(sp, "kubernetes", found)
	set.Refused = append(set.Refused, refused...)
	set.Refused = set.Refused[:min(len(set.Refused), maxRefused)]
	return set, nil
}

// pods merges endpoints: a pod is in two slices while one takes over from the other, and in two of different families.
// One that terminates by any of them is gone.
func (v *view) pods() (pods map[string]*endpoint, refused []discovery.Refusal) {
	pods = map[string]*endpoint{}
	gone := map[string]bool{}
	for _, name := range stdslices.Sorted(maps.Keys(v.slices)) {
		for i := range v.slices[name] {
			e := &v.slices[name][i]
			if e.terminating {
				gone[e.pod] = true
			}
			if e.why != "" && len(refused) < maxRefused {
				refused = append(refused, discovery.Refusal{Replica: cmp.Or(e.name, e.host, name), Why: e.why})
			}
			if e.why == "" && e.ready && (pods[e.pod] == nil || v.better(e, pods[e.pod])) {
				pods[e.pod] = e
			}
		}
	}
	maps.DeleteFunc(pods, func(pod string, e *endpoint) bool {
		return gone[pod] || v.cfg.Family == "ipv4" && e.six || v.cfg.Family == "ipv6" && !e.six
	})
	return pods, refused
}

// better returns true if a is the address to be used of a pod that has both.
func (v *view) better(a, b *endpoint) bool {
	if a.six == b.six {
		return a.host < b.host
	}
	return a.six == (v.cfg.Family == "ipv6")
}

// found returns where a pod is, and what it is called.
func (v *view) found(e *endpoint) config.Endpoint {
	scheme := v.cfg.Scheme
	if scheme == "auto" {
		if scheme = "http"; e.https {
			scheme = "https"
		}
	}
	out := config.Endpoint{URL: scheme + "://" + net.JoinHostPort(e.host, strconv.Itoa(e.port)),
		Labels: map[string]string{}}
	if len(e.name) <= maxPodName {
		out.Name = e.name
	}
	if e.zone != "" {
		out.Labels["zone"] = e.zone
	}
	if e.node != "" {
		out.Labels["node"] = e.node
	}
	return out
}
