package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"octet/engine"
)

func checkSpecialist(c *Config, i int, r *report, kinds engine.Table) {
	s, path := &c.Specialists[i], item("specialists", i)
	if s.Name == Routed || s.Name == Unspecified {
		r.addAt(path+".name", CodeReservedName, "%q already has a meaning", s.Name)
	}
	if !slices.Contains(s.Modalities, "text") {
		r.addAt(path+".modalities", CodeConflict, "text is one of them always")
	}
	if s.Context > 0 && s.Context < s.BlockSize {
		r.addAt(path+".context", CodeConflict, "a context of %d tokens is smaller than a block of %d", s.Context,
			s.BlockSize)
	}
	adapters := newNames(r, CodeDuplicateName)
	for j, a := range s.Adapters {
		adapters.take(a.Name, item(path+".adapters", j)+".name")
	}
	for j := range s.Replicas {
		checkReplica(s, &s.Replicas[j], item(path+".replicas", j), r, kinds)
	}
	checkDiscover(s, path, r, kinds)
	checkHashes(s, path, r)
	checkHBM(s, path+".hbm", r)
	checkRoles(s, path, r)
	checkEscalation(s.SLO.Escalation, path+".slo.escalation", r)
}

// checkReplica notes what a replica's keys say against each other, and against those of its specialist.
func checkReplica(s *Specialist, rep *Replica, path string, r *report, kinds engine.Table) {
	if len(rep.Doors) > 1 && slices.Contains(rep.Doors, engine.AutoDoors) {
		r.addAt(path+".doors", CodeConflict, "auto stands alone")
	}
	if rep.PrefillHeader && rep.Role != "decode" && rep.Role != "both" {
		r.addAt(path+".prefill_header", CodeConflict,
			"a replica of role %s answers nobody: who answers has its prompts computed elsewhere", rep.Role)
	}
	checkRanks(s, rep, path, r, kinds)
	checkReplicaHashes(s, rep, path, r, kinds)
}

// checkEscalation notes steps that would be left as soon as they are entered, or entered in the wrong order.
func checkEscalation(e Escalation, path string, r *report) {
	if e.Relax >= e.Divert {
		r.addAt(path+".relax", CodeConflict, "%v is not below divert, %v", e.Relax, e.Divert)
	}
	if e.Ease >= e.Shed {
		r.addAt(path+".ease", CodeConflict, "%v is not below shed, %v", e.Ease, e.Shed)
	}
	if e.Shed < e.Divert {
		r.addAt(path+".shed", CodeConflict, "%v is below divert, %v: the second step comes after the first", e.Shed,
			e.Divert)
	}
}

func checkHBM(s *Specialist, path string, r *report) {
	if s.HBM == nil {
		return
	}
	if rest := s.HBM.Total - s.HBM.Weights - s.HBM.ActivationReserve; s.HBM.Total > 0 && rest <= 0 {
		r.addAt(path+".total", CodeConflict, "%s leaves nothing for KV beside weights of %s and a reserve of %s",
			s.HBM.Total, s.HBM.Weights, s.HBM.ActivationReserve)
	}
	if g := s.HBM.Geometry; g.Layers > 0 && g.AttentionLayers > g.Layers {
		r.addAt(path+".geometry.attention_layers", CodeConflict, "%d of %d layers", g.AttentionLayers, g.Layers)
	}
}

// checkRoles notes an ensemble of halves that no workflow puts together: prefill alone never answers, decode alone
// never starts, and both do so only where the workflow has them work together.
func checkRoles(s *Specialist, path string, r *report) {
	has := func(role string) bool {
		return slices.ContainsFunc(s.Replicas, func(r Replica) bool { return r.Role == role })
	}
	switch prefill, decode := has("prefill"), has("decode"); {
	case len(s.Replicas) == 0 || has("both") || s.Discover != nil: // the other half may be found
	case !decode && prefill:
		r.addAt(path+".replicas", CodeConflict, "every replica of %s is for prefill: none could answer", s.Name)
	case !prefill && decode:
		r.addAt(path+".replicas", CodeConflict, "every replica of %s is for decode: none could take a prompt", s.Name)
	case !prefill:
		r.addAt(path+".replicas", CodeConflict, "every replica of %s is for preprocess: none could answer", s.Name)
	case s.Workflow == "single":
		r.addAt(path+".workflow", CodeConflict,
			"single needs a replica of role both: those of %s do one part each, which is disaggregated", s.Name)
	case s.Workflow == "three-step" && !has("preprocess"):
		r.addAt(path+".workflow", CodeConflict, "three-step needs a replica of role preprocess or both")
	}
}

// checkReplicas checks names and URLs over the whole file, and how many replicas there are.
func checkReplicas(c *Config, r *report) {
	specialists, replicas, urls := newNames(r, CodeDuplicateName), newNames(r, CodeDuplicateName),
		newNames(r, CodeDuplicateURL)
	total, allowed, parts := 0, c.Fleet.Allowed(), map[string]string{}
	for i, s := range c.Specialists {
		specialists.take(s.Name, item("specialists", i)+".name")
	}
	each := func(where string, replica *Replica) {
		checkURL(c, replica.URL, where+".url", allowed, r)
		checkReplicaTLS(replica, where, r)
		checkWhole(replica, where+".url", urls, parts)
		for _, one := range replica.Expand() {
			found := len(r.faults)
			replicas.take(one.Name, where+".name")
			urls.take(one.Address(), where+".url")
			if total++; total == MaxReplicas+1 {
				r.addAt(where, CodeTooMany,
					"one gateway can tell %d replicas apart; further ones need a gateway of their own", MaxReplicas)
			}
			if len(r.faults) > found {
				break // the other ranks are at fault likewise
			}
		}
	}
	for _, found := range []bool{false, true} { // a replica that the file lists is at fault for none that was found
		for i := range c.Specialists {
			for j := range c.Specialists[i].Replicas {
				if rep := &c.Specialists[i].Replicas[j]; found == (rep.Source != "") {
					each(item(item("specialists", i)+".replicas", j), rep)
				}
			}
		}
	}
	if n := len(c.Fleet.AllowAddresses); n > maxAllowed {
		r.addAt("fleet.allow_addresses", CodeTooMany, "%d prefixes, at most %d", n, maxAllowed)
	}
}

// checkURL notes a replica at an address that no replica can have.
func checkURL(c *Config, at, path string, allowed []netip.Prefix, r *report) {
	if p := linkLocalURL(at, allowed); p != nil && formReplicaURL(at) == nil {
		r.addAt(path, p.code, "%s", p.message)
	}
	for _, own := range []string{c.Listen.Data, c.Listen.Admin} {
		if leadsTo(at, own) {
			r.addAt(path, CodeConflict, "%q is this gateway's own address %s: a request would come back for ever",
				clip(at), clip(own))
		}
	}
}

// SameURL returns a replica's URL in a form that two spellings of one address share.
func SameURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + host + ":" + port + strings.TrimRight(u.Path, "/")
}

// checkFallbacks follows every specialist's fallback. A cycle is noted once, at its member that stands first in the
// file, and named from there: a -> b -> a.
func checkFallbacks(c *Config, r *report) {
	at := map[string]int{}
	for i, s := range slices.Backward(c.Specialists) {
		at[s.Name] = i
	}
	delete(at, "")
	walked := make([]int, len(c.Specialists)) // by which walk, 1-based; 0 = not yet
	for i, s := range c.Specialists {
		checkKnown(c, r, s.Fallback, item("specialists", i)+".fallback")
		var trail []int
		here, ok := i, true
		for ok && walked[here] == 0 {
			walked[here] = i + 1
			trail = append(trail, here)
			here, ok = at[c.Specialists[here].Fallback]
		}
		if ok && walked[here] == i+1 {
			noteCycle(c, r, trail[slices.Index(trail, here):])
		}
	}
}

// noteCycle notes a cycle of fallbacks, turned so that its first member in the file comes first.
func noteCycle(c *Config, r *report, cycle []int) {
	first := slices.Index(cycle, slices.Min(cycle))
	turned := append(slices.Clone(cycle[first:]), cycle[:first+1]...)
	names := make([]string, len(turned))
	for i, member := range turned {
		names[i] = c.Specialists[member].Name
	}
	r.addAt(item("specialists", turned[0])+".fallback", CodeCycle, "fallbacks lead in a circle: %s",
		strings.Join(names, " -> "))
}
