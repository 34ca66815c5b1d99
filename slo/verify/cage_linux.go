//go:build amd64 || arm64

package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Uids of the caged process on the host, where the gateway may give one away, and in its namespace.
const (
	hostUser  = 65534
	cagedUser = 1
)

// caged makes cmd the first process of namespaces of its own: it sees no mount, no network device and no process of
// ours, and all that it starts ends with it.
func caged(cmd *exec.Cmd, c cage) error {
	uid, gid := os.Getuid(), os.Getgid()
	a := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET |
			unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
			unix.CLONE_NEWCGROUP,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}},
	}
	if c.Own {
		a.UidMappings = append(a.UidMappings, syscall.SysProcIDMap{ContainerID: cagedUser, HostID: hostUser, Size: 1})
		a.GidMappings = append(a.GidMappings, syscall.SysProcIDMap{ContainerID: cagedUser, HostID: hostUser, Size: 1})
		a.GidMappingsEnableSetgroups = true
	}
	cmd.SysProcAttr = a
	return nil
}

// sayTo is where the caged process says how it gets on.
const sayTo = 3

// A process of that name is no gateway: it closes the cage and becomes the command, or ends, before anything else of
// the program runs. Nothing else can run code between a fork and the command that it becomes.
func init() {
	if len(os.Args) != 2 || os.Args[0] != cageName {
		return
	}
	runtime.LockOSThread() // what is given up below is this thread's
	unix.CloseOnExec(sayTo)
	out := os.NewFile(sayTo, "out")
	err := becomeCommand(out)
	fmt.Fprint(out, err) // the parent reads it there
	os.Exit(notStarted)
}

func becomeCommand(out io.Writer) error {
	var c cage
	if err := json.Unmarshal([]byte(os.Args[1]), &c); err != nil {
		return err
	}
	code, err := io.ReadAll(io.LimitReader(os.Stdin, c.Output+1))
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"file system", func() error { return c.build(code) }},
		{"bounds", c.bound},
		{"user", c.giveUp},
		{"system calls", filterCalls},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	env := []string{"PATH=" + c.Path, "HOME=" + insideDir, "TMPDIR=" + insideDir, "LC_ALL=C"}
	if _, err := io.WriteString(out, ready); err != nil {
		return err
	}
	return syscall.Exec(shell, c.withMemory(), env)
}

// shell bounds the address space before it becomes the command: this process's own is larger than many a command may
// have, and its runtime does not survive to be refused memory.
const shell = "/bin/sh"

func (c cage) withMemory() []string {
	const kib = 1 << 10
	bounded := fmt.Sprintf(`ulimit -v %d || exit %d; exec "$@"`, c.Memory/kib, notStarted)
	return append([]string{"sh", "-c", bounded, "sh"}, c.Command...)
}

// bound sets what each process may use, but for memory.
func (c cage) bound() error {
	for _, l := range []struct {
		what int
		most int64
	}{
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, c.Output}, {unix.RLIMIT_CPU, c.Seconds},
		{unix.RLIMIT_NPROC, int64(c.Processes)},
		{unix.RLIMIT_NOFILE, mostFiles}, {unix.RLIMIT_MEMLOCK, 0}, {unix.RLIMIT_MSGQUEUE, 0},
	} {
		if err := setLimit(l.what, l.most); err != nil {
			return fmt.Errorf("limit %d: %w", l.what, err)
		}
	}
	return nil
}

// mostFiles is how many files a process may have open.
const mostFiles = 256

func setLimit(what int, most int64) error {
	return unix.Setrlimit(what, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)})
}

// giveUp leaves the process without capabilities, now and after whatever it becomes, and, where it may, as another
// user.
func (c cage) giveUp() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for capability := uintptr(0); unix.Prctl(unix.PR_CAPBSET_READ, capability, 0, 0, 0) == nil; capability++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
			return err
		}
	}
	if c.Own {
		if err := becomeUser(cagedUser); err != nil {
			return err
		}
	}
	none := [2]unix.CapUserData{}
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// becomeUser changes all threads, as the filesystem's view of a process is its threads'.
func becomeUser(id int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setresgid(id, id, id); err != nil {
		return err
	}
	return syscall.Setresuid(id, id, id)
}
