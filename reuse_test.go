package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Memory that is used again is where faults hide that no other test sees: each pool says, in the comment above it or on
// its line, why nothing else can hold what is in it.
func TestWhatIsUsedAgainSaysWhy(t *testing.T) {
	pools, why := 0, regexp.MustCompile(`(?i)used again`)
	for path, text := range sources(t) {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if !strings.Contains(line, "sync.Pool") || strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			pools++
			if block := strings.Join(lines[max(0, i-8):i+1], "\n"); !why.MatchString(block) {
				t.Errorf("%s:%d does not say why what is in this pool may be used again", path, i+1)
			}
		}
	}
	if pools < 10 {
		t.Errorf("%d pools were found: the search does not find them", pools)
	}
}

// differsUnderRace are the files that are other ones under the race detector, and why. What they do there is not what
// serves: `make test-plain` runs the packages of the first, but for internal/race, which tests alone import.
var differsUnderRace = map[string]string{
	"internal/http1/sock/sock_linux.go": "system calls of which Go's scheduler, and so the detector, is not told",
	"internal/http1/sock/sock_told.go":  "the same calls by package syscall, which the detector watches",
	"routing/index/runs/locked_free.go": "readers that take no lock: they read what is being written, find that out, " +
		"and read again",
	"routing/index/runs/locked_race.go": "the same reads under the writer's lock",
	"routing/index/runs/pages_mmap.go":  "memory outside of Go's heap, which the detector has no shadow of",
	"routing/index/runs/pages_heap.go":  "the same memory on the heap",
	"internal/race/off.go":              "whether the detector watches, for tests",
	"internal/race/on.go":               "likewise",
	"kvpool/stripe_full_test.go":        "how much a test does",
	"kvpool/stripe_race_test.go":        "likewise",
	"routing/events/chaos_full_test.go": "how much a test does",
	"routing/events/chaos_race_test.go": "likewise",
}

func TestFilesThatDifferUnderRaceAreNamedAndWhy(t *testing.T) {
	constrained, race := regexp.MustCompile(`(?m)^//go:build .*\brace\b`), regexp.MustCompile(`_race\.go$`)
	var found []string
	for path, text := range sources(t) {
		if constrained.MatchString(text) || race.MatchString(path) {
			found = append(found, path)
		}
	}
	for _, path := range found {
		if differsUnderRace[path] == "" {
			t.Errorf("%s is another file under the race detector, and nothing says why", path)
		}
	}
	for path := range differsUnderRace {
		if !slices.Contains(found, path) {
			t.Errorf("%s is named and is not there, or does not differ", path)
		}
	}
	plain, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for path := range differsUnderRace {
		if dir := filepath.Dir(path); !strings.HasSuffix(path, "_test.go") && dir != "internal/race" &&
			!strings.Contains(string(plain), "./"+dir) {
			t.Errorf("make test-plain does not run %s", dir)
		}
	}
}

// sources are this module's Go files, by path.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"bench", "tools", "testdata"}, path) ||
			strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || path == "reuse_test.go":
			return nil
		}
		text, err := os.ReadFile(path)
		all[filepath.ToSlash(path)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
