package config

import (
	"net/netip"
	"strings"

	"octet/engine"
)

// checkDiscover notes a specialist that can have no replica, sources that would find none, and a template that no
// replica can be made by.
func checkDiscover(s *Specialist, path string, r *report, kinds engine.Table) {
	if s.Discover == nil {
		if r.given(path+".replicas") && s.Replicas != nil && len(s.Replicas) == 0 {
			r.addAt(path+".replicas", CodeMissing, "at least one is required, or discover")
		}
		return
	}
	path += ".discover"
	if d := s.Discover.DNS; d != nil {
		checkDNS(d, path+".dns", r)
	}
	if k := s.Discover.Kubernetes; k != nil && k.Service == "" && k.Selector == "" {
		r.addAt(path+".kubernetes.service", CodeMissing, "service or selector is required: all pods are no specialist")
	}
	t := &s.Discover.Template
	checkReplica(s, &t.Replica, path+".template", r, kinds)
	if t.BlockSize != 0 && t.BlockSize != s.BlockSize {
		r.addAt(path+".template.block_size", CodeConflict,
			"the specialist's replicas have blocks of %d tokens, as its block_size says", s.BlockSize)
	}
	if e := t.Replica.Events; e != nil {
		checkReplicaEvents(e, path+".template.events", r)
		for key, endpoint := range e.endpoints() {
			if *endpoint != "" && !strings.Contains(*endpoint, hostMark) {
				r.addAt(path+".template.events."+key, CodeConflict,
					"%q would be one socket for all: %s stands for each replica's own host", clip(*endpoint), hostMark)
			}
		}
	}
}

func checkDNS(d *DNS, path string, r *report) {
	switch service := d.Service(); {
	case service && d.Port != 0:
		r.addAt(path+".port", CodeConflict, "SRV records have ports of their own")
	case !service && d.Port == 0 && d.Name != "":
		r.addAt(path+".port", CodeMissing, "A and AAAA records have no port: port is required")
	}
}

// Service returns true if the name leads to SRV records.
func (d *DNS) Service() bool { return strings.HasPrefix(d.Name, "_") }

// maxAllowed is how many prefixes of addresses may be allowed.
const maxAllowed = 32

// Allowed returns the addresses of fleet.allow_addresses. What is at fault is left out.
func (f *Fleet) Allowed() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range f.AllowAddresses {
		if p, err := prefixOf(text); err == nil {
			all = append(all, p.Masked())
		}
	}
	return all
}
