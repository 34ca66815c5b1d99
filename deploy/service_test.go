package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostExposure is what systemd-analyze may find at most, in tenths: 1.2 is what the network and AF_UNIX come to.
const mostExposure = "13"

// unit returns the service's file, and a copy of it that starts a program which is here.
func unit(t *testing.T) (text, path string) {
	t.Helper()
	b, err := os.ReadFile("octet.service")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "octet.service")
	here := strings.ReplaceAll(string(b), "/usr/local/bin/octet", "/bin/true")
	if err := os.WriteFile(path, []byte(here), 0o600); err != nil {
		t.Fatal(err)
	}
	return string(b), path
}

// systemd takes the unit as it is meant, and finds little that the service could do to the host.
func TestSystemdTakesTheUnitAndFindsItConfined(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: the unit was not looked at (apt-get install systemd)")
	}
	_, path := unit(t)
	said, err := exec.CommandContext(t.Context(), tool, "verify", "--man=no", path).CombinedOutput()
	if err != nil || strings.Contains(string(said), "octet.service") {
		t.Errorf("verify: %v\n%s", err, said) // an unknown key is told of, and is no failure
	}
	said, err = exec.CommandContext(t.Context(), tool, "security", "--offline=true", "--no-pager",
		"--threshold="+mostExposure, path).CombinedOutput()
	if err != nil {
		t.Errorf("security: %v\n%s", err, said)
	}
}

// What the unit relies on is what the program does: it notifies, reloads by SIGHUP, drains by SIGTERM, exits with 2 for
// a configuration that a restart would not mend.
func TestTheUnitReliesOnWhatTheProgramDoes(t *testing.T) {
	text, _ := unit(t)
	for key, want := range map[string]string{"Type": "notify", "NotifyAccess": "main", "WatchdogSec": `\d+s`,
		"ExecReload": `/bin/kill -HUP \$MAINPID`, "RestartPreventExitStatus": "2", "DynamicUser": "yes",
		"StateDirectory": "octet", "TimeoutStopSec": `\d+s`,
		"ExecStart": `/usr/local/bin/octet serve --config /etc/octet/octet\.yaml`} {
		if !regexp.MustCompile(`(?m)^` + key + `=` + want + `$`).MatchString(text) {
			t.Errorf("%s is not %s", key, want)
		}
	}
	if strings.Contains(text, "KillSignal=") {
		t.Error("SIGTERM, the default, is what drains")
	}
}
