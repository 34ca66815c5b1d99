package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// octet is the path of the gateway's binary: OCTET_BINARY, or one that is built for the tests.
var octet = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("OCTET_BINARY"); path != "" {
		return path, nil
	}
	path, err := filepath.Abs("../../.cache/bin/octet-checked")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-pgo=off", "-o", path, ".")
	build.Dir, build.Stderr = "../..", os.Stderr
	return path, build.Run()
})

// run returns what the gateway's binary prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := octet()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), path, args...)
	c.Env = append(os.Environ(), "OCTET_ADMIN_TOKEN=a token that is long enough")
	said, err := c.CombinedOutput()
	return string(said), err
}

// checkConfig fails if `octet check` refuses a configuration.
func checkConfig(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "octet.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := run(t, "check", path); err != nil {
		t.Errorf("octet check: %v\n%s\n%s", err, said, text)
	}
}

// checkCommand fails if a command line of the binary names a command or a flag that there is not.
func checkCommand(t *testing.T, args []string) {
	t.Helper()
	help, err := run(t, args[0], "--help")
	if err != nil {
		t.Errorf("%q: %v\n%s", args, err, help)
	}
	for _, a := range args[1:] {
		flag, _, _ := strings.Cut(a, "=")
		if strings.HasPrefix(flag, "--") && !strings.Contains(help, flag+" ") {
			t.Errorf("octet %s has no %s", args[0], flag)
		}
	}
}
