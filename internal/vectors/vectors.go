package vectors

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Got is what Octet did with a case, in the shape of the case's "then". Its values are what JSON can say, or Says,
// Rule, Has, Within, AtLeast, AtMost, Splits.
type Got map[string]any

// Play gives a case's inputs to Octet.
type Play func(t *testing.T, c *Case) Got

// Plays are the cases of one file that one runner plays, by name.
type Plays map[string]Play

// Folder returns where the cases are. Skips the test if that folder is not there.
func Folder(t *testing.T) string {
	t.Helper()
	root := moduleRoot(t)
	shared := cmp.Or(os.Getenv("OCTET_SHARED"), filepath.Join("..", "shared"))
	if !filepath.IsAbs(shared) {
		shared = filepath.Join(root, shared)
	}
	folder := filepath.Join(shared, "data", "vectors")
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no cases of other systems: set OCTET_SHARED to the folder that has data/vectors")
	}
	return folder
}

// moduleRoot returns the nearest folder upward that has a go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(folder, "go.mod")); missing == nil {
			return folder
		}
		if folder == filepath.Dir(folder) {
			err = fs.ErrNotExist
		}
		folder = filepath.Dir(folder)
	}
	t.Fatalf("no module above this test: %v", err)
	return ""
}

// Read returns the cases of a file, in its order.
func Read(t *testing.T, path string) []*Case {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name, When  string
			Given, Then json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Vectors) == 0 {
		t.Fatalf("%s: %d cases, %v", path, len(file.Vectors), err)
	}
	var cases []*Case
	for _, v := range file.Vectors {
		c := &Case{Name: v.Name, When: v.When, given: v.Given, t: t}
		if err := json.Unmarshal(v.Then, &c.then); err != nil {
			t.Fatalf("%s: %s: %v", path, v.Name, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// Run plays cases of a file as subtests FILE/CASE, and compares each answer with what the case expects.
func Run(t *testing.T, file string, plays Plays) {
	t.Helper()
	left := maps.Clone(plays)
	for _, c := range Read(t, filepath.Join(Folder(t), file)) {
		play, ok := left[c.Name]
		if !ok {
			continue
		}
		delete(left, c.Name)
		t.Run(strings.TrimSuffix(file, ".json")+"/"+c.Name, func(t *testing.T) {
			c.t = t
			for _, fault := range c.judge(play(t, c)) {
				t.Error(fault)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%s has no case %s", file, name)
	}
}

// judge returns what of the case's expectation got does not meet; where it meets all, what of it could be another.
func (c *Case) judge(got Got) (faults []string) {
	for _, m := range c.mismatches(got, c.then) {
		if c.differing(m.path) == "" {
			faults = append(faults, m.String())
		}
	}
	for path, reason := range c.differs {
		found := slices.ContainsFunc(c.mismatches(got, c.then), func(m mismatch) bool { return under(m.path, path) })
		if !found {
			faults = append(faults, fmt.Sprintf("%s: no difference is left, though: %s", path, reason))
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return c.idle(got)
}

// idle returns the expected leaves that got, which meets them all, would meet as well if they were others.
func (c *Case) idle(got Got) (faults []string) {
	for _, path := range leaves("", c.then) {
		if c.exempt(path) || c.differing(path) != "" {
			continue
		}
		noticed := false
		for _, mutant := range mutants(at(c.then, path)) {
			noticed = noticed || len(c.mismatches(got, with(c.then, path, mutant))) > len(c.mismatches(got, c.then))
		}
		if !noticed {
			faults = append(faults, fmt.Sprintf("%s: expected is %v, and another would do as well", path,
				at(c.then, path)))
		}
	}
	return faults
}
