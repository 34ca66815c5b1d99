//go:build amd64 || arm64

package verify

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are the system calls that no compiler makes: they change namespaces and mounts, look into other
// processes, load code into the kernel, or are ways to it that are attacked most.
var refusedCalls = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_PTRACE,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
	unix.SYS_IO_URING_REGISTER,
	unix.SYS_USERFAULTFD, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_QUOTACTL,
	unix.SYS_ACCT,
	unix.SYS_SYSLOG, unix.SYS_PERSONALITY, unix.SYS_FANOTIFY_INIT, unix.SYS_SOCKET, unix.SYS_SETHOSTNAME,
}

// Where a filter finds what it looks at, and what it says.
const (
	callAt     = 0 // offsets in seccomp_data
	archAt     = 4
	firstArgAt = 16
	allow      = unix.SECCOMP_RET_ALLOW
	refuse     = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent     = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	kill       = unix.SECCOMP_RET_KILL_PROCESS
	x32        = 0x40000000 // amd64's second way to call
)

// namespaces are the flags of clone that would begin one.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET |
	unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS |
	unix.CLONE_NEWCGROUP

func arch() uint32 {
	if runtime.GOARCH == "arm64" {
		return unix.AUDIT_ARCH_AARCH64
	}
	return unix.AUDIT_ARCH_X86_64
}

// filterCalls refuses refusedCalls, and clone where it would begin a namespace; clone3, whose flags cannot be looked
// at, is said to be absent, so that libraries make do with clone. It holds for whatever the thread becomes.
func filterCalls() error {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	say := func(what uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what} }
	unless := func(op uint16, value uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jf: skip, K: value}
	}
	program := []unix.SockFilter{
		load(archAt), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: arch()}, say(kill),
		load(callAt), unless(unix.BPF_JGE, x32, 1), say(refuse),
	}
	for _, call := range refusedCalls {
		program = append(program, unless(unix.BPF_JEQ, call, 1), say(refuse))
	}
	program = append(program,
		unless(unix.BPF_JEQ, unix.SYS_CLONE3, 1), say(absent),
		unless(unix.BPF_JEQ, unix.SYS_CLONE, 3), load(firstArgAt), unless(unix.BPF_JSET, namespaces, 1), say(refuse),
		say(allow),
	)
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&p)), 0, 0)
}
