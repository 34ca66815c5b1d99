package adapt

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// draft is the configuration that is being written, with where each of its keys comes from.
type draft struct {
	root      *yaml.Node
	from      map[string]*value // by path, such as limits.max_attempts
	variables []string          // that it names: NAME of ${NAME}
	notes     *Notes
}

func newDraft(notes *Notes) *draft {
	return &draft{root: mapping(), from: map[string]*value{}, notes: notes}
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

// variable is the name of an environment variable that a text is read from.
type variable string

// set writes a key that comes from a value of the source; nil if it follows from the whole.
func (d *draft) set(path string, to any, from *value) {
	n := d.at(path)
	switch x := to.(type) {
	case string:
		n.SetString(strings.ReplaceAll(x, "${", "$${"))
	case variable:
		n.SetString("${" + string(x) + "}")
		d.variables = append(d.variables, string(x))
	default:
		_ = n.Encode(to) // numbers, true and false, and lists and mappings of them and of names: all can be encoded
	}
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	d.from[path] = from
}

// at returns the node of a path, which is made if it is not there.
func (d *draft) at(path string) *yaml.Node {
	n := d.root
	for _, step := range steps(path) {
		if i, err := strconv.Atoi(step); err == nil {
			n.Kind = yaml.SequenceNode
			for len(n.Content) <= i {
				n.Content = append(n.Content, mapping())
			}
			n = n.Content[i]
			continue
		}
		at := field(n, step)
		if at < 0 {
			key := new(yaml.Node)
			key.SetString(step)
			n.Content = append(n.Content, key, mapping())
			at = len(n.Content) - 2
		}
		n = n.Content[at+1]
	}
	return n
}

// remove takes out a key of a mapping. False if it is not there.
func (d *draft) remove(path string) bool {
	n, all := d.root, steps(path)
	for i, step := range all {
		if at, err := strconv.Atoi(step); err == nil && n.Kind == yaml.SequenceNode && at < len(n.Content) {
			n = n.Content[at]
			continue
		}
		at := field(n, step)
		if at < 0 {
			return false
		}
		if i == len(all)-1 {
			n.Content = append(n.Content[:at], n.Content[at+2:]...)
			return true
		}
		n = n.Content[at+1]
	}
	return false
}

// field returns where a key of a mapping stands; below 0 if it is not there.
func field(n *yaml.Node, key string) int {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// steps returns the keys and numbers of a path.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// yaml returns the draft as text.
func (d *draft) yaml() ([]byte, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(d.root); err != nil {
		return nil, fmt.Errorf("writing the result: %w", err)
	}
	return out.Bytes(), nil
}

// seconds writes a duration that is given in seconds.
func (d *draft) seconds(path string, from *value) { d.time(path, from, 1000) }

// time writes a duration that is given in units of so many milliseconds.
func (d *draft) time(path string, from *value, ms float64) {
	n, given := from.number()
	if !given {
		d.odd(from)
		return
	}
	if n *= ms; n == float64(int64(n/1000))*1000 {
		d.set(path, strconv.FormatInt(int64(n/1000), 10)+"s", from)
		return
	}
	d.set(path, strconv.FormatInt(int64(n), 10)+"ms", from)
}

// count writes a whole number, with so much added.
func (d *draft) count(path string, from *value, more int64) {
	n, given := from.number()
	if !given || n != float64(int64(n)) {
		d.odd(from)
		return
	}
	d.set(path, int64(n)+more, from)
}

// odd notes a value that is not what its key takes, if there is one.
func (d *draft) odd(v *value) {
	if v != nil && !v.null() {
		d.notes.on(v, "left out: it is not a number")
	}
}
