package app_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"octet/calibration"
	"octet/cmd"
	"octet/internal/natsserver"
	"octet/internal/redistest"
)

func calibrate(t *testing.T, stdin io.Reader, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := cmd.Root()
	c.SetArgs(append([]string{"calibrate"}, args...))
	c.SetIn(stdin)
	c.SetOut(&out)
	c.SetErr(io.Discard)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// MEGA-15: what shadows left in the file, and in Redis, says the same, as text, as JSON and as a plot.
func TestCalibrateReadsWhatShadowsLeft(t *testing.T) {
	srv := redistest.Start(t)
	w, file := newShadowWorld(t, proseEngines(), "events.redis.addr="+srv.Addr, "shadow.stream=octet:shadow")
	for i := range 6 {
		w.Post("/v1/chat/completions", asking("unsure 0.70", i%2 == 0), "X-Intent", "review")
		w.example(file, i+1)
	}
	w.Stop()
	<-w.Ended
	w.Ended <- nil
	if err := w.App.Close(); err != nil {
		t.Log(err)
	}
	dir := t.TempDir()
	fromFile, err := calibrate(t, nil, file, "--min-samples=5", "--json", filepath.Join(dir, "r.json"), "--svg",
		filepath.Join(dir, "r.svg"))
	if err != nil {
		t.Fatal(err)
	}
	fromRedis, err := calibrate(t, nil, "--redis", srv.Addr, "--min-samples=5")
	if err != nil || fromRedis != fromFile {
		t.Errorf("%v: Redis\n%s\nfile\n%s", err, fromRedis, fromFile)
	}
	for _, want := range []string{"review: 6 requests decided by the classifier, 6 comparisons, threshold 0.85",
		"recommended: 0.85", "systems as the shadow of debug"} {
		if !strings.Contains(fromFile, want) {
			t.Errorf("no %q in\n%s", want, fromFile)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r calibration.Report
	if err := json.Unmarshal(text, &r); err != nil || r.Intents[0].Intent != "review" ||
		!r.Intents[0].Recommended.Censored {
		t.Errorf("%v: %s", err, text)
	}
	if plot, err := os.ReadFile(filepath.Join(dir, "r.svg")); err != nil || !bytes.HasPrefix(plot, []byte("<svg")) {
		t.Errorf("%v: %.40s", err, plot)
	}
	zipped := filepath.Join(dir, "c.jsonl.gz")
	lines, _ := os.ReadFile(file)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(lines)
	_ = z.Close()
	if err := os.WriteFile(zipped, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	packedOnly := filepath.Join(dir, "c.packed") // its name does not say so
	if err := os.WriteFile(packedOnly, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := calibrate(t, &packed, "-", "--min-samples=5"); err != nil || got != fromFile {
		t.Errorf("packed, from standard input: %v\n%s", err, got)
	}
	for _, args := range [][]string{{zipped}, {packedOnly}, {"-"},
		{"--config", w.fileConfig(dir, file)}} {
		if got, err := calibrate(t, bytes.NewReader(lines), append(args, "--min-samples=5")...); err != nil ||
			got != fromFile {
			t.Errorf("%v: %v\n%s", args, err, got)
		}
	}
}

// fileConfig writes a configuration whose calibration file is file.
func (w *world) fileConfig(dir, file string) string {
	path := filepath.Join(dir, "octet.yaml")
	text := fmt.Sprintf("shadow: {file: %q}\nspecialists: [{name: a, replicas: [{url: %q}]}]\n", file,
		w.Engines["debug-0"].URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.T.Fatal(err)
	}
	return path
}

func TestCalibrateSaysWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{}, {filepath.Join(dir, "none")}, {"--redis", "127.0.0.1:1"},
		{"--nats", "nats://127.0.0.1:1"}, {"-", "--max-records=0"},
		{"--nats", "nats://127.0.0.1:1", "--creds", filepath.Join(dir, "none")},
		{"--config", filepath.Join(dir, "none")}, {"-", "--disagreement=2"}} {
		if out, err := calibrate(t, strings.NewReader(""), args...); err == nil || out != "" {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
	if out, err := calibrate(t, strings.NewReader("garbage\n"), "-"); err != nil ||
		!strings.Contains(out, "0 records, 1 lines skipped") {
		t.Errorf("%v: %s", err, out)
	}
}

// keptSubject starts a NATS server whose JetStream keeps the subject of calibration records.
func keptSubject(t *testing.T) (url string) {
	t.Helper()
	srv := natsserver.Run(t)
	conn, err := nats.Connect(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(),
		jetstream.StreamConfig{Name: "SHADOWS", Subjects: []string{"octet:shadow"}}); err != nil {
		t.Fatal(err)
	}
	return srv.ClientURL()
}

// MEGA-15: what shadows left on a NATS subject says the same as their file, named by flags or by a configuration.
func TestCalibrateReadsANATSSubject(t *testing.T) {
	url := keptSubject(t)
	w, file := newShadowWorld(t, proseEngines(), "events.nats.url="+url, "shadow.stream=octet:shadow")
	for i := range 6 {
		w.Post("/v1/chat/completions", asking("unsure 0.70", i%2 == 0), "X-Intent", "review")
		w.example(file, i+1)
	}
	w.Stop()
	<-w.Ended
	w.Ended <- nil
	if err := w.App.Close(); err != nil {
		t.Log(err)
	}
	want, err := calibrate(t, nil, file, "--min-samples=5")
	if err != nil || !strings.Contains(want, "review: 6 requests") {
		t.Fatalf("%v: %s", err, want)
	}
	configured := filepath.Join(t.TempDir(), "octet.yaml")
	text := fmt.Sprintf("events: {nats: {url: %q}}\nspecialists: [{name: a, replicas: [{url: %q}]}]\n", url,
		w.Engines["debug-0"].URL)
	if err := os.WriteFile(configured, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--nats", url}, {"--nats", url, "--subject", "octet:shadow"},
		{"--config", configured}} {
		if got, err := calibrate(t, nil, append(args, "--min-samples=5")...); err != nil || got != want {
			t.Errorf("%v: %v\n%s\nthe file\n%s", args, err, got, want)
		}
	}
	if got, err := calibrate(t, nil, "--nats", url, "--max-records=3"); err != nil ||
		!strings.Contains(got, "3 records") {
		t.Errorf("%v: %s", err, got)
	}
	if got, err := calibrate(t, nil, "--nats", url, "--max-time=1ns"); err == nil ||
		!strings.Contains(err.Error(), "--max-time") || got != "" {
		t.Errorf("%v: %s", err, got)
	}
}
