package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"octet/internal/await"
)

const servedYAML = `
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
limits: {drain: 20s, stop: 10s}
specialists:
  - name: debug
    tokenizer: builtin
    replicas: [{url: "%s"}]
`

// A service manager hears of the start, of signs of life, of a reload and of the end, which may take as long as
// limits.drain and limits.stop say. Health is one line and an exit code all the while.
func TestAServiceManagerHearsHowTheGatewayFares(t *testing.T) {
	engine := start(t, "engine", "--listen", "127.0.0.1:0", "--name", "debug-0", "--model", "debug")
	url := engine.await(`(http://127\.0\.0\.1:\d+)`)[1]
	path := filepath.Join(t.TempDir(), "octet.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, servedYAML, url), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "300000")
	gateway := start(t, "serve", "--config", path)
	heard := func(pattern string) {
		t.Helper()
		b := make([]byte, 4096)
		_ = manager.SetReadDeadline(time.Now().Add(30 * time.Second))
		for all := ""; ; {
			n, err := manager.Read(b)
			if err != nil {
				t.Fatalf("%q was not heard, but %.2000q", pattern, all)
			}
			if regexp.MustCompile(pattern).Match(b[:n]) {
				return
			}
			all += string(b[:n]) + "\n"
		}
	}
	heard("^READY=1$")
	heard("^WATCHDOG=1$")
	data := gateway.await(`data=(\S+)`)[1]
	await.True(t, "the gateway is healthy", func() bool {
		said, err := health(data)
		return err == nil && said == "ready\n"
	})
	if said, err := health(data, "--live"); err != nil || said != "ok\n" {
		t.Errorf("%v: %q", err, said)
	}
	_ = gateway.Signal(syscall.SIGHUP)
	heard(`^RELOADING=1\nMONOTONIC_USEC=\d+$`)
	heard("^READY=1$")
	engine.Kill()
	await.True(t, "the gateway is not healthy without its engine", func() bool {
		said, err := health(data)
		return err != nil && strings.Contains(said, "no_healthy_replica") && strings.Count(said, "\n") == 1
	})
	_ = gateway.Signal(syscall.SIGTERM)
	heard(`^STOPPING=1\nEXTEND_TIMEOUT_USEC=35000000$`)
	if code := gateway.code(); code != 0 {
		t.Errorf("exit %d: %s", code, gateway.output())
	}
	if said, err := health(data); err == nil || strings.Count(said, "\n") != 1 {
		t.Errorf("%v: %q", err, said)
	}
}

// health returns what `octet health` prints, and its failure.
func health(data string, flags ...string) (string, error) {
	said, err := exec.Command(binary, append([]string{"health", "--data", data}, flags...)...).CombinedOutput()
	return string(said), err
}

// Under the unit's environment a gateway that its watchdog aborts, as one that panics, does not end with the exit code
// upon which the unit is not started again; a fault of the configuration does.
func TestAnAbortedGatewayIsStartedAgainByItsUnit(t *testing.T) {
	unit, err := os.ReadFile(filepath.Join("..", "..", "deploy", "octet.service"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^Environment=(\w+)=(.*)$`).FindAllStringSubmatch(string(unit), -1) {
		t.Setenv(m[1], m[2])
	}
	final := regexp.MustCompile(`(?m)^RestartPreventExitStatus=(\d+)$`).FindStringSubmatch(string(unit))[1]
	path := filepath.Join(t.TempDir(), "octet.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, servedYAML, "http://127.0.0.1:1"), 0o600); err != nil {
		t.Fatal(err)
	}
	gateway := start(t, "serve", "--config", path)
	gateway.await(`data=(\S+)`)
	if code := fmt.Sprint(gateway.stop(syscall.SIGABRT)); code == final {
		t.Errorf("aborted, it exits with %s: the unit would stay down", code)
	}
	if !strings.Contains(gateway.output(), "goroutine 1 ") {
		t.Error("the log does not say where it stood")
	}
	if err := os.WriteFile(path, []byte("specialists: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := fmt.Sprint(start(t, "serve", "--config", path).code()); code != final {
		t.Errorf("with a faulty configuration it exits with %s, not %s", code, final)
	}
}
