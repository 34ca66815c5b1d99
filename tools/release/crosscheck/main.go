// Command crosscheck type-checks the gateway's program for platforms that nothing is run on here, without compiling it:
// in seconds, where a build takes minutes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	root := flag.String("root", "../..", "the repository")
	flag.Parse()
	for _, platform := range flag.Args() {
		if err := check(*root, platform); err != nil {
			fmt.Fprintf(os.Stderr, "crosscheck: %s: %v\n", platform, err)
			os.Exit(1)
		}
		fmt.Fprintf(os.Stderr, "%s: type-checks\n", platform)
	}
}

// check returns the first errors of the program and all that it imports, on a platform.
func check(root, platform string) error {
	system, arch, _ := strings.Cut(platform, "/")
	loaded, err := packages.Load(&packages.Config{Dir: root, Mode: packages.LoadAllSyntax,
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOWORK=off")}, ".")
	if err != nil {
		return err
	}
	var wrong []error
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			wrong = append(wrong, e)
		}
	})
	return errors.Join(wrong[:min(len(wrong), 20)]...)
}
