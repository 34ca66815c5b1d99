package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licence is a file's name that binds those who pass the code on.
var licence = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents|copyright)([.-].*)?$`)

// own is the path of our module, whose licence stands beside the binary.
const own = "octet"

// licences returns the licences of all modules that a platform's binary has code of, and of Go's own library. A module
// without one is an error.
func (r *release) licences(ctx context.Context, platform string) ([]file, error) {
	listed, err := r.run(ctx, platform, "list", "-deps", "-f",
		"{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}", ".")
	if err != nil {
		return nil, err
	}
	goroot, err := r.run(ctx, platform, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	modules := strings.Split(strings.TrimSpace(listed), "\n")
	modules = append(modules, "go\tstandard-library\t"+strings.TrimSpace(goroot))
	slices.Sort(modules)
	var all []file
	for _, module := range slices.Compact(modules) {
		part := strings.Split(module, "\t")
		if len(part) != 3 || part[0] == own {
			continue
		}
		texts, err := licencesOf(part[2], path.Join("licences", part[0]+"@"+part[1]))
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", part[0], part[1], err)
		}
		all = append(all, texts...)
	}
	return all, nil
}

// licencesOf returns the licences in a module's folder, as files below as.
func licencesOf(folder, as string) (all []file, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || !licence.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, file{path.Join(as, e.Name()), 0o644, content})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no licence in %s", folder)
	}
	return all, nil
}
