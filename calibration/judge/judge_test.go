package judge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"octet/calibration"
)

var two = calibration.Case{Intent: "codegen", Prompt: []byte("p"), Primary: []byte("GOOD"), Shadow: []byte("poor")}

// script returns a judge that is a shell script.
func script(t *testing.T, text string, timeout time.Duration) *Judge {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("SKIP-SH: there is no sh")
	}
	j, err := Command([]string{"/bin/sh", "-c", text}, timeout)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// MEGA-14: a command is shown both answers, blind, and its word counts where it holds when they are swapped.
func TestACommandJudges(t *testing.T) {
	for name, row := range map[string]struct {
		script string
		class  calibration.Class
	}{
		"prefers by what it reads": {
			`q=$(cat); case "$q" in *'"a":"GOOD"'*) echo '{"better":"a"}';; *) echo '{"better":"b"}';; esac`,
			calibration.PrimaryBetter},
		"prefers the other": {
			`q=$(cat); case "$q" in *'"a":"GOOD"'*) echo '{"better":"b"}';; *) echo '{"better":"a"}';; esac`,
			calibration.ShadowBetter},
		"both are the same": {`cat >/dev/null; echo '{"better":"same"}'`, calibration.Agree},
		"cannot say":        {`echo '{"better":"unclear","why":"taste"}'`, calibration.Differ},
	} {
		if got, err := script(t, row.script, 10*time.Second).Judge(t.Context(), two); err != nil || got != row.class {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// A judge that lies has no say, and the way it lied is told.
func TestAJudgeThatLiesHasNoSay(t *testing.T) {
	for name, text := range map[string]string{
		"contradicts itself": `echo '{"better":"a"}'`,
		"no verdict":         `echo '{"better":"me"}'`,
		"no JSON":            `echo yes`,
		"nothing":            `exit 0`,
		"no end of it":       `yes`,
	} {
		_, err := script(t, text, 10*time.Second).Judge(t.Context(), two)
		if !errors.Is(err, calibration.ErrJudgeLied) || calibration.JudgeFault(err) != "lied" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := script(t, `echo '{"better":"same"}'; exit 3`, 10*time.Second).Judge(t.Context(), two); err == nil ||
		calibration.JudgeFault(err) != "failed" {
		t.Errorf("a judge that fails: %v", err)
	}
	gone, err := Command([]string{"/nowhere/judge"}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Judge(t.Context(), two); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a judge that is not there: %v", err)
	}
}

// A judge that hangs is ended with all its children.
func TestAJudgeThatHangsIsEnded(t *testing.T) {
	alive := filepath.Join(t.TempDir(), "pid")
	_, err := script(t, "sleep 60 & echo $! > "+alive+"; wait", 200*time.Millisecond).Judge(t.Context(), two)
	if !errors.Is(err, calibration.ErrJudgeSlow) || calibration.JudgeFault(err) != "timeout" {
		t.Error(err)
	}
	pid, err := os.ReadFile(alive)
	if err != nil {
		t.Fatal(err)
	}
	status := filepath.Join("/proc", strings.TrimSpace(string(pid)), "status")
	// real time: a real process ends
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(status); err != nil || strings.Contains(string(text), "Z (zombie)") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("its child lives on")
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(io.ErrUnexpectedEOF)
	if _, err := script(t, "sleep 60", time.Minute).Judge(ctx, two); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("nobody waits any more: %v", err)
	}
}

func TestAServiceJudges(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q question
		if err := json.UnmarshalRead(r.Body, &q); err != nil || q.Intent != "codegen" || q.Prompt != "p" {
			t.Errorf("%v: %+v", err, q)
		}
		switch r.URL.Path {
		case "/good":
			fmt.Fprintf(w, `{"better":"%s"}`, map[bool]string{true: "a", false: "b"}[q.A == "GOOD"])
		case "/long":
			fmt.Fprint(w, strings.Repeat(" ", maxVerdict+1))
		case "/away":
			http.Redirect(w, r, "/good", http.StatusFound)
		case "/hang":
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}
	}))
	defer s.Close()
	for path, want := range map[string]string{"/good": "", "/long": "lied", "/away": "failed", "/hang": "timeout"} {
		j, err := Service(s.URL+path, 300*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		class, err := j.Judge(t.Context(), two)
		if err != nil && calibration.JudgeFault(err) != want || err == nil &&
			(want != "" || class != calibration.PrimaryBetter) {
			t.Errorf("%s: %s, %v", path, class, err)
		}
	}
}

func TestAJudgeWithoutAQuestionIsNone(t *testing.T) {
	if _, err := Command(nil, time.Second); err == nil {
		t.Error("a command of no words")
	}
	if _, err := Service("", time.Second); err == nil {
		t.Error("a service without a URL")
	}
}
