package config

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"octet/engine"
)

// Endpoint is a replica as sources see it that know addresses alone: its specialist's template says the rest.
type Endpoint struct {
	Name   string // unique in the gateway; empty: made of specialist, host and port
	URL    string
	Labels map[string]string // beside those of the template, over which they win
}

// Found returns the replica at an endpoint, or each of its ranks; or what is wrong with it as *Faults.
func (s *Specialist) Found(e Endpoint, source string) ([]Replica, error) {
	entry := emptyMapping()
	put := func(key string, value *yaml.Node) {
		entry.Content = append(entry.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: strTag, Value: key}, value)
	}
	put("url", literal(e.URL))
	if e.Name != "" {
		put("name", literal(e.Name))
	}
	d := newDecoder(Options{})
	rep := s.foundBy(d, entry, "", source)
	if len(e.Labels) > 0 {
		labels := maps.Clone(rep.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, e.Labels)
		rep.Labels = labels
	}
	if err := d.err(source); err != nil {
		return nil, err
	}
	return rep.Expand(), nil
}

// literal is text in which "${" means nothing.
func literal(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: strTag, Value: strings.ReplaceAll(text, "${", "$${")}
}

// ReadFound reads a list like replicas at path. The error, if any, is *Faults with every fault of it.
func (s *Specialist) ReadFound(path, source string, o Options) ([]Replica, error) {
	all, err := s.readFound(newDecoder(o), path, source)
	return expandedIf(all, err)
}

// expandedIf puts the ranks of what was found in their place, if it is without fault.
func expandedIf(entries []Replica, err error) ([]Replica, error) {
	if err != nil {
		return entries, err
	}
	total := 0
	for i := range entries {
		if total += max(entries[i].Ranks, 1); total > MaxFound {
			return entries, TooManyFound()
		}
	}
	return expanded(entries), nil
}

// MaxFound is how many replicas, ranks each counted, one source may find: many more than a gateway can have, and few
// enough for memory.
const MaxFound = 20_000

// TooManyFound returns what is wrong with more than MaxFound, as *Faults.
func TooManyFound() error {
	return &Faults{List: []Fault{{Path: "ranks", Code: CodeTooMany,
		Message: fmt.Sprintf("with its ranks, a source has more than %d replicas", MaxFound)}}}
}

// readFound is ReadFound by a decoder, with one replica an entry, whatever ranks it has.
func (s *Specialist) readFound(d *decoder, path, source string) ([]Replica, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	text, err := readAll(f)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return s.parseFound(d, path, text, source)
}

// ParseFound is ReadFound of text, which is called name in messages. A text without a list is a fault, not an empty
// list: it may be half written.
func (s *Specialist) ParseFound(name string, text []byte, source string, o Options) ([]Replica, error) {
	all, err := s.parseFound(newDecoder(o), name, text, source)
	return expandedIf(all, err)
}

// parseFound is ParseFound by a decoder, which knows the places of all entries after, with one replica an entry.
func (s *Specialist) parseFound(d *decoder, name string, text []byte, source string) ([]Replica, error) {
	root, fault := document(text)
	if fault != nil {
		return nil, &Faults{File: name, List: []Fault{*fault}}
	}
	if root.Kind != yaml.SequenceNode {
		d.add(d.origins.place(root), rootPath, CodeWrongType, "want a list of replicas, found %s", describe(root))
		return nil, d.err(name)
	}
	all := make([]Replica, 0, len(root.Content))
	for i, entry := range root.Content {
		path := item("", i)
		if isNull(target(entry)) {
			d.add(d.origins.place(entry), path, CodeMissing, "a list has no empty items")
			continue
		}
		all = append(all, s.foundBy(d, entry, path, source))
	}
	if d.budget < 0 {
		return nil, tooComplex(name)
	}
	return all, d.err(name)
}

// foundBy decodes one entry onto the template.
func (s *Specialist) foundBy(d *decoder, entry *yaml.Node, path, source string) Replica {
	var rep Replica
	preset(reflect.ValueOf(&rep).Elem())
	if s.Discover != nil {
		rep = s.Discover.Template.Replica
	}
	d.value(entry, path, key{}, reflect.ValueOf(&rep).Elem())
	s.complete(&rep, source)
	if d.given(join(path, "dp_rank")) && !d.given(join(path, "ranks")) {
		rep.Ranks = 0 // the template's
	}
	checkExpansion(&rep, path, &d.report)
	return rep
}

// complete fills what a replica that was found does not say itself.
func (s *Specialist) complete(rep *Replica, source string) {
	rep.Source = source
	if rep.Name == "" {
		suffix, room := "", maxName
		if rep.DPRank != nil {
			suffix = rankSuffix(*rep.DPRank)
		}
		if rep.DPRank != nil || rep.Ranks > 0 {
			room -= rankRoom
		}
		if rep.Name = foundName(s.Name, rep.URL, room); rep.Name != "" {
			rep.Name += suffix
		}
	}
	rep.derive(s)
}

// foundName is the name of a replica that has none, of so many bytes at most: the same for the same URL, whatever else
// is found.
func foundName(specialist, at string, most int) string {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(host); err == nil {
		host = strings.ReplaceAll(ip.WithZone("").String(), ":", "-")
	}
	name := specialist + "-" + strings.Trim(host, "-.")
	if u.Port() != "" {
		name += "-" + u.Port()
	}
	path := strings.Trim(u.Path, "/")
	if len(name) <= most && path == "" && formName(name) == nil {
		return name
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(SameURL(at)))
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && (letterOrDigit(byte(r)) || strings.ContainsRune("._-", r)) {
			return r
		}
		return '-'
	}, name)
	return fmt.Sprintf("%s-%012x", clean[:min(len(clean), most-13)], h.Sum64()&(1<<48-1))
}

// Refused is a replica that was found and cannot be one.
type Refused struct {
	Specialist string
	Replica    Replica
	Fault      Fault
}

// Join returns c with replicas that were found, by specialist, behind those that it lists, and those of them that are
// left out since the whole would have a fault by them. c has passed its checks before and stays as it is.
func Join(c *Config, found map[string][]Replica, o Options) (*Config, []Refused) {
	if o.Engines == nil {
		o.Engines = engine.AllKinds()
	}
	var out []Refused
	for {
		joined := *c
		joined.Specialists = slices.Clone(c.Specialists)
		for i := range joined.Specialists {
			s := &joined.Specialists[i]
			s.Replicas = slices.Concat(s.Replicas, found[s.Name])
		}
		r := &report{at: map[string]place{}}
		check(&joined, r, o)
		refused := blamed(c, r.faults, found)
		if len(refused) == 0 {
			return &joined, out
		}
		out = append(out, refused...)
		found = without(found, refused)
	}
}

// blamed returns the replicas of found that faults are at, each once.
func blamed(c *Config, faults []Fault, found map[string][]Replica) (all []Refused) {
	for i := range c.Specialists {
		s := &c.Specialists[i]
		for j, rep := range found[s.Name] {
			path := item(item("specialists", i)+".replicas", len(s.Replicas)+j)
			at := slices.IndexFunc(faults, func(f Fault) bool {
				rest, ok := strings.CutPrefix(f.Path, path)
				return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
			})
			if at >= 0 {
				fault := faults[at]
				fault.Path = strings.TrimPrefix(strings.TrimPrefix(fault.Path, path), ".")
				all = append(all, Refused{s.Name, rep, fault})
			}
		}
	}
	return all
}

// without returns found without what is refused. The replicas that stay keep their order.
func without(found map[string][]Replica, refused []Refused) map[string][]Replica {
	out := make(map[string][]Replica, len(found))
	for specialist, all := range found {
		for _, rep := range all {
			is := func(r Refused) bool {
				return r.Specialist == specialist && r.Replica.Name == rep.Name && r.Replica.URL == rep.URL
			}
			if i := slices.IndexFunc(refused, is); i >= 0 {
				refused = slices.Delete(slices.Clone(refused), i, i+1) // its twin, if it has one, is another
				continue
			}
			out[specialist] = append(out[specialist], rep)
		}
	}
	return out
}
