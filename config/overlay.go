package config

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// origins remembers which nodes came from outside the file, and from where.
type origins struct{ from map[*yaml.Node]place }

func newOrigins() origins { return origins{from: map[*yaml.Node]place{}} }

func (o origins) place(n *yaml.Node) place {
	if at, ok := o.from[n]; ok {
		return at
	}
	return place{line: n.Line, column: n.Column}
}

func (o origins) has(n *yaml.Node) bool { _, ok := o.from[n]; return ok }

// step is one part of a path: a key, or an index into a list.
type step struct {
	key   string
	index int // counts where key is empty
}

// maxSteps is how deep a path may lead.
const maxSteps = 16

// override is one value from outside.
type override struct {
	steps []step
	value string
	at    place
}

// overlay writes the environment's overrides and then the --set ones into the tree.
func overlay(d *decoder, root *yaml.Node, o Options) {
	var overrides []override
	for _, name := range variableOverrides(d.variables) {
		at := place{line: overlayLine + len(overrides), origin: name}
		if steps, p := stepsOfVariable(name, root); p != nil {
			d.add(at, name, p.code, "%s", p.message)
		} else if steps != nil {
			overrides = append(overrides, override{steps: steps, value: d.variables[name], at: at})
		}
	}
	for _, set := range o.Sets {
		path, value, ok := strings.Cut(set, "=")
		at := place{line: overlayLine + len(overrides), origin: "--set " + clip(path)}
		steps, parsed := parsePath(path)
		if !ok || !parsed {
			d.add(at, orRoot(clip(path)), CodeBadOverride,
				"want path=value with a path such as specialists[0].block_size")
			continue
		}
		overrides = append(overrides, override{steps: steps, value: value, at: at})
	}
	for _, o := range overrides {
		d.apply(root, o)
	}
}

// parsePath reads a.b[0].c.
func parsePath(path string) (steps []step, ok bool) {
	for part := range strings.SplitSeq(path, ".") {
		name, rest := part, ""
		if at := strings.IndexByte(part, '['); at >= 0 {
			name, rest = part[:at], part[at:]
		}
		if !plainKey(name) {
			return nil, false
		}
		steps = append(steps, step{key: name})
		for rest != "" {
			digits, after, closed := strings.Cut(rest[1:], "]")
			index, err := strconv.ParseUint(digits, 10, 16)
			if rest[0] != '[' || !closed || err != nil {
				return nil, false
			}
			steps = append(steps, step{index: int(index)})
			rest = after
		}
	}
	return steps, len(steps) <= maxSteps
}

// apply writes one override into the tree, making the mappings and lists on its way.
func (d *decoder) apply(root *yaml.Node, o override) {
	value, p := scalarNode(o.value)
	if p != nil {
		d.add(o.at, pathOf(o.steps), p.code, "%s", p.message)
		return
	}
	d.origins.from[value] = o.at
	n := root
	for i, s := range o.steps {
		fresh := value
		if last := i == len(o.steps)-1; !last {
			fresh = d.container(o.steps[i+1], o.at)
		}
		next, p := d.descend(n, s, fresh, i == len(o.steps)-1)
		if p != nil {
			d.add(o.at, pathOf(o.steps[:i+1]), p.code, "%s", p.message)
			return
		}
		n = next
	}
}

// scalarNode reads the text of an override as one YAML scalar: in quotes, or plain and then taken whole, so that
// neither a "#" nor a ": " cuts a secret short. Nothing at all is empty text; null takes a key back to its default.
func scalarNode(text string) (*yaml.Node, *problem) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if quoted := len(text) > 1 && (text[0] == '"' || text[0] == '\''); quoted {
		doc, fault := document([]byte(text))
		if fault != nil || doc.Kind != yaml.ScalarNode {
			return nil, wrong(CodeBadOverride, "the value's quotes do not match")
		}
		return doc, nil
	}
	if n.Tag = n.ShortTag(); text == "" || n.Tag == mergeTag {
		n.Tag = strTag
	}
	return n, nil
}

// container makes what a next step can stand in.
func (d *decoder) container(next step, at place) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: mapTag}
	if next.key == "" {
		n.Kind, n.Tag = yaml.SequenceNode, seqTag
	}
	d.origins.from[n] = at
	return n
}

// descend returns the child of n at s: the one that is there, unless it has to be replaced, else fresh.
func (d *decoder) descend(n *yaml.Node, s step, fresh *yaml.Node, replace bool) (*yaml.Node, *problem) {
	slot, p := d.slot(n, s, fresh)
	if p != nil {
		return nil, p
	}
	if replace || isNull(target(*slot)) {
		*slot = fresh
	} else if *slot != fresh && (*slot).Kind == yaml.AliasNode {
		*slot = d.clone((*slot).Alias, maxMerge) // the other uses of the anchor stay as they are
	}
	return *slot, nil
}

// slot returns where the child of n at s is kept; a missing one is made, holding fresh.
func (d *decoder) slot(n *yaml.Node, s step, fresh *yaml.Node) (**yaml.Node, *problem) {
	if s.key == "" {
		if n.Kind != yaml.SequenceNode {
			return nil, wrong(CodeBadOverride, "this is no list")
		}
		if s.index > len(n.Content) {
			return nil, wrong(CodeBadOverride, "the list has %d items; the next one is [%d]", len(n.Content),
				len(n.Content))
		}
		if s.index == len(n.Content) {
			n.Content = append(n.Content, fresh)
		}
		return &n.Content[s.index], nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, wrong(CodeBadOverride, "this is no mapping")
	}
	if value := ownValue(n, s.key); value != nil {
		return value, nil
	}
	name := &yaml.Node{Kind: yaml.ScalarNode, Tag: strTag, Value: s.key}
	d.origins.from[name] = d.origins.from[fresh]
	n.Content = append(n.Content, name, d.inherited(n, s.key, fresh))
	return &n.Content[len(n.Content)-1], nil
}

// inherited returns a copy of what merge keys give n for key, so that an override changes one part of it; else fresh.
func (d *decoder) inherited(n *yaml.Node, key string, fresh *yaml.Node) *yaml.Node {
	scratch := decoder{report: report{at: map[string]place{}}, origins: d.origins, budget: d.budget}
	entries, _ := scratch.entries(n, "")
	d.budget = scratch.budget
	i := slices.IndexFunc(entries, func(e entry) bool { return e.key == key })
	if i < 0 || target(entries[i].value).Kind == yaml.ScalarNode {
		return fresh
	}
	return d.clone(target(entries[i].value), maxMerge)
}

// clone copies a tree down to depth; deeper parts, and aliases, are shared.
func (d *decoder) clone(n *yaml.Node, depth int) *yaml.Node {
	if depth == 0 || !d.spend() || n.Kind == yaml.AliasNode {
		return n
	}
	copied := *n
	copied.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		copied.Content[i] = d.clone(child, depth-1)
	}
	if at, ok := d.origins.from[n]; ok {
		d.origins.from[&copied] = at
	}
	return &copied
}

// ownValue finds the value of a key that is written in n itself.
func ownValue(n *yaml.Node, key string) **yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if name := target(n.Content[i]); name.Tag == strTag && name.Value == key {
			return &n.Content[i+1]
		}
	}
	return nil
}

func pathOf(steps []step) string {
	path := ""
	for _, s := range steps {
		if s.key == "" {
			path += "[" + strconv.Itoa(s.index) + "]"
		} else {
			path = join(path, s.key)
		}
	}
	return path
}
