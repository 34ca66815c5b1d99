package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octet/app"
	"octet/calibration"
	"octet/classifier/model"
	"octet/internal/race"
)

// octet runs the command line and returns what it printed.
func octet(args ...string) (string, error) {
	root := Root()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.Execute()
	return out.String(), err
}

// wardStream writes the records of n duels about texts of a hospital, which stl wins, and of a shop, which systems
// wins.
func wardStream(t *testing.T, n int, withText bool) string {
	t.Helper()
	dice := rand.New(rand.NewPCG(1, 1))
	var out bytes.Buffer
	for i := range n {
		right, wrong := "systems", "stl"
		words := strings.Fields("order basket price customer invoice shipping discount ledger")
		if i%2 == 0 {
			right, wrong = wrong, right
			words = strings.Fields("patient doctor ward nurse bed chart appointment record")
		}
		text := "zyzzyva"
		for range 12 {
			text += " " + words[dice.IntN(8)]
		}
		if !withText {
			text = ""
		}
		e := calibration.Example{Receipt: fmt.Sprint(i), Intent: "unspecified",
			Primary: calibration.Lane{Specialist: wrong}, Shadow: calibration.Lane{Specialist: right},
			Prompt: calibration.Text{Text: text}, Comparison: calibration.Comparison{Class: calibration.ShadowBetter}}
		line, err := json.Marshal(calibration.Record{V: calibration.Version, Example: &e})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	path := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheModelInUseLearnsFromCalibrationRecords(t *testing.T) {
	race.Skip(t)
	dir, stream := t.TempDir(), wardStream(t, 200, true)
	out := filepath.Join(dir, "next.octet")
	text, err := octet("train", "--from-calibration", stream, "--out", out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"200 records, 0 lines skipped: 200 labelled texts", "held out", "before", "after",
		"right now, 0 wrong now", "other texts", "features adjusted"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "zyzzyva") || strings.Contains(text, "patient") {
		t.Errorf("a text is printed:\n%s", text)
	}
	m, err := model.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, len(m.Labels()))
	m.Probabilities([]byte("zyzzyva the nurse brought the chart to the patient in bed"), p)
	for i, l := range m.Labels() {
		if l == "STL" && p[i] < 0.5 {
			t.Errorf("STL has %.2f", p[i])
		}
	}
	again := filepath.Join(dir, "again.octet")
	figures, err := octet("train", "--from-calibration", stream, "--out", again, "--json", "-")
	if err != nil {
		t.Fatal(err)
	}
	var l learnt
	if err := json.Unmarshal([]byte(figures), &l); err != nil || l.Counts.Lessons != 200 || !l.Written ||
		l.HeldOut.After.Top1 < 0.95 || l.HeldOut.Before.Top1 > 0.8 || l.HeldOut.Samples != l.Counts.Held ||
		l.Classes["STL"].Learnt+l.Classes["STL"].Held != 100 {
		t.Errorf("%s\n%v", figures, err)
	}
	a, _ := os.ReadFile(out)
	b, _ := os.ReadFile(again)
	if !bytes.Equal(a, b) {
		t.Error("the same records and seed give other bytes")
	}
}

// The configuration says which stream there is, which model is in use, and which labels its specialists have.
func TestTheConfigurationSaysWhatIsLearntFrom(t *testing.T) {
	race.Skip(t)
	dir, stream := t.TempDir(), wardStream(t, 200, true)
	file := filepath.Join(dir, "octet.yaml")
	yaml := fmt.Sprintf(`specialists:
  - {name: stl, replicas: [{url: "http://127.0.0.1:1"}]}
  - {name: systems, replicas: [{url: "http://127.0.0.1:2"}]}
router: {classifier: {labels: {Algo: stl, STL: systems, Systems: systems}}}
shadow: {file: %q}
`, stream)
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	figures, err := octet("train", "--from-calibration", "config", "--config", file, "--json", "-", "--out",
		filepath.Join(dir, "next.octet"))
	var l learnt
	if err != nil || json.Unmarshal([]byte(figures), &l) != nil || l.Counts.Ambiguous != 100 ||
		l.Counts.Lessons != 100 ||
		l.Classes["Algo"] == nil || len(l.Classes) != 1 {
		t.Errorf("%s\n%v", figures, err) // systems has two labels, and stl has Algo
	}
}

func TestCalibrationRecordsAreTrainedOnBesideOtherData(t *testing.T) {
	dir, stream := t.TempDir(), wardStream(t, 100, true)
	data, dev := filepath.Join(dir, "data.jsonl"), filepath.Join(dir, "dev.jsonl")
	for path, source := range map[string]string{data: "a", dev: "b"} {
		var lines bytes.Buffer
		for i := range 60 {
			label := []string{"STL", "Systems", "reject"}[i%3]
			fmt.Fprintf(&lines, `{"text":"%s %s number %d","label":%q,"source":"%s%d"}`+"\n", label, label, i, label,
				source,
				i%4)
		}
		if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := octet("train", "--data", data, "--dev", dev, "--examples", "none", "--from-calibration", stream,
		"--out",
		filepath.Join(dir, "next.octet"))
	if err != nil || !strings.Contains(text, "trained anew") || !strings.Contains(text, "dev ") {
		t.Errorf("%s\n%v", text, err)
	}
}

func TestWhatCannotBeLearntFromIsATypedFault(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	good, bare := wardStream(t, 100, true), wardStream(t, 100, false)
	own := filepath.Join(dir, "own.octet")
	if _, err := octet("train", "--from-calibration", good, "--out", own); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.octet")
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	was, _ := os.ReadFile(own)
	for name, row := range map[string]struct {
		args  []string
		says  string
		usage bool
	}{
		"no text": {[]string{"--from-calibration", bare}, "shadow.prompts: text", false},
		"few":     {[]string{"--from-calibration", wardStream(t, 6, true)}, "", false},
		"nothing": {[]string{"--from-calibration", "/dev/null"}, "label no text", false},
		"no such model": {[]string{"--from-calibration", good, "--model", filepath.Join(dir, "none")}, "artefact",
			false},
		"the model in use":   {[]string{"--from-calibration", good, "--model", own, "--out", own}, "in use", true},
		"a link to it":       {[]string{"--from-calibration", good, "--model", own, "--out", link}, "in use", true},
		"folds":              {[]string{"--from-calibration", good, "--folds", "4"}, "--data", true},
		"config without one": {[]string{"--from-calibration", "config"}, "--config", true},
		"no stream":          {[]string{"--from-calibration", "kafka://a"}, "no calibration stream", true},
		"a password":         {[]string{"--from-calibration", "redis://u:p@a:1"}, "HOST:PORT", true},
		"two of a kind": {[]string{"--from-calibration", "redis://a:1", "--from-calibration", "redis://b:1"},
			"second", true},
		"all held out": {[]string{"--from-calibration", good, "--hold-out", "1"}, "--hold-out", true},
		"neither":      {nil, "--from-calibration", true},
	} {
		args := append([]string{"train", "--out", filepath.Join(dir, "x.octet")}, row.args...)
		out, err := octet(args...)
		var usage usageError
		if err == nil || !strings.Contains(err.Error(), row.says) || errors.As(err, &usage) != row.usage ||
			!row.usage && !errors.Is(err, app.ErrConfig) || strings.Contains(out+err.Error(), "zyzzyva") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now, _ := os.ReadFile(own); !bytes.Equal(now, was) {
		t.Error("the model in use has changed")
	}
	if _, err := os.Stat(filepath.Join(dir, "x.octet")); err == nil {
		t.Error("an artefact of a failed training is there")
	}
}

func TestStreamsAreNamedAsURLs(t *testing.T) {
	f := lessonFlags{from: []string{"a.jsonl", "redis://h:6379/my:key", "nats://n:4222/my.subject", "-"}}
	f.stream, f.nats.Subject = "octet:shadow", "octet:shadow"
	files, from, err := f.sources()
	if err != nil || fmt.Sprint(files) != "[a.jsonl -]" || from.redis != "h:6379" || from.stream != "my:key" ||
		from.nats.URL != "nats://n:4222" || from.nats.Subject != "my.subject" || from.config != "" {
		t.Errorf("%v, %+v, %v", files, from, err)
	}
}
