package cmd

import (
	"bytes"
	"errors"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	"octet/cmd/adminclient"
	"octet/internal/apptest"
)

const token = "a token of a test"

// command runs a command line, and returns what it prints.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := Root()
	root.SetArgs(signed(args))
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// The commands that talk to a gateway do what they say, in the order of a day: look, drain, undrain, set a knob for a
// time, unset it, and ask what was decided.
func TestCommandsOfARunningGateway(t *testing.T) {
	w := apptest.New(t, apptest.Small, apptest.SmallEngines(), "admin.token="+token)
	t.Setenv(adminclient.TokenVar, token)
	resp, _ := w.Post("/v1/chat/completions",
		`{"model":"debug","messages":[{"role":"user","content":"why"}],"max_tokens":3}`)
	id := resp.Header.Get("X-Receipt-Id")
	for _, step := range []struct {
		line string
		want string // pattern of what is printed
	}{
		{"drain debug-0", `^debug-0 drains; 0 in flight\n$`},
		{"drain debug-0 --off", `^debug-0 is not draining; 0 in flight\n$`},
		{"knob set shadow_threshold.codegen 0.5 --for 15m --why test --by me",
			`(?m)^shadow_threshold.codegen +0.5 +0.\d+ +0 to 1 +me +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +test$`},
		{"knob set priority_floor.codegen -10 --for 15m --why test", `(?m)^priority_floor.codegen +-10 +-100 `},
		{"knob set --for 0s --why test priority_floor.codegen -1e1",
			`(?m)^priority_floor.codegen +-10 +-100 .* unset +test$`},
		{"knob list", `(?m)^priority_floor.codegen +-10 `},
		{"knob unset priority_floor.codegen", `(?m)^priority_floor.codegen +-100 +-100 +-100 to 100 +config`},
		{"explain --receipt " + id,
			`(?s)^receipt +` + id + `.*specialist +debug.*\nattempt .*\n1 +debug-\d .*ok.*\nresult +status 200`},
	} {
		out, err := command(t, append(strings.Fields(step.line), "--admin", w.Admin)...)
		if err != nil || !regexp.MustCompile(step.want).MatchString(out) {
			t.Errorf("octet %s: %v\n%s", step.line, err, out)
		}
	}
}

// What a gateway refuses, and one that is not there, is one typed line and exit 1.
func TestCommandsTellWhyTheyFail(t *testing.T) {
	w := apptest.New(t, apptest.Small, apptest.SmallEngines(), "admin.token="+token)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nothing listens there now
	lines := []string{"drain none", "knob unset none", "knob set none 1 --for 1m --why test", "explain --receipt none"}
	for name, c := range map[string]struct {
		token, admin string
		want         error
	}{
		"an unknown name": {token, w.Admin, adminclient.ErrUnknown},
		"a wrong token":   {"wrong", w.Admin, adminclient.ErrToken},
		"no token":        {"", w.Admin, adminclient.ErrToken},
		"an admin down":   {token, l.Addr().String(), adminclient.ErrDown},
		"a data listener": {token, w.Data, adminclient.ErrAnswer},
	} {
		t.Setenv(adminclient.TokenVar, c.token)
		for _, line := range lines {
			out, err := command(t, append(strings.Fields(line), "--admin", c.admin)...)
			if !errors.Is(err, c.want) || strings.Contains(err.Error(), "\n") || out != "" {
				t.Errorf("%s: octet %s: %v, printed %q", name, line, err, out)
			}
			if code := report(err, false); code != exitFailed {
				t.Errorf("%s: octet %s: exit %d", name, line, code)
			}
		}
	}
}

// A command line that makes no sense asks nothing of a gateway.
func TestCommandLinesOfARunningGatewayAreChecked(t *testing.T) {
	for _, args := range [][]string{{"drain", ""}, {"check", ""}, {"explain", "--receipt", ""}, {"knob", "unset", ""},
		{"knob", "set", "", "1", "--for", "1m", "--why", "w"}} { // as of a variable that is not set
		var usage usageError
		if _, err := command(t, args...); !errors.As(err, &usage) {
			t.Errorf("octet %q: %v", args, err)
		}
	}
	for _, line := range []string{"drain", "drain a b", "knob fly", "knob set a", "knob set a x --for 1m --why w",
		"knob set a 1", "knob set a 1 --for 1m", "knob set a 1 --why w", "knob set a NaN --for 1m --why w",
		"knob set a 1 --for -1m --why w", "knob unset", "knob list a", "explain prompt --receipt r",
		"drain a --admin ftp://gw", "knob set a 1 --for soon --why w"} {
		_, err := command(t, strings.Fields(line)...)
		var usage usageError
		if !errors.As(err, &usage) {
			t.Errorf("octet %s: %v", line, err)
		}
	}
}

// A shell is told the names that the gateway knows; of one that does not answer it is told nothing, and no error.
func TestNamesAreCompletedByTheGateway(t *testing.T) {
	w := apptest.New(t, apptest.Small, apptest.SmallEngines(), "admin.token="+token)
	t.Setenv(adminclient.TokenVar, token)
	for line, want := range map[string][]string{
		"drain --admin " + w.Admin:         {"debug-0", "debug-1", "systems-0"},
		"knob set --admin " + w.Admin:      {"shadow_threshold.codegen", "priority_floor.codegen"},
		"knob unset --admin " + w.Admin:    {"shadow_threshold.codegen"},
		"drain debug-0 --admin " + w.Admin: nil,
		"drain --admin 127.0.0.1:1":        nil,
	} {
		out, err := command(t, append(append([]string{"__complete"}, strings.Fields(line)...), "")...)
		if err != nil || !strings.Contains(out, ":4\n") { // no file names in their place
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		var names []string
		for l := range strings.Lines(out) {
			name, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
			names = append(names, name)
		}
		for _, name := range want {
			if !slices.Contains(names, name) {
				t.Errorf("%s: %s is not among %q", line, name, names)
			}
		}
		if want == nil && !strings.HasPrefix(out, ":4\n") {
			t.Errorf("%s: %q", line, out)
		}
	}
}

func TestNegativeNumbersAreNoFlags(t *testing.T) {
	for line, want := range map[string]string{
		"knob set n -1 --for 1m":  "knob set n --for 1m -- -1",
		"knob set --for 1m n -.5": "knob set --for 1m n -- -.5",
		"knob set n --for -1m":    "knob set n --for -1m",
		"knob set n -- -1":        "knob set n -- -1",
		"knob set --for=1m -1":    "knob set --for=1m -- -1",
		"drain -1":                "drain -1",
		"knob set":                "knob set",
		"knob set n 1 --why -3":   "knob set n 1 --why -3",
	} {
		if got := strings.Join(signed(strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}
