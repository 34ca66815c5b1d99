package config

import (
	"go.yaml.in/yaml/v3"
)

// maxMerge is how deep merge keys (<<) may nest.
const maxMerge = 8

// entry is one key of a mapping.
type entry struct {
	key   string
	value *yaml.Node
	at    place // of the key
}

// entries returns the keys of mapping n in file order, merged ones (<<) after its own; its own win over merged ones,
// an earlier merged mapping over a later one. False: n is no mapping, which is noted.
func (d *decoder) entries(n *yaml.Node, path string) ([]entry, bool) {
	if n.Kind != yaml.MappingNode {
		d.add(d.origins.place(n), orRoot(path), CodeWrongType, "want a mapping of keys, found %s", describe(n))
		return nil, false
	}
	seen := map[string]place{}
	entries := d.own(n, path, seen)
	return d.merged(n, path, seen, entries, maxMerge), true
}

// own returns the keys written in n itself. A key that comes twice is noted, and its first value stands.
func (d *decoder) own(n *yaml.Node, path string, seen map[string]place) []entry {
	entries := make([]entry, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, at := target(n.Content[i]), d.origins.place(n.Content[i])
		if name.Tag == mergeTag {
			continue
		}
		if name.Kind != yaml.ScalarNode || name.Tag != strTag {
			d.add(at, orRoot(path), CodeWrongType, "a key must be text, found %s", describe(name))
			continue
		}
		if first, twice := seen[name.Value]; twice {
			d.add(at, join(path, name.Value), CodeDuplicateKey, "the key was given before%s; given again",
				first.suffix())
			continue
		}
		seen[name.Value] = at
		entries = append(entries, entry{key: name.Value, value: n.Content[i+1], at: at})
	}
	return entries
}

// merged appends what the merge keys of n bring in.
func (d *decoder) merged(n *yaml.Node, path string, seen map[string]place, entries []entry, depth int) []entry {
	for _, source := range mergeSources(n) {
		if !d.spend() {
			return entries
		}
		if source = target(source); source.Kind != yaml.MappingNode || depth == 0 {
			d.add(d.origins.place(source), orRoot(path), CodeWrongType, "<< merges mappings, at most %d deep", maxMerge)
			continue
		}
		within := map[string]place{}
		for _, e := range d.own(source, path, within) {
			d.budget--
			if _, taken := seen[e.key]; !taken {
				seen[e.key] = e.at
				entries = append(entries, e)
			}
		}
		entries = d.merged(source, path, seen, entries, depth-1)
	}
	return entries
}

// mergeSources returns the nodes that the merge keys of n name, in order.
func mergeSources(n *yaml.Node) (sources []*yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != mergeTag {
			continue
		}
		if value := target(n.Content[i+1]); value.Kind == yaml.SequenceNode {
			sources = append(sources, value.Content...)
		} else {
			sources = append(sources, value)
		}
	}
	return sources
}

// target follows an alias to what it stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == nullTag }

func orRoot(path string) string {
	if path == "" {
		return rootPath
	}
	return path
}

// describe names what a node is, for messages.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case strTag:
		return "text"
	case intTag:
		return "a number"
	case floatTag:
		return "a number with a fraction"
	case boolTag:
		return "true or false"
	case nullTag:
		return "nothing"
	}
	return "a " + clip(n.Tag)
}
