package pairs

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var plant = flag.Bool("planted", false, "plant the bugs of testdata/planted.txt, and write README.md")

// The table of bugs, and the module's root.
const (
	bugTable = "testdata/planted.txt"
	root     = "../.."
)

// pairs are this package's tests as they are run under a bug: what fails is named by the pattern's group.
var pairs = suite{"./app/pairs", []string{"-test.run", "^TestPairs$", "-stop"},
	regexp.MustCompile(`--- FAIL: TestPairs/cell/(\S+)`)}

// suite are tests that are to catch bugs.
type suite struct {
	pkg     string
	args    []string
	failing *regexp.Regexp
}

// bug is one of the table.
type bug struct{ name, file, old, planted string }

// bugs reads a table.
func bugs(t *testing.T, table string) (all []bug) {
	t.Helper()
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range strings.Split(string(text), "\n== ")[1:] {
		name, rest, _ := strings.Cut(entry, "\n")
		file, rest, _ := strings.Cut(rest, "\n")
		old, planted, ok := strings.Cut(rest, "\n--\n")
		if !ok {
			t.Fatalf("%s: nothing is planted", name)
		}
		all = append(all, bug{name, file, old, strings.TrimSuffix(planted, "\n")})
	}
	return all
}

// sources returns the files of the table with all bugs in them, each behind a switch of its name.
func sources(t *testing.T, all []bug) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, b := range all {
		text, ok := files[b.file]
		if !ok {
			read, err := os.ReadFile(filepath.Join(root, b.file))
			if err != nil {
				t.Fatal(err)
			}
			text = string(read)
		}
		if !strings.Contains(text, b.old) {
			t.Errorf("%s: %s has no %q", b.name, b.file, b.old)
		}
		on := fmt.Sprintf("planted.Is(%q)", b.name)
		files[b.file] = strings.Replace(text, b.old, strings.ReplaceAll(b.planted, "PLANTED", on), 1)
	}
	clause := regexp.MustCompile(`(?m)^package \w+$`)
	for name, text := range files {
		files[name] = clause.ReplaceAllString(text, "$0\n\nimport \"octet/internal/planted\"")
	}
	files["internal/planted/planted.go"] = switches
	return files
}

// switches says which bug there is.
const switches = `package planted

import "os"

var on = os.Getenv("OCTET_PLANTED")

func Is(name string) bool { return name == on }

func Or(s string, on bool) string {
	if on {
		return "acme"
	}
	return s
}

func But[T any](v T, on bool) (none T) {
	if on {
		return none
	}
	return v
}

func Other(n, other int, on bool) int {
	if on {
		return other
	}
	return n
}
`

// The table of bugs follows the sources: each bug can be planted.
func TestEveryBugOfTheTableCanBePlanted(t *testing.T) { sources(t, bugs(t, bugTable)) }

// TestPlantedBugsAreCaught builds this package over sources that have all bugs of the table, runs its cells under each
// bug in turn, and writes which cell caught it.
func TestPlantedBugsAreCaught(t *testing.T) {
	if !*plant {
		t.Skip("for make planted alone: some minutes")
	}
	all := bugs(t, bugTable)
	cells := pairs.catch(t, all)
	var rows bytes.Buffer
	n := 0
	for i, b := range all {
		if cells[i] != "" {
			n++
		}
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", b.name, b.file, cells[i])
	}
	text := fmt.Sprintf(readme, len(all), n, rows.String())
	if err := os.WriteFile("README.md", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if n*100 < len(all)*95 {
		t.Errorf("%d of %d bugs are caught", n, len(all))
	}
}

// catch returns what of a suite fails first under each bug in turn; "" if nothing does.
func (s suite) catch(t *testing.T, all []bug) []string {
	t.Helper()
	binary := s.build(t, sources(t, all), t.TempDir())
	if cell := s.caught(t, binary, "no bug"); cell != "" {
		t.Fatalf("without a bug %s fails", cell)
	}
	cells, turns := make([]string, len(all)), make(chan struct{}, 4) // a run waits for its bubbles mostly
	var running sync.WaitGroup
	for i, b := range all {
		turns <- struct{}{}
		running.Go(func() {
			cells[i] = s.caught(t, binary, b.name)
			t.Logf("%s: %s", b.name, cells[i])
			<-turns
		})
	}
	running.Wait()
	return cells
}

// readme takes the number of bugs, of those that were caught, and the table's rows.
const readme = `# Pairs of features, and the bugs that they catch

doc.go says what a cell is, and what holds in every one. Of %d bugs in testdata/planted.txt, planted one at a time, %d
are caught. The cell is the first that failed; others mostly fail too. "make planted" writes this page.

| bug | in | caught by |
|---|---|---|
%s`

// build builds the suite's tests over the sources.
func (s suite) build(t *testing.T, files map[string]string, dir string) (binary string) {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range files {
		at := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(top, name)] = at
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(at, list, 0o600); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "suite.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-pgo=off", "-overlay", at, "-o", binary, s.pkg)
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// caught returns the first cell that fails under a bug; "the table" where a feature is not seen any more, and "" if
// nothing fails.
func (s suite) caught(t *testing.T, binary, name string) string {
	t.Helper()
	run := exec.Command(binary, append([]string{"-test.timeout", "5m"}, s.args...)...)
	run.Dir = filepath.Join(root, s.pkg)
	run.Env = append(os.Environ(), "OCTET_PLANTED="+name)
	out, err := run.CombinedOutput()
	if err == nil {
		return ""
	}
	if found := s.failing.FindSubmatch(out); found != nil {
		return strings.NewReplacer("_", " ", "+", " × ").Replace(string(found[1]))
	}
	if bytes.Contains(out, []byte("test timed out")) {
		t.Errorf("%s: no cell failed in time", name)
		return ""
	}
	return "the table"
}
