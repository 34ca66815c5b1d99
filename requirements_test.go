package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const requirements = "docs/requirements.md"

var (
	update     = flag.Bool("update", false, "write the tables of docs that are made of the code")
	requireID  = regexp.MustCompile(`\b(?:MEGA|MOD[23]|GAIE|DYN)-\d\d\b`)
	requireRow = regexp.MustCompile(
		`(?m)^- \*\*([A-Z0-9]+-\d\d)\*\* (.+?)(?:\n  Code: (.*))?(?:\n  Tests: (.*))?$`)
)

// requirement is one row of the page: what must hold, where the code makes it so, and the tests that show it.
type requirement struct{ id, statement, code, tests string }

func requirementsIn(page []byte) []requirement {
	var all []requirement
	for _, row := range requireRow.FindAllStringSubmatch(string(page), -1) {
		all = append(all, requirement{id: row[1], statement: row[2], code: row[3], tests: row[4]})
	}
	return all
}

func (r *requirement) String() string {
	row := fmt.Sprintf("- **%s** %s", r.id, r.statement)
	if r.code != "" {
		row += "\n  Code: " + r.code
	}
	if r.tests != "" {
		row += "\n  Tests: " + r.tests
	}
	return row
}

func readRequirements(t *testing.T) []byte {
	t.Helper()
	page, err := os.ReadFile(requirements)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// docs/requirements.md has every id that a test cites, and names the tests that cite it. With -update it names them
// anew; what an id states, and where the code makes it so, is written by hand.
func TestRequirementsNameTheTestsThatCiteThem(t *testing.T) {
	cited := citations(t)
	page := readRequirements(t)
	if *update {
		page = requireRow.ReplaceAllFunc(page, func(row []byte) []byte {
			r := requirementsIn(row)[0]
			r.tests = strings.Join(cited[r.id], ", ")
			return []byte(r.String())
		})
		if err := os.WriteFile(requirements, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	listed := map[string]string{}
	for _, r := range requirementsIn(page) {
		listed[r.id] = r.tests
	}
	for _, id := range slices.Sorted(maps.Keys(cited)) {
		tests, known := listed[id]
		if !known {
			t.Errorf("%s is cited by %s and not in %s", id, strings.Join(cited[id], ", "), requirements)
		} else if want := strings.Join(cited[id], ", "); tests != want {
			t.Errorf("%s: %s names %q, and it is cited by %q: run this test with -update", id, requirements, tests,
				want)
		}
		delete(listed, id)
	}
	for id, tests := range listed {
		t.Errorf("%s names %q for %s, which nothing cites", requirements, tests, id)
	}
}

// citations returns the tests, scripts and test files that cite each id, sorted.
func citations(t *testing.T) map[string][]string {
	t.Helper()
	cited := map[string]map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			return fs.SkipDir
		}
		script := strings.HasSuffix(path, ".txt") && filepath.Base(filepath.Dir(path)) == "testdata"
		if err != nil || !script && !strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "requirements_") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := func(int) string { return filepath.Base(path) }
		if !script {
			name = testAt(t, path, text)
		}
		for _, at := range requireID.FindAllIndex(text, -1) {
			id := string(text[at[0]:at[1]])
			names := cited[id]
			if names == nil {
				names = map[string]bool{}
				cited[id] = names
			}
			names[name(at[0])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sorted := map[string][]string{}
	for id, names := range cited {
		sorted[id] = slices.Sorted(maps.Keys(names))
	}
	return sorted
}

// testAt returns a function that names the test around an offset of a file, its comment included; the file's own name
// stands for what is in no test.
func testAt(t *testing.T, path string, text []byte) func(offset int) string {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	isTest := regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)`)
	return func(offset int) string {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !isTest.MatchString(fn.Name.Name) {
				continue
			}
			from := fn.Pos()
			if fn.Doc != nil {
				from = fn.Doc.Pos()
			}
			if set.Position(from).Offset <= offset && offset < set.Position(fn.End()).Offset {
				return fn.Name.Name
			}
		}
		return filepath.Base(path)
	}
}
