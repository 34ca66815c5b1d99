package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const apiPage = "docs/api.md"

func readAPIPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(apiPage)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// Issue 20: the tables of docs/api.md that are made of the code are what the code says. With -update they are written
// anew.
func TestAPIPageHasTheTablesOfTheCode(t *testing.T) {
	page := readAPIPage(t)
	for name, table := range map[string]string{"errors": errorTable(t), "members": memberTable(t),
		"refused": refusedTable(), "kinds": kindTable()} {
		open, shut := "<!-- generated: "+name+" -->\n", "<!-- end -->"
		before, rest, found := strings.Cut(page, open)
		old, after, closed := strings.Cut(rest, shut)
		switch {
		case !found || !closed:
			t.Errorf("%s has no place for %s", apiPage, name)
		case *update:
			page = before + open + table + shut + after
		case old != table:
			t.Errorf("%s: the table of %s is not in step: run this test with -update", apiPage, name)
		}
	}
	if *update {
		if err := os.WriteFile(apiPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// namesIn returns the strings of a variable's composite literal in a room: the keys of a map, else its elements.
// Constants of the room stand for what they are.
func namesIn(t *testing.T, dir, variable string) (names []string) {
	t.Helper()
	constants, literal := map[string]string{}, (*ast.CompositeLit)(nil)
	for _, f := range filesOf(t, dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is {
				return true
			}
			for i, value := range spec.Values {
				if s, is := value.(*ast.BasicLit); is && s.Kind == token.STRING {
					constants[spec.Names[i].Name] = strings.Trim(s.Value, "\"`")
				}
				if l, is := value.(*ast.CompositeLit); is && spec.Names[i].Name == variable {
					literal = l
				}
			}
			return true
		})
	}
	if literal == nil {
		t.Fatalf("%s has no list %s", dir, variable)
	}
	for _, element := range literal.Elts {
		if pair, is := element.(*ast.KeyValueExpr); is {
			element = pair.Key
		}
		switch e := element.(type) {
		case *ast.BasicLit:
			names = append(names, strings.Trim(e.Value, `"`))
		case *ast.Ident:
			names = append(names, constants[e.Name])
		}
	}
	return names
}

// filesOf returns the files of a room that serve.
func filesOf(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), dir+"/"+name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	return files
}

var inTicks = regexp.MustCompile("`([^`]+)`")

// firstCells returns what stands in ticks in the first cells of the tables of a section.
func firstCells(t *testing.T, page, section string) (names []string) {
	t.Helper()
	_, text, found := strings.Cut(page, "\n## "+section+"\n")
	if !found {
		t.Fatalf("%s has no section %q", apiPage, section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	text = regexp.MustCompile(`(?s)<!-- generated.*?<!-- end -->`).ReplaceAllString(text, "")
	for line := range strings.Lines(text) {
		if cell, _, is := strings.Cut(strings.TrimPrefix(line, "|"), "|"); is && strings.HasPrefix(line, "|") {
			for _, name := range inTicks.FindAllStringSubmatch(cell, -1) {
				names = append(names, name[1])
			}
		}
	}
	return names
}

// sameNames tells what one list has and the other has not.
func sameNames(t *testing.T, what string, code, page []string) {
	t.Helper()
	for _, name := range code {
		if !slices.Contains(page, name) {
			t.Errorf("%s: %s is not in %s", what, name, apiPage)
		}
	}
	for _, name := range page {
		if !slices.Contains(code, name) {
			t.Errorf("%s: %s is in %s, and not in the code", what, name, apiPage)
		}
	}
}

// The fields that the gateway reads by itself, on each door, are those of the page.
func TestAPIPageNamesTheFieldsThatAreRead(t *testing.T) {
	page := readAPIPage(t)
	for section, lists := range map[string][][2]string{
		"Fields of chat completions and completions": {{"wire", "sharedParams"}, {"wire", "chatParams"},
			{"wire", "completionParams"}},
		"Messages":  {{"doors/messages", "names"}, {"doors/messages", "kinds"}},
		"Responses": {{"doors/responses", "names"}, {"doors/responses", "kinds"}},
	} {
		var code []string
		for _, list := range lists {
			code = append(code, namesIn(t, "gateway/"+list[0], list[1])...)
		}
		sameNames(t, section, code, firstCells(t, page, section))
	}
}

// Headers that say something to or of the gateway, as the code spells them: alone, or in front of their value.
var headerInCode = regexp.MustCompile(`(?m)^(X-[A-Za-z][A-Za-z0-9-]+[A-Za-z0-9]|Retry-After|Server-Timing|Origin|` +
	`Www-Authenticate|Idempotency-Key|Traceparent|Tracestate|Authorization|Sec-Fetch-Site|Content-Type|` +
	`Content-Encoding)(: |$)`)

// The headers of the code are those of the page, whatever their case.
func TestAPIPageNamesEveryHeader(t *testing.T) {
	var code, known, inRows []string
	for _, dir := range []string{"gateway", "slo", "engine/engine.go"} {
		code = append(code, headersUnder(t, dir)...)
	}
	page := readAPIPage(t)
	for _, name := range inTicks.FindAllStringSubmatch(page, -1) {
		known = append(known, textproto.CanonicalMIMEHeaderKey(name[1]))
	}
	for _, section := range []string{"Request headers", "Response headers"} {
		for _, name := range firstCells(t, page, section) {
			inRows = append(inRows, textproto.CanonicalMIMEHeaderKey(name))
		}
	}
	for _, name := range code {
		if !slices.Contains(known, name) {
			t.Errorf("%s is not in %s", name, apiPage)
		}
	}
	for _, name := range inRows {
		if !slices.Contains(code, name) {
			t.Errorf("%s is in %s, and not in the code", name, apiPage)
		}
	}
}

// headersUnder returns the headers that the files below a place spell.
func headersUnder(t *testing.T, place string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
				text := strings.ReplaceAll(strings.Trim(l.Value, "\"`"), `\r\n`, "\n")
				for _, found := range headerInCode.FindAllStringSubmatch(text, -1) {
					names = append(names, textproto.CanonicalMIMEHeaderKey(found[1]))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
