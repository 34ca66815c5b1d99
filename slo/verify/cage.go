package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// cage is what a command sees and may use. It is handed to the process that closes the cage around itself and becomes
// the command.
type cage struct {
	Paths     []string // of the host, read-only; those that are not there are left out
	File      string   // in the working directory: the code, which comes by standard input
	Command   []string
	Path      string // $PATH
	Scratch   int64  // bytes of its file system
	Memory    int64  // bytes of each process
	Output    int64  // bytes of each file that it writes, and of the code
	Seconds   int64  // of processor time, of each process
	Processes int
	Own       bool // it has a uid of its own: the gateway may give one away
}

// toolchain is what a compiler needs of a host: programs, libraries and headers. Configuration, homes, /proc and /tmp
// are not there.
var toolchain = []string{
	"/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/include",
	"/bin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives",
}

// insideDir is the working directory, the home and the place for temporary files.
const insideDir = "/work"

// ready is what the caged process says before it becomes the command; anything else is why it cannot.
const ready = "ready"

// errNotReady is why a cage could not be closed.
var errNotReady = errors.New("verify: the cage")

// run runs a command in a cage on code. An error means that the result is unknown.
func (c cage) run(ctx context.Context, code string) (pass bool, err error) {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	if err := caged(cmd, c); err != nil {
		return false, err
	}
	said, err := c.start(cmd, code)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrIsolation, err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch failed, reached := strings.CutPrefix(said, ready); {
	case !reached && ctx.Err() == nil:
		return false, fmt.Errorf("%w: %w: %s", ErrIsolation, errNotReady, said)
	case failed != "":
		return false, fmt.Errorf("%w: %s", ErrCommand, failed)
	case err == nil:
		return true, nil
	case !errors.As(err, &exit), exit.ExitCode() == notStarted, exit.ExitCode() == notFound:
		return false, fmt.Errorf("%w: %w", ErrCommand, err)
	}
	return false, nil
}

// What a shell exits with when it cannot start a command.
const (
	notStarted = 126
	notFound   = 127
)

// start starts the caged process and returns what it says until it is the command, or has ended.
func (c cage) start(cmd *exec.Cmd, code string) (said string, err error) {
	spec, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	cmd.Args, cmd.Env, cmd.Stdin, cmd.WaitDelay = []string{cageName, string(spec)}, []string{}, strings.NewReader(code),
		time.Second
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	_ = w.Close() // the child has its own
	if err != nil {
		return "", err
	}
	text, _ := io.ReadAll(io.LimitReader(r, 4<<10)) // what is cut off says enough
	return string(text), nil
}

// cageName is the first argument of a process that is to close a cage around itself.
const cageName = "octet-cage"
