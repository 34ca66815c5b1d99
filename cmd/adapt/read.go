package adapt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds of what is read.
const (
	MaxBytes = 1 << 20
	maxNodes = 20_000 // aliases expanded
	maxDepth = 32
)

// Why a text is not read.
var (
	ErrTooLarge   = errors.New("more than 1 MiB")
	ErrTooComplex = errors.New("more than 20,000 nodes with aliases expanded, or more than 32 deep")
	ErrSyntax     = errors.New("not YAML")
	ErrNothing    = errors.New("there is nothing to adapt")
)

// read returns the only document of a text. The error is one of those above.
func read(text []byte, notes *Notes) (*value, error) {
	if len(text) > MaxBytes {
		return nil, ErrTooLarge
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrSyntax)
	}
	in := yaml.NewDecoder(bytes.NewReader(text))
	root, err := next(in)
	switch {
	case errors.Is(err, io.EOF):
		return nil, ErrNothing
	case err != nil:
		return nil, fmt.Errorf("%w: %s", ErrSyntax, shown(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	if second, err := next(in); err == nil {
		notes.add(second.Line, ".", "only the first document is read")
	}
	r := reader{left: maxNodes, notes: notes}
	v := r.value(root, "", 0)
	if r.left < 0 {
		return nil, ErrTooComplex
	}
	return v, nil
}

// next reads one document. The parser reports some impossible states by panicking: on hostile input they are syntax
// errors.
func next(in *yaml.Decoder) (root *yaml.Node, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("yaml: %v", bug)
		}
	}()
	var doc yaml.Node
	if err := in.Decode(&doc); err != nil {
		return nil, err
	}
	return doc.Content[0], nil
}

// reader makes values of YAML's nodes.
type reader struct {
	left  int // nodes; below 0 it was too many
	notes *Notes
}

func (r *reader) value(n *yaml.Node, path string, depth int) *value {
	for hops := 0; n.Kind == yaml.AliasNode && hops < maxDepth; hops++ {
		n = n.Alias
	}
	v := &value{path: path, line: n.Line, kind: n.Kind, tag: n.ShortTag(), text: n.Value}
	r.left--
	if depth > maxDepth {
		r.left = -1
	}
	switch {
	case r.left < 0:
	case n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			if r.left >= 0 {
				v.items = append(v.items, r.value(item, path+"["+strconv.Itoa(i)+"]", depth+1))
			}
		}
	case n.Kind == yaml.MappingNode:
		v.fields = map[string]*value{}
		r.fields(v, n, depth, false)
	}
	return v
}

// fields reads those of a mapping. What is merged in (<<) gives way to what stands there, and of a key that comes twice
// the last counts, as in what it was written for.
func (r *reader) fields(v *value, n *yaml.Node, depth int, merged bool) {
	var sources []*yaml.Node
	for i := 0; i+1 < len(n.Content) && r.left >= 0; i += 2 {
		key, content := n.Content[i], n.Content[i+1]
		if key.ShortTag() == "!!merge" {
			sources = append(sources, content)
			continue
		}
		at := joined(v.path, key.Value)
		_, there := v.fields[key.Value]
		if there && merged {
			continue
		}
		if there {
			r.notes.add(key.Line, at, "given twice: the last one counts")
		} else {
			v.keys = append(v.keys, key.Value)
		}
		field := r.value(content, at, depth+1)
		field.line = key.Line
		v.fields[key.Value] = field
	}
	for _, source := range sources {
		r.merge(v, source, depth+1)
	}
}

// merge reads what a merge key brings in, after all that stands in the mapping itself.
func (r *reader) merge(v *value, source *yaml.Node, depth int) {
	if r.left--; r.left < 0 || depth > maxDepth {
		r.left = -1
		return
	}
	switch source.Kind {
	case yaml.AliasNode:
		r.merge(v, source.Alias, depth+1)
	case yaml.MappingNode:
		r.fields(v, source, depth, true)
	case yaml.SequenceNode:
		for _, each := range source.Content {
			r.merge(v, each, depth+1)
		}
	default: // a scalar brings nothing in
	}
}

// joined returns the path of a key.
func joined(path, key string) string {
	if key == "" || strings.ContainsFunc(key, odd) || len(key) > maxShown {
		key = strconv.Quote(clipped(key))
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// odd reports whether a rune of a key makes a path hard to read.
func odd(r rune) bool { return r <= ' ' || r == '.' || r == '"' || !strconv.IsPrint(r) }
