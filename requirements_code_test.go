package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// required is how many statements each source document comes to. Their ids count from 01 on.
var required = map[string]int{"MEGA": 77, "MOD2": 52, "MOD3": 51, "GAIE": 45, "DYN": 25}

// mostPlaces is how many places of code a row names at most: more would not tell where to look first.
const mostPlaces = 3

// docs/requirements.md has a row for each statement, and no other rows.
func TestRequirementsAreAllThere(t *testing.T) {
	listed := map[string]int{}
	for _, r := range requirementsIn(readRequirements(t)) {
		listed[r.id]++
	}
	for _, group := range slices.Sorted(maps.Keys(required)) {
		for n := range required[group] {
			id := fmt.Sprintf("%s-%02d", group, n+1)
			if listed[id] != 1 {
				t.Errorf("%s has %d rows in %s, want 1", id, listed[id], requirements)
			}
			delete(listed, id)
		}
	}
	for id := range listed {
		t.Errorf("%s has %s, which no source document states", requirements, id)
	}
}

// Each row names the code that makes its statement true, and that code is there: a file, and in a file of Go a symbol
// that it declares.
func TestRequirementsNameTheCodeThatMeetsThem(t *testing.T) {
	declared := declarations{}
	for _, r := range requirementsIn(readRequirements(t)) {
		places := strings.Split(r.code, ", ")
		if len(places) > mostPlaces {
			t.Errorf("%s: %d places of code, want %d at most", r.id, len(places), mostPlaces)
		}
		for i, place := range places {
			if err := declared.find(place); err != nil {
				t.Errorf("%s: %v", r.id, err)
			}
			if slices.Contains(places[:i], place) {
				t.Errorf("%s: %s comes twice", r.id, place)
			}
		}
	}
}

// A place that is not there, or that proves nothing, is found out.
func TestPlacesOfCodeAreLookedUp(t *testing.T) {
	declared := declarations{}
	for _, place := range []string{"Makefile", "main.go#main", "kvpool/pool.go#Pool", "kvpool/pool.go#Pool.Free",
		"routing/slot.go#Slot.Get", "routing/index/words_512.go#Words"} {
		if err := declared.find(place); err != nil {
			t.Error(err)
		}
	}
	for _, place := range []string{"", "kvpool", "kvpool/nothing.go#Pool", "kvpool/pool.go", "kvpool/pool.go#Nothing",
		"kvpool/pool.go#Free", "Makefile#build", "layers_test.go#mayImport", "../octet/main.go#main",
		"kvpool/table.go#Pool.Free", "cmd/testdata/x.yaml"} {
		if declared.find(place) == nil {
			t.Errorf("%q is a place of code", place)
		}
	}
}

// declarations are the symbols that each file of Go declares, as far as it was read: functions, types, values, and
// methods as Type.Method.
type declarations map[string]map[string]bool

// find returns why a place, such as kvpool/pool.go#Pool.Free or Makefile, is not one of code that serves; nil if it is.
func (d declarations) find(place string) error {
	file, symbol, named := strings.Cut(place, "#")
	inGo := strings.HasSuffix(file, ".go")
	switch info, err := os.Stat(file); {
	case file == "":
		return errors.New("no place of code is named")
	case err != nil:
		return err
	case !info.Mode().IsRegular() || path.Clean(file) != file || strings.HasPrefix(file, "."):
		return fmt.Errorf("%q is not the path of a file from the root", file)
	case strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/"):
		return fmt.Errorf("%s is of a test: it serves nothing", file)
	case inGo != named:
		return fmt.Errorf("%q: a file of Go has a symbol, any other file has none", place)
	case !inGo:
		return nil
	}
	if err := d.read(file); err != nil {
		return err
	}
	if !d[file][symbol] {
		return fmt.Errorf("%s declares no %s", file, symbol)
	}
	return nil
}

func (d declarations) read(file string) error {
	if d[file] != nil {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	symbols := map[string]bool{}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			symbols[methodName(decl)] = true
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				for _, name := range specNames(spec) {
					symbols[name.Name] = true
				}
			}
		}
	}
	d[file] = symbols
	return nil
}

func specNames(spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{spec.Name}
	case *ast.ValueSpec:
		return spec.Names
	}
	return nil
}

// methodName returns the name of a function, behind that of its receiver's type if it has one.
func methodName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return fmt.Sprint(of, ".", f.Name.Name)
}
