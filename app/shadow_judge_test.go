package app_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"octet/calibration"
	"octet/engine/emulator"
)

// judging is a world whose answers a shell script judges, asked once.
//
//nolint:lll // raw text that cannot be broken
func judging(t *testing.T, script, timeout string) (*world, calibration.Example) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("SKIP-SH: there is no sh")
	}
	path := filepath.Join(t.TempDir(), "judge")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w, file := newShadowWorld(t, proseEngines(), "shadow.judge.command[0]="+path, "shadow.judge.timeout="+timeout)
	if resp, answer := w.Post("/v1/chat/completions", asking("unsure 0.60", false), "X-Intent", "review"); resp.StatusCode != 200 {
		t.Fatalf("status %d: %s", resp.StatusCode, answer)
	}
	return w, w.example(file, 1)
}

// MEGA-14: a judge's word is the label.
func TestAJudgeLabelsExamples(t *testing.T) {
	w, e := judging(t, `case "$(cat)" in *epoll*'"b":'*) echo '{"better":"a"}';; *) echo '{"better":"b"}';; esac`,
		"1m")
	if e.Method != calibration.ByJudge || e.Class != calibration.ShadowBetter || e.Label != "systems" || e.Judge != "" {
		t.Errorf("%+v", e)
	}
	if !w.counted(`octet_shadow_judge_total{outcome="ok"} 1`) {
		t.Error("not counted")
	}
}

// A judge that hangs or lies has no say: the rules' class stands, and what was wrong is counted.
func TestAJudgeThatHangsOrLiesIsCounted(t *testing.T) {
	for fault, script := range map[string]string{"timeout": "sleep 30", "lied": `echo '{"better":"a"}'`,
		"failed": "exit 1"} {
		w, e := judging(t, script, map[bool]string{true: "1s", false: "1m"}[fault == "timeout"])
		if e.Judge != fault || e.Method == calibration.ByJudge || e.Label != "" {
			t.Errorf("%s: %+v", fault, e)
		}
		if !w.counted(`octet_shadow_judge_total{outcome="` + fault + `"} 1`) {
			t.Errorf("%s is not counted", fault)
		}
	}
}

// Where the client leaves, or its answer fails, there is nothing to compare with: the shadow ends at once and leaves no
// example.
//
//nolint:lll // raw text that cannot be broken
func TestAShadowEndsWithARequestThatHasNoAnswer(t *testing.T) {
	w, file := newShadowWorld(t, proseEngines(), "shadow.timeout=30s", "limits.ttft_timeout=300ms",
		"limits.answer_timeout=300ms")
	w.Fault("systems-0", `{"kind":"hang"}`)
	w.Fault("debug-0", `{"kind":"hang","times":1}`)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		w.hangUp(ctx, asking("unsure 0.30 or so, said at such length that the other one leads", false))
	}()
	leave()
	<-left
	eventually(t, "nothing of who left", func() bool { return w.shadows() == 0 })
	if resp, _ := w.Post("/v1/chat/completions", asking("unsure 0.60", true), "X-Intent", "review"); resp.StatusCode == 200 {
		w.Fault("debug-0", `{"kind":"hang"}`)
		resp, answer := w.Post("/v1/chat/completions", asking("unsure 0.60", true), "X-Intent", "review")
		if resp.StatusCode == 200 {
			t.Errorf("status %d: %s", resp.StatusCode, answer)
		}
	}
	eventually(t, "the shadow is gone", func() bool { return w.shadows() == 0 })
	if examples, _, _ := recordsOf(t, file); len(examples) != 0 {
		t.Errorf("%+v", examples)
	}
}

// A stream that is longer than what is compared is passed on whole, and not compared.
func TestAnAnswerTooLongToCompareIsNotHeld(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.jsonl")
	engines := proseEngines()
	for i := range engines {
		engines[i].Text = emulator.TextIndex // which goes on for as long as it may
	}
	w := newWorld(t, shadowWorld, engines, "shadow.file="+file, "shadow.stream=", "shadow.answer_bytes=1KiB")
	w.unsure()
	for _, stream := range []bool{true, false} {
		body := strings.Replace(asking("unsure 0.60", stream), `"max_tokens":40`, `"max_tokens":300`, 1)
		if resp, answer := w.Post("/v1/chat/completions", body, "X-Intent", "review"); resp.StatusCode != 200 ||
			len(answer) < 2000 {
			t.Errorf("status %d: %d bytes: %.300s", resp.StatusCode, len(answer), answer)
		}
	}
	eventually(t, "both are too long",
		func() bool { return w.counted(`octet_shadows_total{outcome="too_long",specialist="systems"} 2`) })
}
