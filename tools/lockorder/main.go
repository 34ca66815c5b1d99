// Command lockorder writes a copy of the tree whose locks are go-deadlock's. Its tests end the process where two locks
// are taken in one order here and in the other there, though nothing waited for ever in that run.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// library is what locks are taken from, at the version of this module's go.mod.
const library = "github.com/sasha-s/go-deadlock"

// order is what is added to each package with locks of the library's: it looks at orders alone, since how long a lock
// is waited for says nothing under synctest.
const order = "package %s\n\nimport \"" + library + "\"\n\nfunc init() { deadlock.Opts.DeadlockTimeout = 0 }\n"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: lockorder ROOT COPY")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "lockorder:", err)
		os.Exit(1)
	}
}

// write makes the copy anew. What git ignores is no part of it.
func write(root, into string) error {
	if err := os.RemoveAll(into); err != nil {
		return err
	}
	listed, err := output(root, "git", "ls-files", "-co", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		if err := place(filepath.Join(root, name), filepath.Join(into, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	version, err := output(".", "go", "list", "-m", "-f", "{{.Version}}", library)
	if err != nil {
		return err
	}
	_, err = output(into, "go", "get", library+"@"+strings.TrimSpace(version))
	return err
}

// place copies one file, with other locks if it is of Go and no test. One that is gone meanwhile is left out.
func place(from, to string) error {
	content, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if strings.HasSuffix(from, ".go") && !strings.HasSuffix(from, "_test.go") {
		of := ""
		if content, of, err = relock(content); err == nil && of != "" {
			err = os.WriteFile(filepath.Join(filepath.Dir(to), "lockorder.go"), fmt.Appendf(nil, order, of), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return os.WriteFile(to, content, info.Mode().Perm())
}

// relock returns a file of Go whose sync.Mutex and sync.RWMutex are the library's, and its package. A file without them
// is returned as it is, with "".
func relock(source []byte) (relocked []byte, of string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments)
	if err != nil {
		return nil, "", err
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Mutex" || s.Sel.Name == "RWMutex") {
			if of, ok := s.X.(*ast.Ident); ok && of.Name == "sync" {
				of.Name, found = "deadlock", true
			}
		}
		return true
	})
	if !found {
		return source, "", nil
	}
	astutil.AddNamedImport(files, file, "deadlock", library)
	if !astutil.UsesImport(file, "sync") {
		astutil.DeleteImport(files, file, "sync")
	}
	var out bytes.Buffer
	err = format.Node(&out, files, file)
	return out.Bytes(), file.Name.Name, err
}

// output runs a program in a folder and returns what it prints.
func output(folder, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	out, err := cmd.Output()
	if fault := (*exec.ExitError)(nil); errors.As(err, &fault) {
		err = fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), bytes.TrimSpace(fault.Stderr))
	}
	return string(out), err
}
