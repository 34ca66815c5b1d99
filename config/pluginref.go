package config

import (
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// maxParams is how deep a plugin's parameters may nest.
const maxParams = 8

// plugin decodes one reference to a plugin. weighted: it is a scorer, and a number stands for its weight.
func (d *decoder) plugin(n *yaml.Node, path string, weighted bool) PluginRef {
	at := d.origins.place(n)
	ref := PluginRef{Path: path, Line: at.line}
	if at.origin != "" {
		ref.Line = 0
	}
	if weighted {
		ref.Weight = 1
	}
	if n.Kind == yaml.ScalarNode && n.Tag == strTag {
		ref.Name = d.pluginName(n.Value, path)
		return ref
	}
	entries, ok := d.entries(n, path)
	if !ok {
		return ref
	}
	if len(entries) != 1 {
		d.addAt(path, CodeBadValue, "want one plugin, as name or {name: {parameters}}, found %d", len(entries))
		return ref
	}
	ref.Name = d.pluginName(entries[0].key, path)
	d.pluginValue(target(entries[0].value), join(path, entries[0].key), weighted, &ref)
	return ref
}

func (d *decoder) pluginName(name, path string) string {
	if p := formName(name); p != nil {
		d.addAt(path, p.code, "%s", p.message)
	}
	return name
}

// pluginValue decodes what stands after the plugin's name: nothing, its weight, or its parameters.
func (d *decoder) pluginValue(n *yaml.Node, path string, weighted bool, ref *PluginRef) {
	d.at[path] = d.origins.place(n)
	switch {
	case isNull(n):
	case weighted && n.Kind == yaml.ScalarNode && (n.Tag == intTag || n.Tag == floatTag):
		ref.Weight = d.weight(n, path)
	case n.Kind != yaml.MappingNode:
		d.addAt(path, CodeWrongType, "want a mapping of parameters, found %s", describe(n))
	default:
		ref.Params, _ = d.anything(n, path, maxParams).(map[string]any)
		if weight, ok := ref.Params["weight"]; ok && weighted {
			delete(ref.Params, "weight")
			ref.Weight = d.weightParam(weight, join(path, "weight"))
		}
		if len(ref.Params) == 0 {
			ref.Params = nil
		}
	}
}

func (d *decoder) weight(n *yaml.Node, path string) float64 {
	return d.weightParam(d.anything(n, path, 0), path)
}

func (d *decoder) weightParam(weight any, path string) float64 {
	var w float64
	switch number := weight.(type) {
	case int:
		w = float64(number)
	case float64:
		w = number
	default:
		d.addAt(path, CodeWrongType, "a weight is a number")
		return 0
	}
	if w < 0 || w > 1e6 {
		d.addAt(path, CodeOutOfRange, "%s is not between 0 and 1000000", strconv.FormatFloat(w, 'g', -1, 64))
	}
	return w
}

// anything decodes parameters, whose keys only the plugin knows. Text is expanded like everywhere.
func (d *decoder) anything(n *yaml.Node, path string, depth int) any {
	n = target(n)
	d.at[path] = d.origins.place(n)
	switch {
	case !d.spend():
		return nil
	case n.Kind == yaml.ScalarNode:
		return d.bare(n, path)
	case depth == 0:
		d.addAt(path, CodeTooComplex, "parameters nest more than %d deep", maxParams)
		return nil
	case n.Kind == yaml.SequenceNode:
		items := make([]any, len(n.Content))
		for i, item := range n.Content {
			items[i] = d.anything(item, path+"["+strconv.Itoa(i)+"]", depth-1)
		}
		return items
	}
	entries, _ := d.entries(n, path)
	mapping := make(map[string]any, len(entries))
	for _, e := range entries {
		mapping[e.key] = d.anything(e.value, join(path, e.key), depth-1)
	}
	return mapping
}

// bare decodes a scalar by its own YAML type.
func (d *decoder) bare(n *yaml.Node, path string) any {
	switch n.Tag {
	case strTag:
		text, p := d.expand(n.Value)
		if p != nil {
			d.addAt(path, p.code, "%s", p.message)
		}
		return text
	case boolTag:
		return n.Value[0]|0x20 == 't'
	case intTag:
		if i, err := strconv.Atoi(n.Value); err == nil {
			return i
		}
		d.addAt(path, CodeOutOfRange, "%q is not a plain whole number", clip(n.Value))
	case floatTag:
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f
		}
		d.addAt(path, CodeOutOfRange, "%q is not a plain number", clip(n.Value))
	case nullTag:
		return nil
	default:
		d.addAt(path, CodeWrongType, "parameters are text, numbers, true or false, lists and mappings, not %s",
			describe(n))
	}
	return nil
}
