package config

import (
	"fmt"
	"io"
	"os"
	"reflect"

	"octet/engine"
)

// maxFile is the largest configuration file, in bytes.
const maxFile = 1 << 20

// Options is what surrounds a file: overrides, the environment, and what other rooms know by name.
type Options struct {
	// Sets are overrides as path=value, such as specialists[0].block_size=8; the value is a YAML scalar. They win over
	// the environment, which wins over the file; a later one wins over an earlier one.
	Sets []string
	// Environ is the environment as NAME=value, for ${NAME} in text and for overrides: OCTET_ and the path in capitals,
	// dots as "__", a list's index as a part of its own (OCTET_SPECIALISTS__0__BLOCK_SIZE).
	Environ []string
	// Presets are the profiles that exist without being written. nil: references to profiles are not checked.
	Presets []string
	// Engines are the kinds of engine that replicas may be of. nil: engine.AllKinds().
	Engines engine.Table
}

// Load reads and checks the file at path. The error, if any, is a *Faults with every fault of the file.
func Load(path string, o Options) (*Config, error) {
	c, err := Read(path, o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Read is Load which returns what could be read of a file with faults, too, to be looked at for further ones; nil if it
// is no configuration at all. What is at fault has its default, or is as it was given.
func Read(path string, o Options) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	text, err := readAll(f)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return examine(path, text, o)
}

// readAll reads a file, and no more of it than shows that it is too large.
func readAll(f io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(f, maxFile+1)) }

func unreadable(path string, err error) *Faults {
	return &Faults{File: path, List: []Fault{{Path: rootPath, Code: CodeUnreadable, Message: err.Error()}}}
}

// Parse checks text, which is called name in messages. The error, if any, is a *Faults with every fault.
// Cost is bounded: at most 1 MiB of text and 50,000 nodes, aliases expanded.
func Parse(name string, text []byte, o Options) (*Config, error) {
	c, err := examine(name, text, o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// examine is Parse which returns what could be read of text with faults, too.
func examine(name string, text []byte, o Options) (*Config, error) {
	if o.Engines == nil {
		o.Engines = engine.AllKinds()
	}
	d := newDecoder(o)
	root, fault := document(text)
	if fault != nil {
		return nil, &Faults{File: name, List: []Fault{*fault}}
	}
	overlay(d, root, o)
	c := &Config{}
	preset(reflect.ValueOf(c).Elem())
	d.value(root, "", key{}, reflect.ValueOf(c).Elem())
	if d.budget < 0 {
		return nil, tooComplex(name)
	}
	c.derive(&d.report)
	check(c, &d.report, o)
	if err := d.err(name); err != nil {
		return c, err
	}
	c.expand()
	return c, nil
}

// newDecoder returns a decoder that has read nothing yet.
func newDecoder(o Options) *decoder {
	if o.Engines == nil {
		o.Engines = engine.AllKinds()
	}
	d := &decoder{report: report{at: map[string]place{}}, origins: newOrigins(), budget: maxNodes}
	d.engines, d.variables = engineNames(o.Engines), environment(o.Environ)
	return d
}

func tooComplex(name string) *Faults {
	return &Faults{File: name, List: []Fault{{Path: rootPath, Code: CodeTooComplex,
		Message: fmt.Sprintf("more than %d nodes, aliases expanded", maxNodes)}}}
}
