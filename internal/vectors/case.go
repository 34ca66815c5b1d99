package vectors

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Case is one case of another system.
type Case struct {
	Name string
	When string // what is done, in words

	given     json.RawMessage
	then      any // what is expected
	t         *testing.T
	tolerance float64
	inputs    []string          // paths into then
	prose     []string          // paths into then
	differs   map[string]string // path into then to reason
}

// Given decodes the case's inputs. A field that into does not have is a fault: no input is passed over.
func (c *Case) Given(into any) {
	c.t.Helper()
	d := json.NewDecoder(bytes.NewReader(c.given))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		c.t.Fatalf("given: %v", err)
	}
}

// Numbers returns the numbers in what is done, and fails the test if there are not n of them.
func (c *Case) Numbers(n int) []float64 {
	c.t.Helper()
	all := Numbers(c.When)
	if len(all) != n {
		c.t.Fatalf("%q has %v, not %d numbers", c.When, all, n)
	}
	return all
}

// Input decodes what lies at path in the expectation but is an input: it is not compared.
func (c *Case) Input(path string, into any) {
	c.t.Helper()
	text, err := json.Marshal(at(c.then, path))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		c.t.Fatalf("then %s: %v", path, err)
	}
	c.inputs = append(c.inputs, path)
}

// Prose names texts of the expectation that explain it.
func (c *Case) Prose(paths ...string) { c.prose = append(c.prose, paths...) }

// Tolerance is by how much numbers may be off; 1e-9 if it is not called.
func (c *Case) Tolerance(by float64) { c.tolerance = by }

// Differs names a part of the expectation that Octet does not meet on purpose.
func (c *Case) Differs(path, reason string) {
	if c.differs == nil {
		c.differs = map[string]string{}
	}
	c.differs[path] = reason
	c.t.Logf("%s differs on purpose: %s", path, reason)
}

// exempt returns true if nothing is compared at path.
func (c *Case) exempt(path string) bool {
	for _, p := range append(c.inputs[:len(c.inputs):len(c.inputs)], c.prose...) {
		if under(path, p) {
			return true
		}
	}
	return false
}

// differing returns the reason for which path differs, "" if it does not.
func (c *Case) differing(path string) string {
	for p, reason := range c.differs {
		if under(path, p) {
			return reason
		}
	}
	return ""
}

// under returns true if path is root or lies in it.
func under(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/')
}

var number = regexp.MustCompile(`(?:^|[^A-Za-z0-9_.]|\bx)(-?(?:\d+(?:\.\d+)?|\.\d+))`)

// Numbers returns the numbers in a text, "x3" for three times among them; other digits within a word are none.
func Numbers(text string) (all []float64) {
	for _, m := range number.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err == nil {
			all = append(all, n)
		}
	}
	return all
}
