package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hashNames are what the router may use of kvpool: how prompts are hashed. All else there is the block manager.
var hashNames = []string{"BlockHash", "Digest", "Hasher", "Named", "NewHasher"}

// MEGA-03: the router hashes prompts as the block manager does, and knows nothing else of it: no Pool, no Table.
func TestTheRouterUsesHashesAndNoBlocks(t *testing.T) {
	rooms := map[string]bool{}
	err := filepath.WalkDir("routing", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		used, err := blockNames(path, nil)
		if len(used) > 0 {
			t.Errorf("%s uses the block manager: %s", path, strings.Join(used, ", "))
		}
		rooms[filepath.Dir(path)] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !rooms["routing"] || !rooms["routing/plugins"] || !rooms["routing/index/runs"] || len(rooms) < 12 {
		t.Errorf("only %d rooms were looked at: %v", len(rooms), rooms)
	}
}

// The check itself: a router that uses blocks is found, whatever it calls the package.
func TestARouterThatUsesBlocksIsFound(t *testing.T) {
	for source, want := range map[string][]string{
		`import "octet/kvpool"; var h kvpool.Hasher; type d = kvpool.Digest`:                  nil,
		`import "octet/kvpool"; func f(p *kvpool.Pool) int { return p.Stats().Free }`:         {"kvpool.Pool"},
		`import b "octet/kvpool"; var t = map[b.BlockHash]b.Table{}`:                          {"kvpool.Table"},
		`import . "octet/kvpool"; var p Pool`:                                                 {"kvpool.*"},
		`import "octet/kvpool"; func f() { kvpool := struct{ Pool int }{}; _ = kvpool.Pool }`: nil,
		`import _ "octet/kvpool"`: nil,
		`import "octet/kvpool"; var _ = kvpool.NewHasher; type t struct{ kvpool.Config }; var x t`: {"kvpool.Config"},
	} {
		used, err := blockNames("planted.go", "package p; "+source)
		if err != nil || !slices.Equal(used, want) {
			t.Errorf("%s: found %q (%v), want %q", source, used, err, want)
		}
	}
}

// blockNames returns what a file uses of kvpool beyond hashNames. source is as for parser.ParseFile.
func blockNames(path string, source any) (used []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
	if err != nil {
		return nil, err
	}
	name := ""
	for _, imported := range file.Imports {
		if of, err := strconv.Unquote(imported.Path.Value); err != nil || of != "octet/kvpool" {
			continue
		}
		switch name = "kvpool"; {
		case imported.Name != nil && imported.Name.Name == ".":
			return []string{"kvpool.*"}, nil // any name may be of it
		case imported.Name != nil:
			name = imported.Name.Name
		}
	}
	if name == "" {
		return nil, nil // the file does not see it
	}
	ast.Inspect(file, func(n ast.Node) bool {
		of, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// an identifier of the package has no object: nothing in the file declares it
		x, ok := of.X.(*ast.Ident)
		if ok && x.Name == name && x.Obj == nil && !slices.Contains(hashNames, of.Sel.Name) {
			used = append(used, "kvpool."+of.Sel.Name)
		}
		return true
	})
	return used, nil
}
