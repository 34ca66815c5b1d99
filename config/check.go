package config

import (
	"maps"
	"slices"
	"strconv"
)

// Routed is what a client asks for as a model to let the router choose; no specialist may take the name.
const Routed = "octet"

// Anonymous is what requests without a key are called; no tenant may take the name.
const Anonymous = "anonymous"

// check notes every fault that only shows when keys are seen together. Empty names have been noted where they were
// read.
func check(c *Config, r *report, o Options) {
	checkListeners(c, r)
	checkAuth(c, r)
	checkJudges(c, r)
	checkRouter(c, r)
	checkProfiles(c, r, o.Presets)
	for i := range c.Specialists {
		checkSpecialist(c, i, r, o.Engines)
	}
	checkFallbacks(c, r)
	checkReplicas(c, r)
	checkEvents(c, r)
	checkShadow(c, r)
	checkTracing(c, r)
	checkGateways(c, r)
}

// checkShadow notes two judges, one of which would never be asked.
func checkShadow(c *Config, r *report) {
	if j := c.Shadow.Judge; len(j.Command) > 0 && j.URL != "" {
		r.addAt("shadow.judge.url", CodeConflict, "a judge is a command or a service, not both")
	}
}

// checkJudges notes judges that could never judge.
func checkJudges(c *Config, r *report) {
	for i, name := range c.Outcomes.Tenants {
		is := func(t Tenant) bool { return t.Name == name }
		path := item("outcomes.tenants", i)
		switch {
		case name == Anonymous:
			r.addAt(path, CodeConflict, "requests without a key never judge: any client could demote a specialist")
		case name != "" && !slices.ContainsFunc(c.Auth.Tenants, is):
			r.addAt(path, CodeUnknownName, "there is no tenant %q", clip(name))
		}
	}
	checkKinds(&c.Outcomes, r)
	if len(c.Outcomes.Tenants) > 0 && c.Auth.Verdicts == "none" {
		r.addAt("outcomes.tenants", CodeConflict, "auth.verdicts is none: no verdicts count")
	}
}

// maxKinds bounds the kinds of verdicts that are published, each a series of every specialist.
const maxKinds = 16

// checkKinds notes kinds of verdicts that cannot be published by their name.
func checkKinds(o *Outcomes, r *report) {
	if len(o.Kinds) > maxKinds {
		r.addAt("outcomes.kinds", CodeTooMany, "%d kinds, at most %d are published by name", len(o.Kinds), maxKinds)
	}
	if v := &o.Verifier; v.Sample > 0 && !slices.Contains(o.Kinds, v.Kind) {
		r.addAt("outcomes.verifier.kind", CodeUnknownName, "%q is not among outcomes.kinds", clip(v.Kind))
	}
}

// leastToken is the length of the shortest secret that is accepted, in bytes.
const leastToken = 16

// checkEvents notes sources that cannot be read, or by which no publisher may speak.
func checkEvents(c *Config, r *report) {
	if c.Events.Snapshot.Peer != "" && c.HashSeed == 0 {
		r.addAt("hash_seed", CodeConflict,
			"a peer's snapshot is of no use under a seed of one's own: both gateways set the same one")
	}
	if g := c.Events.GRPC; g != nil {
		if (g.Cert == "") != (g.Key == "") {
			r.addAt("events.grpc.key", CodeConflict, "a certificate needs its key, and a key its certificate")
		}
		if g.ClientCA != "" && g.Cert == "" {
			r.addAt("events.grpc.client_ca", CodeConflict, "client certificates need TLS: cert and key")
		}
	}
	off := map[string]bool{"redis": c.Events.Redis == nil, "nats": c.Events.NATS == nil, "grpc": c.Events.GRPC == nil}
	for i := range c.Specialists {
		for j, rep := range c.Specialists[i].Replicas {
			if rep.Events == nil {
				continue
			}
			path := item(item("specialists", i)+".replicas", j) + ".events"
			checkReplicaEvents(rep.Events, path, r)
			if rep.Events.ZMQ == "" && off[rep.Events.Source] {
				r.addAt(path+".source", CodeConflict, "nobody may speak for it but %s, and there is no events.%s",
					rep.Events.Source, rep.Events.Source)
			}
		}
	}
}

func checkReplicaEvents(e *ReplicaEvents, path string, r *report) {
	if e.ZMQ == "" && (e.Replay != "" || e.Snapshot != "" || e.Topic != "" || e.Source == "zmq") {
		r.addAt(path+".zmq", CodeConflict, "replay, snapshot, topic and source: zmq need the PUB socket's endpoint")
	}
	if e.ZMQ != "" && e.Source != "auto" && e.Source != "zmq" {
		r.addAt(path+".source", CodeConflict,
			"a replica with a ZMQ socket of its own is heard by that alone: its numbers would clash with those of %s",
			e.Source)
	}
}

// maxAsides is how many elements there may be beside those that are known.
const maxAsides = 32

func checkRouter(c *Config, r *report) {
	for _, name := range slices.Sorted(maps.Keys(c.Intents)) {
		path := join("intents", name) + ".specialist"
		specialist := c.Intents[name].Specialist
		if name == Unspecified && specialist != "" {
			r.addAt(path, CodeConflict,
				"requests that declare no intent are routed; router.fallback takes what nothing else does")
			continue
		}
		checkKnown(c, r, specialist, path)
	}
	checkKnown(c, r, c.Router.Fallback, "router.fallback")
	checkClassifierHTTP(c, r)
	if n := len(c.Router.Asides); n > maxAsides {
		r.addAt("router.asides", CodeTooMany, "%d elements, at most %d", n, maxAsides)
	}
	rules := newNames(r, CodeDuplicateName)
	for i, rule := range c.Router.Rules {
		path := item("router.rules", i)
		rules.take(rule.Name, path+".name")
		checkKnown(c, r, rule.Specialist, path+".specialist")
		if rule.AtLeast > len(rule.Literals) {
			r.addAt(path+".at_least", CodeConflict, "%d of %d literals can never be there", rule.AtLeast,
				len(rule.Literals))
		}
		checkLiterals(rule.Literals, path+".literals", r)
	}
}

// checkClassifierHTTP notes labels that lead nowhere, and keys that without a URL would have no effect.
func checkClassifierHTTP(c *Config, r *report) {
	const path = "router.classifier.http"
	h := &c.Router.Classifier.HTTP
	for _, label := range slices.Sorted(maps.Keys(h.Labels)) {
		if label == "" || label == rejected {
			r.addAt(path+".labels", CodeReservedName, "%q is for no specialist", label)
			continue
		}
		checkKnown(c, r, h.Labels[label], join(path+".labels", label))
	}
	if h.URL == "" && (h.APIKey != "" || len(h.Labels) > 0) {
		r.addAt(path+".url", CodeMissing, "api_key and labels are of a classifier that is asked at a URL")
	}
}

// rejected is the label of texts that are for no specialist.
const rejected = "reject"

// Bounds of the rules' literals: what is looked for in every text has to be little.
const (
	minLiteral = 2
	maxLiteral = 128
)

func checkLiterals(literals []string, path string, r *report) {
	for i, l := range literals {
		if len(l) < minLiteral || len(l) > maxLiteral {
			r.addAt(item(path, i), CodeOutOfRange, "a literal of %d bytes, want %d to %d", len(l), minLiteral,
				maxLiteral)
		}
		if slices.Contains(literals[:i], l) {
			r.addAt(item(path, i), CodeDuplicateName, "%q is there already", clip(l))
		}
	}
}

// checkKnown notes a reference to a specialist that is not there; no reference at all is fine.
func checkKnown(c *Config, r *report, specialist, path string) {
	var names []string
	for _, s := range c.Specialists {
		if s.Name == specialist {
			return
		}
		names = append(names, s.Name)
	}
	if specialist != "" && formName(specialist) == nil {
		r.addAt(path, CodeUnknownName, "there is no specialist %q%s", clip(specialist), didYouMean(specialist, names))
	}
}

// item is the path of one element of a list.
func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// names notes what is taken twice.
type names struct {
	r     *report
	code  string
	taken map[string]string // to the path that took it
}

func newNames(r *report, code string) names {
	return names{r: r, code: code, taken: map[string]string{}}
}

// take claims a name for a path; the empty name is free for all.
func (n names) take(name, path string) {
	if name == "" {
		return
	}
	if first, taken := n.taken[name]; taken {
		n.r.addAt(path, n.code, "%q is taken by %s", clip(name), first)
		return
	}
	n.taken[name] = path
}
