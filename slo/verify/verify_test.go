package verify

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTheLongestBlockOfTheLanguageIsTheCode(t *testing.T) {
	languages := []string{"cpp", "c++"}
	for name, c := range map[string]struct{ answer, want string }{
		"none":              {"Use std::move.", ""},
		"one":               {"So:\n```cpp\nint x;\n```\nDone.", "int x;\n"},
		"the longer":        {"```cpp\nint x;\n```\n```c++ title\nint longer;\n```", "int longer;\n"},
		"another's":         {"```sh\nrm -rf everything at once\n```\n```CPP\nint x;\n```", "int x;\n"},
		"only another's":    {"```sh\nls\n```", ""},
		"bare":              {"```\nint x;\n```", "int x;\n"},
		"never closed":      {"```cpp\nint x;", "int x;"},
		"more backticks":    {"````cpp\n```\nint x;\n````", "```\nint x;\n"},
		"inside a sentence": {"write ```cpp in a line", ""},
		"windows":           {"```cpp\r\nint x;\r\n```\r\n", "int x;\r\n"},
	} {
		if got := Code(c.answer, languages); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func FuzzCode(f *testing.F) {
	f.Add("```cpp\nint x;\n```")
	f.Add("````\n```\n")
	f.Fuzz(func(t *testing.T, answer string) {
		if code := Code(answer, []string{"cpp"}); !strings.Contains(answer, code) {
			t.Errorf("%q is no part of %q", code, answer)
		}
	})
}

// verifier runs a shell script on the file, as $1.
func verifier(t *testing.T, script string, set func(*Config)) *Verifier {
	t.Helper()
	c := Config{Command: []string{"/bin/sh", "-c", script, "sh", "{}"}, Languages: []string{"cpp"},
		Timeout: 5 * time.Second}
	if set != nil {
		set(&c)
	}
	v, err := New(c)
	if errors.Is(err, ErrIsolation) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const answer = "```cpp\nint x;\n```"

func judge(t *testing.T, v *Verifier) bool {
	t.Helper()
	pass, err := v.Judge(t.Context(), answer)
	if err != nil {
		t.Fatal(err)
	}
	return pass
}

func TestTheExitIsTheVerdict(t *testing.T) {
	if !judge(t, verifier(t, `grep -q "int x" "$1"`, nil)) || judge(t, verifier(t, `grep -q "int y" "$1"`, nil)) {
		t.Error("the command's exit is not the verdict")
	}
}

func TestACommandIsBounded(t *testing.T) {
	escaped := filepath.Join(t.TempDir(), "escaped")
	for name, script := range map[string]string{
		"time":     "sleep 30",
		"children": "(sleep 2; touch " + escaped + ") & exit 1",
		"output":   "dd if=/dev/zero of=big bs=1024 count=4096",
		"memory":   "x=$(head -c 200000000 /dev/zero | tr '\\0' a); exit 0",
	} {
		t.Run(name, func(t *testing.T) {
			v := verifier(t, script, func(c *Config) { c.Timeout, c.Memory = 500*time.Millisecond, 64<<20 })
			if judge(t, v) {
				t.Error("it passed")
			}
		})
	}
	time.Sleep(2500 * time.Millisecond) // real time: real processes run
	if _, err := os.Stat(escaped); err == nil {
		t.Error("a child outlived its command")
	}
}

func TestACommandHasNoNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	came := make(chan struct{}, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
			came <- struct{}{}
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	script := `exec bash -c "exec 3<>/dev/tcp/127.0.0.1/` + port + `"`
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("outside of its walls the command reaches nothing either: %v: %s", err, out)
	}
	<-came
	v := verifier(t, script, nil)
	if judge(t, v) {
		t.Error("it reached a server of the host")
	}
	select {
	case <-came:
		t.Error("somebody came")
	case <-time.After(50 * time.Millisecond):
	}
}

func TestWhatCannotBeRunSaysNothing(t *testing.T) {
	if _, err := New(Config{Command: []string{"/no/such/compiler"}}); !errors.Is(err, ErrCommand) {
		t.Errorf("a missing command: %v", err)
	}
	v := verifier(t, "exit 127", nil)
	if _, err := v.Judge(t.Context(), answer); !errors.Is(err, ErrCommand) {
		t.Errorf("not started: %v", err)
	}
	if _, err := v.Judge(t.Context(), "no code"); !errors.Is(err, ErrNoCode) {
		t.Errorf("no code: %v", err)
	}
}

func TestOffersNeverWait(t *testing.T) {
	v := verifier(t, "exit 0", func(c *Config) { c.Waiting = 2 })
	verdicts := make(chan bool, 3)
	for i, want := range []bool{true, true, false} {
		if v.Offer(answer, func(pass bool) { verdicts <- pass }) != want {
			t.Errorf("offer %d is not %v", i, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { v.Run(ctx); close(done) }()
	if !<-verdicts || !<-verdicts {
		t.Error("a good answer failed")
	}
	cancel()
	<-done
	if s := v.Stats(); s != (Stats{Judged: 2, Passed: 2, Dropped: 1}) {
		t.Errorf("%+v", s)
	}
}

func TestTheSampleIsTheShareThatWasAskedFor(t *testing.T) {
	for _, share := range []float64{0, 0.01, 0.3, 1} {
		v, n := &Verifier{cfg: Config{Sample: share}}, 0
		for range 10_000 {
			if v.Wants() {
				n++
			}
		}
		if d := n - int(share*10_000); d < -1 || d > 1 {
			t.Errorf("%v: %d of 10000", share, n)
		}
	}
}

// MEGA-54: the default command, on code that compiles and code that does not.
func TestTheCompilerJudgesCode(t *testing.T) {
	v, err := New(Config{Command: []string{"g++", "-std=c++23", "-fsyntax-only", "{}"}, Languages: []string{"cpp"}})
	if errors.Is(err, ErrCommand) || errors.Is(err, ErrIsolation) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]bool{"constexpr int f(auto x) { return x; }\n": true,
		"int f( { return 1; }\n": false} {
		if pass, err := v.Judge(t.Context(), "Here:\n```cpp\n"+code+"```\n"); err != nil || pass != want {
			t.Errorf("%q: %v %v", code, pass, err)
		}
	}
}
