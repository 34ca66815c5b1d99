package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inNamespace is set in a process that has a network of its own, in which a document's commands run: its ports are free
// there.
const inNamespace = "OCTET_DOCUMENT_SCRIPT"

// runDocument brings the loopback device up and becomes the shell that runs a document's commands.
func runDocument(script string) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo); err != nil {
		return err
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		return err
	}
	return syscall.Exec(shell, []string{"bash", "-eux", script}, os.Environ())
}

var fenced = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// Two emulated engines stand where the documents have real ones: at the same ports, with the same options as far as the
// gateway sees them.
const twoEngines = `
octet engine --listen 127.0.0.1:8000 --model MODEL --name coder-0 --step 1ms EVENTS0 &
octet engine --listen 127.0.0.1:8001 --model MODEL --name coder-1 --step 1ms EVENTS1 &
for port in 8000 8001; do
	curl -s -o /dev/null --retry 60 --retry-connrefused --retry-delay 1 127.0.0.1:$port/health
done
`

// built takes the binary that the tests have built for the one that a document has built.
var built = strings.NewReplacer("make build\n", "", ".cache/bin/octet", "octet")

// Issue 23: what the first pages tell a stranger to type works as it stands.
func TestQuickstartsWorkAsWritten(t *testing.T) {
	events := [2]string{"--zmq tcp://127.0.0.1:5557 --zmq-replay tcp://127.0.0.1:5558",
		"--zmq tcp://127.0.0.1:5567 --zmq-replay tcp://127.0.0.1:5568"}
	for page, c := range map[string]struct {
		model  string
		events [2]string
	}{
		"README.md":                   {"coder", [2]string{}},
		"docs/quickstart-vllm.md":     {"coder", events},
		"docs/quickstart-sglang.md":   {"coder", events},
		"docs/quickstart-llamacpp.md": {"coder", [2]string{}},
		"docs/quickstart-ollama.md":   {"qwen2.5-coder:7b", [2]string{}},
	} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
			if err != nil {
				t.Fatal(err)
			}
			script := strings.NewReplacer("MODEL", c.model, "EVENTS0", c.events[0], "EVENTS1",
				c.events[1]).Replace(twoEngines)
			blocks := fenced.FindAllStringSubmatch(string(text), -1)
			if len(blocks) == 0 {
				t.Fatal("nothing to run")
			}
			for _, block := range blocks {
				script += built.Replace(block[1])
			}
			runScript(t, script)
		})
	}
}

// runScript runs a script with octet on the path, in a directory and a network of its own.
func runScript(t *testing.T, script string) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "script.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, self)
	c.Dir = dir
	c.Env = append(os.Environ(), inNamespace+"="+file, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	var out bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &out, &out, 10*time.Second
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	if err := c.Start(); err != nil {
		t.Skipf("no network of its own to be had here: %v", err)
	}
	if err := c.Wait(); err != nil { // the end of the namespace's first process ends all that it has started
		t.Errorf("%v\n%s", err, out.String())
	}
}
