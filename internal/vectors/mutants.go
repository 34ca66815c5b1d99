package vectors

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// join appends a step to a path; steps are parted by "/".
func join(path, step string) string {
	if path == "" {
		return step
	}
	return path + "/" + step
}

// leaves returns the paths to all values that hold no others, and to empty lists and objects.
func leaves(path string, v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leaves(join(path, name), v[name])...)
		}
	case []any:
		for i, one := range v {
			all = append(all, leaves(join(path, strconv.Itoa(i)), one)...)
		}
	}
	if len(all) == 0 {
		return []string{path}
	}
	return all
}

// at returns what lies at a path, nil if nothing does.
func at(v any, path string) any {
	for path != "" {
		var step string
		step, path, _ = strings.Cut(path, "/")
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// with returns v with another value at a path, and leaves v as it is.
func with(v any, path string, value any) any {
	if path == "" {
		return value
	}
	step, rest, _ := strings.Cut(path, "/")
	switch in := v.(type) {
	case map[string]any:
		out := maps.Clone(in)
		out[step] = with(in[step], rest, value)
		return out
	case []any:
		out := slices.Clone(in)
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(out) {
			out[i] = with(in[i], rest, value)
		}
		return out
	}
	panic(fmt.Sprintf("vectors: nothing lies at %q", path))
}

// mutants returns values that a leaf could be instead.
func mutants(leaf any) []any {
	switch v := leaf.(type) {
	case float64:
		return []any{v + 1, v - 1, -v - 1e6, v + 1e6}
	case string:
		changed := []any{1.0, "~" + v}
		for _, n := range number.FindAllStringSubmatchIndex(v, -1) {
			changed = append(changed, v[:n[2]]+"77"+v[n[3]:])
		}
		return changed
	case bool:
		return []any{!v}
	}
	return []any{"~"} // null, or an empty list or object
}
