package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// variablePrefix begins the name of every variable that may override a key; variableDot stands for the dots of its
// path.
const (
	variablePrefix = "OCTET_"
	variableDot    = "__"
)

// variableOverrides returns, sorted, the variables that mean a key: those with a "__", and those that name a plain key
// of the top level. Any other OCTET_ variable is an ordinary one, for ${NAME}.
func variableOverrides(variables map[string]string) []string {
	top := keysOf(reflect.TypeFor[Config]())
	return slices.DeleteFunc(slices.Sorted(maps.Keys(variables)), func(name string) bool {
		rest, ours := strings.CutPrefix(name, variablePrefix)
		if !ours || strings.Contains(rest, variableDot) {
			return !ours
		}
		return !slices.ContainsFunc(top, func(k key) bool {
			number := reflect.TypeFor[Config]().FieldByIndex(k.field).Type.Kind() == reflect.Uint64
			return upper(k.name) == rest && number
		})
	})
}

// upper is a key's name as a part of a variable's.
func upper(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, strings.ToUpper(name))
}

// stepsOfVariable finds the path that an OCTET_ variable means, along the types and, for free keys, the file's own
// names.
func stepsOfVariable(name string, root *yaml.Node) ([]step, *problem) {
	var steps []step
	t, n, prefix := reflect.TypeFor[Config](), root, variablePrefix
	for part := range strings.SplitSeq(strings.TrimPrefix(name, variablePrefix), variableDot) {
		s, next, p := stepOf(part, prefix, t, n)
		if p != nil {
			return nil, p
		}
		steps = append(steps, s)
		prefix += part + variableDot
		t, n = next, childOf(n, s)
	}
	return steps, nil
}

// stepOf reads one part of a variable's name within type t; the file's node there, if any, is n.
func stepOf(part, prefix string, t reflect.Type, n *yaml.Node) (step, reflect.Type, *problem) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var names []string
	switch {
	case isPlugin(t):
		return step{}, nil, wrong(CodeBadOverride, "plugins of a profile are set in the file or by --set")
	case t.Kind() == reflect.Struct:
		for _, k := range keysOf(t) {
			if upper(k.name) == part {
				return step{key: k.name}, t.FieldByIndex(k.field).Type, nil
			}
			names = append(names, prefix+upper(k.name))
		}
	case t.Kind() == reflect.Map:
		for _, key := range keyNames(n) {
			if upper(key) == part {
				return step{key: key}, t.Elem(), nil
			}
			names = append(names, prefix+upper(key))
		}
	case t.Kind() == reflect.Slice:
		if index, err := strconv.ParseUint(part, 10, 16); err == nil {
			return step{index: int(index)}, t.Elem(), nil
		}
		return step{}, nil, wrong(CodeBadOverride, "%q is not an index; a list's items are counted from 0", clip(part))
	default:
		return step{}, nil, wrong(CodeUnknownKey, "%s is a value, nothing is under it",
			strings.TrimSuffix(prefix, variableDot))
	}
	return step{}, nil, wrong(CodeUnknownKey, "this variable means no key%s", didYouMean(prefix+part, names))
}

// childOf follows a step in the file, nil where it leads nowhere.
func childOf(n *yaml.Node, s step) *yaml.Node {
	switch {
	case n == nil:
		return nil
	case s.key == "" && n.Kind == yaml.SequenceNode && s.index < len(n.Content):
		return target(n.Content[s.index])
	case s.key != "" && n.Kind == yaml.MappingNode:
		if value := ownValue(n, s.key); value != nil {
			return target(*value)
		}
	}
	return nil
}

// keyNames lists the keys of a mapping as the file orders them.
func keyNames(n *yaml.Node) (names []string) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	return names
}
