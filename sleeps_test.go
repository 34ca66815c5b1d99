package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A test sleeps in a synctest bubble, where that costs nothing and is exact. Elsewhere it waits for a condition
// (internal/await, a channel), or says beside the sleep what only real time brings about: "// real time: …". A helper
// of bubbles in another file says "// in a bubble".
func TestTestsSleepInBubblesOrSayWhyNot(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, "_test.go") {
			for _, at := range bareSleeps(t, path) {
				t.Errorf("%s sleeps in real time, and does not say what for", at)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// bareSleeps returns where the file calls time.Sleep with no reason beside or above it; none in a file of bubbles.
func bareSleeps(t *testing.T, path string) (at []string) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		if i.Path.Value == strconv.Quote("testing/synctest") {
			return nil
		}
	}
	reasons := map[int]bool{} // lines
	for _, g := range f.Comments {
		if text := g.Text(); strings.Contains(text, "real time:") || strings.Contains(text, "in a bubble") {
			last := set.Position(g.End()).Line
			reasons[last], reasons[last+1] = true, true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || name.Sel.Name != "Sleep" {
			return true
		}
		if pkg, ok := name.X.(*ast.Ident); ok && pkg.Name == "time" && !reasons[set.Position(n.Pos()).Line] {
			at = append(at, set.Position(n.Pos()).String())
		}
		return true
	})
	return at
}
