package verify

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// host is what a command must not see: a file, a directory and a socket of the gateway's, all that it could be told
// where to find.
type host struct{ dir, file, socket string }

func newHost(t *testing.T) host {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "octet-verify-test-*") // what TMPDIR says is not the same everywhere
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h := host{dir, filepath.Join(dir, "octet.yaml"), filepath.Join(dir, "socket")}
	if err := os.WriteFile(h.file, []byte("#define SECRET 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return h
}

// compiler is the default command.
func compiler(t *testing.T) *Verifier {
	t.Helper()
	v, err := New(Config{Command: []string{"g++", "-std=c++23", "-fsyntax-only", "{}"}, Languages: []string{"cpp"}})
	if errors.Is(err, ErrCommand) || errors.Is(err, ErrIsolation) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// C5: by pass or fail a client was told what stands in any file. What code asks of a path is answered alike whether the
// path is there or not.
func TestTheCompilerSeesNoFileOfTheGateway(t *testing.T) {
	v, h := compiler(t), newHost(t)
	if pass, err := v.Judge(t.Context(),
		"```cpp\n#include <vector>\n#include <string>\nstd::vector<std::string> v;\n```"); err != nil || !pass {
		t.Fatalf("a program that compiles: %v, %v", pass, err)
	}
	there := []string{h.file, "/etc/passwd", "/etc/shadow", "/etc/hostname", "/proc/self/environ", "/proc/1/cmdline",
		"/proc/version", "/proc/self/root" + h.file, "/proc/1/root" + h.file, "/sys/kernel/notes", "/root", "/home",
		"/var", h.dir + "/../../../etc/passwd"}
	absent := "/no/such/file"
	for what, code := range map[string]string{
		"#include":             "#include \"%s\"\n",
		"#include, in angles":  "#include <%s>\n",
		"__has_include":        "#if __has_include(\"%s\")\n#error there\n#endif\n",
		"#embed":               "const unsigned char x[] = {\n#embed \"%s\"\n};\n",
		"__has_embed":          "#ifdef __has_embed\n#if __has_embed(\"%s\")\n#error there\n#endif\n#endif\n",
		"the assembler's file": "asm(\".incbin \\\"%s\\\"\");\n",
		"a line's file":        "#line 1 \"%s\"\nint x;\n",
	} {
		judge := func(path string) bool {
			pass, err := v.Judge(t.Context(), "```cpp\n"+strings.ReplaceAll(code, "%s", path)+"```\n")
			if err != nil {
				t.Fatalf("%s %s: %v", what, path, err)
			}
			return pass
		}
		want := judge(absent)
		for _, path := range there {
			if judge(path) != want {
				t.Errorf("%s tells that %s is there", what, path)
			}
		}
	}
}

// A command of the operator's runs in the same cage, and so does what it builds and runs. Each script exits with 0
// where it got through.
func TestACommandCanReachNothing(t *testing.T) {
	h := newHost(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	control := verifier(t, "test -f answer.cpp && echo x > scratch && cat scratch && ls /usr/bin > /dev/null", nil)
	if !judge(t, control) {
		t.Fatal("a command that stays where it is fails")
	}
	for name, script := range map[string]string{
		"reads the configuration":       "cat " + h.file,
		"writes the configuration":      "echo x > " + h.file,
		"lists the gateway's directory": "ls " + h.dir,
		"looks at the passwords":        "cat /etc/passwd",
		"looks at processes":            "test -e /proc/self || test -e /proc/1",
		"looks at the kernel":           "test -e /sys/kernel",
		"reads homes":                   "ls /root || ls /home",
		"reads temporary files":         "test $(ls -A /tmp | wc -l) -gt 1",
		"writes to the toolchain":       "echo x > /usr/bin/octet-escape",
		"makes it writable":             "mount -o remount,rw /usr/bin",
		"mounts":                        "mount -t tmpfs none /work",
		"mounts processes":              "mkdir p && mount -t proc none p",
		"unmounts":                      "umount /usr/bin",
		"begins a namespace":            "unshare -U true",
		"begins a namespace of mounts":  "unshare -m true",
		"changes its root":              "mkdir r && chroot r /bin/true",
		"makes a device":                "mknod disk b 8 0",
		"is root by a program":          "command -v su && su -c true",
		"is the host's root": "test $(id -u) = 0 && test $(stat -c %u /usr/bin) = $(id -u) && touch " +
			"/usr/bin/x",
		"connects": `bash -c "exec 3<>/dev/tcp/127.0.0.1/` + port + `"`,
		"connects to a socket's path": `python3 -c "import socket; socket.socket(socket.AF_UNIX).connect('` +
			h.socket + `')"`,
		"connects to an abstract socket": `python3 -c "import socket; socket.socket(socket.AF_UNIX)"`,
		"signals the gateway":            "kill -0 " + strconv.Itoa(os.Getpid()),
		"fills its file system":          "for i in $(seq 100); do head -c 1000000 /dev/zero > f$i || exit 1; done",
		"writes a large file":            "head -c 3000000 /dev/zero > big",
		"makes many files":               "for i in $(seq 5000); do : > n$i || exit 1; done",
		"starts many processes":          "for i in $(seq 200); do sleep 1 & done; test $(jobs -p | wc -l) -ge 200",
		"reads the host's name":          "test $(uname -n) != cage",
		"reads its input":                "read x && test -n \"$x\"",
		"reads the environment":          "test -n \"$OCTET_ADMIN_TOKEN\"",
		"holds files of the gateway": "for fd in 3 4 5 6 7 8 9; do eval \"true <&$fd\" 2>/dev/null && exit 0; " +
			"done; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OCTET_ADMIN_TOKEN", "a token of twenty")
			v := verifier(t, script, func(c *Config) { c.Timeout = 20 * time.Second })
			if pass, err := v.Judge(t.Context(), answer); pass {
				t.Errorf("it got through (%v)", err)
			}
		})
	}
	if text, err := os.ReadFile(h.file); err != nil || string(text) != "#define SECRET 1\n" {
		t.Errorf("the configuration is %q, %v", text, err)
	}
}

// The command is another user than the gateway where that may be, and has no capability in any case.
func TestACommandHasNoPrivileges(t *testing.T) {
	v := verifier(t, `test "$(id -u)" = 1 && test "$(id -G)" = 1`, nil)
	if os.Getuid() == 0 && !judge(t, v) {
		t.Error("it is not a user of its own")
	}
	if judge(t, verifier(t, "chown 0 answer.cpp || test -w /usr/bin", func(c *Config) {})) && os.Getuid() == 0 {
		t.Error("it has capabilities")
	}
}

// Where a cage cannot be closed nothing is judged: that is no verdict.
func TestWithoutACageThereIsNoVerdict(t *testing.T) {
	v := verifier(t, "exit 0", nil)
	c := v.cage()
	c.Scratch = 4 << 10
	if pass, err := c.run(t.Context(), strings.Repeat("int x;\n", 10_000)); pass || !errors.Is(err, ErrIsolation) {
		t.Errorf("%v, %v", pass, err)
	}
	c = v.cage()
	c.Paths = nil
	if pass, err := c.run(t.Context(), "int x;"); pass || !errors.Is(err, ErrIsolation) {
		t.Errorf("without anything to see: %v, %v", pass, err)
	}
	c = v.cage()
	c.Command = []string{"/opt/compiler/that/is/not/seen"}
	if pass, err := c.run(t.Context(), "int x;"); pass || !errors.Is(err, ErrCommand) {
		t.Errorf("a command that is not seen: %v, %v", pass, err)
	}
}
