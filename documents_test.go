package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"octet/cmd"
)

const keysPage = "docs/keys.md"

// documents returns the pages that users read, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, root := range []string{"README.md", "SECURITY.md", "ARCHITECTURE.md", "docs", "deploy"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
				return err
			}
			page, err := os.ReadFile(path)
			pages[filepath.ToSlash(path)] = string(page)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

var (
	fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")
	links = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	dots  = regexp.MustCompile("`([a-z_]+(?:\\.[a-z_]+)+)(?::[^`]*)?`")
	flags = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
	typed = regexp.MustCompile(`(?:^|[|&;(]\s*|\s)octet ([a-z]+)([^|;&\n]*)`)
)

// Issue 23: every link of a document leads to a file, and to a heading where it names one.
func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	pages := documents(t)
	for path, page := range pages {
		for _, m := range links.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			to := path
			if target != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(path), target))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: nothing is at %s", path, m[1])
			} else if anchor != "" && !slices.Contains(anchors(pages[to]), anchor) {
				t.Errorf("%s: %s has no heading %s", path, to, anchor)
			}
		}
	}
}

// anchors returns what the headings of a page are linked by.
func anchors(page string) (all []string) {
	other := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(other.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

// node is a key of the configuration's schema.
type node struct {
	Description          string
	Default              any
	Type                 any
	Enum                 []any
	Required             []string
	Properties           map[string]node
	Items                *node
	AdditionalProperties json.RawMessage
}

// below returns the node that holds n's own keys, through lists and maps, and what stands between.
func (n node) below() (keys node, between string) {
	for n.Items != nil || isObject(n.AdditionalProperties) {
		if n.Items != nil {
			n, between = *n.Items, between+"[]"
			continue
		}
		var inner node
		_ = json.Unmarshal(n.AdditionalProperties, &inner) // isObject has seen it
		n, between = inner, between+".NAME"
	}
	return n, between
}

func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

func schema(t *testing.T) (root node) {
	t.Helper()
	file, err := os.ReadFile("config/schema.json")
	if err == nil {
		err = json.Unmarshal(file, &root)
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// walk calls f for each key below n, in order.
func walk(n node, prefix string, f func(path string, n node)) {
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		child := n.Properties[name]
		path := prefix + name
		f(path, child)
		inner, between := child.below()
		walk(inner, path+between+".", f)
	}
}

// Issue 23: the reference of keys is made of the schema. With -update it is written anew.
func TestKeyReferenceIsOfTheSchema(t *testing.T) {
	want := keyReference(schema(t))
	if *update {
		if err := os.WriteFile(keysPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(keysPage); err != nil || string(got) != want {
		t.Errorf("%s is not in step: go test . -run KeyReference -update", keysPage)
	}
}

func keyReference(root node) string {
	var out strings.Builder
	out.WriteString("# Every key\n\nMade of `config/schema.json`. With comments and in their places: " +
		"[config/reference.yaml](../config/reference.yaml).\n" +
		"`[]` is an entry of a list, `NAME` a name of yours.\n")
	for _, section := range slices.Sorted(maps.Keys(root.Properties)) {
		n := root.Properties[section]
		fmt.Fprintf(&out, "\n## %s\n\n%s\n\n", section, cell(n.Description))
		table := heading("key", "default", "")
		walk(node{Properties: map[string]node{section: n}}, "", func(path string, n node) {
			table += row("`"+path+"`", defaultOf(n), cell(n.Description))
		})
		out.WriteString(table)
	}
	return out.String()
}

func cell(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "|", `\|`)), " ")
}

func defaultOf(n node) string {
	if n.Default == nil {
		return ""
	}
	text, err := json.Marshal(n.Default)
	if err != nil {
		return ""
	}
	return "`" + strings.ReplaceAll(string(text), "|", `\|`) + "`"
}

// Issue 23: a key that a document names is one.
func TestDocumentsNameKeysThatAre(t *testing.T) {
	known, first := map[string]bool{}, map[string]bool{}
	walk(schema(t), "", func(path string, _ node) {
		parts := strings.Split(strings.ReplaceAll(strings.ReplaceAll(path, "[]", ""), ".NAME", ""), ".")
		first[parts[0]] = true
		for i := range parts {
			known[strings.Join(parts[i:], ".")] = true
		}
	})
	for path, page := range documents(t) {
		if strings.HasPrefix(path, "docs/decisions/") || path == "docs/doctor.md" { // of what was; checks' names
			continue
		}
		for _, m := range dots.FindAllStringSubmatch(page, -1) {
			if section, _, _ := strings.Cut(m[1], "."); first[section] && !known[m[1]] {
				t.Errorf("%s names the key %s, which is none", path, m[1])
			}
		}
	}
}

// Issue 23: a command and a flag that a document shows are there.
func TestDocumentsShowCommandsThatAre(t *testing.T) {
	commands := map[string]*cobra.Command{}
	for _, c := range cmd.Root().Commands() {
		c.InitDefaultHelpFlag()
		commands[c.Name()] = c
	}
	for path, page := range documents(t) {
		for _, block := range fence.FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(block[1], "sh") {
				continue
			}
			for _, m := range typed.FindAllStringSubmatch(strings.ReplaceAll(block[2], "\\\n", " "), -1) {
				checkShown(t, path, commands[m[1]], m)
			}
		}
	}
}

// checkShown looks whether a command line of a document, whose parts m are, is one of c.
func checkShown(t *testing.T, path string, c *cobra.Command, m []string) {
	t.Helper()
	if c == nil {
		if !slices.Contains([]string{"completion", "help"}, m[1]) {
			t.Errorf("%s: octet %s is no command", path, m[1])
		}
		return
	}
	if words := strings.Fields(m[2]); len(words) > 0 {
		for _, sub := range c.Commands() {
			if sub.Name() == words[0] {
				c = sub
			}
		}
	}
	for _, f := range flags.FindAllStringSubmatch(m[2], -1) {
		if c.Flags().Lookup(f[1]) == nil && c.InheritedFlags().Lookup(f[1]) == nil && f[1] != "help" {
			t.Errorf("%s: octet %s has no flag --%s", path, m[1], f[1])
		}
	}
}
