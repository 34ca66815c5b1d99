package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// presets are the profiles that the tests' gateway knows.
var presets = []string{"default", "cache-aware", "round-robin-least-load"}

// small is the least file that is complete; rows of tests append to it.
const small = "specialists:\n  - {name: coder, replicas: [{url: http://h:1}]}\n"

func parsed(t *testing.T, text string, environ ...string) *Config {
	t.Helper()
	c, err := Parse("test.yaml", []byte(text), Options{Presets: presets, Environ: environ})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

// MEGA-04, MEGA-31: the reference is the eight-specialist ensemble with the block sizes of its table.
func TestTheReferenceIsTheEightSpecialistEnsemble(t *testing.T) {
	c := parsed(t, string(Example()))
	want := map[string]int{"template": 8, "stl": 8, "algo": 16, "memory": 16, "concurrency": 16, "systems": 16,
		"build": 16, "debug": 16}
	got := map[string]int{}
	for _, s := range c.Specialists {
		got[s.Name] = s.BlockSize
		if len(s.Replicas) != 2 || s.Replicas[1].Name != s.Name+"-1" || s.Replicas[1].Model != s.Name {
			t.Errorf("replicas of %s: %+v", s.Name, s.Replicas)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.Intents["debug"].Specialist != "debug" || c.Intents["build-fix"].Specialist != "build" || len(c.Intents) != 5 {
		t.Errorf("%+v", c.Intents)
	}
}

// The reference shows defaults: without a key that it shows, the value is the same, but for what its comments say.
func TestTheReferenceShowsDefaults(t *testing.T) {
	reference, plain := parsed(t, string(Example())), parsed(t, small)
	coder := plain.Specialists[0]
	first := reference.Specialists[0]
	first.Name, first.BlockSize, first.Fallback, first.Profile = "coder", 16, "", "default"
	first.Replicas = first.Replicas[:1]
	first.Replicas[0].URL, first.Replicas[0].Name, first.Replicas[0].Model = "http://h:1", "coder-0", "coder"
	first.Replicas[0].Blocks, first.Replicas[0].Labels = 0, nil
	if diff := cmp.Diff(coder, first, equateEmpty); diff != "" {
		t.Errorf("specialist: %s", diff)
	}
	reference.Specialists, plain.Specialists, reference.Profiles = nil, nil, nil
	reference.Router.Fallback, reference.Events.Redis = "coder", nil
	for _, name := range []string{"debug", "build-fix"} {
		intent := reference.Intents[name]
		intent.Specialist = "" // the ensemble of one has none of that name
		reference.Intents[name] = intent
	}
	if diff := cmp.Diff(plain, reference, equateEmpty); diff != "" {
		t.Errorf("the rest: %s", diff)
	}
}

var equateEmpty = cmp.FilterValues(func(a, b any) bool { return empty(a) && empty(b) }, cmp.Ignore())

func empty(v any) bool {
	switch list := v.(type) {
	case []Adapter:
		return len(list) == 0
	case []Tenant:
		return len(list) == 0
	}
	return false
}

// MEGA-05: one specialist is an ensemble; everything else has a default.
func TestTheLeastFileIsEnough(t *testing.T) {
	c := parsed(t, small)
	if c.Router.Fallback != "coder" || c.Specialists[0].Replicas[0].Name != "coder-0" ||
		c.Specialists[0].SLO.Correctness.Window != 24*time.Hour {
		t.Errorf("%+v", c)
	}
	if c.Limits.BodyBytes != 8<<20 || c.Limits.RetryBudget != 0.10 || c.Fleet.Breaker.Failures != 5 ||
		c.Events.Redis != nil {
		t.Errorf("%+v", c.Limits)
	}
}

// MEGA-13, MEGA-63: thresholds go by intent; codegen low, review high, given ones stand. A request that declares
// nothing has those of any other intent, whether the file names it or not.
func TestThresholdsHaveDefaultsByIntent(t *testing.T) {
	c := parsed(
		t, small+
			"intents:\n  codegen:\n  review: {shadow_threshold: 0.0}\n  poem: {divert_threshold: 0.1, "+
			"priority_floor: 5}\n  unspecified: {shadow_threshold: 0.6}\n")
	want := map[string]Intent{
		"codegen":     {ShadowThreshold: 0.30, DivertThreshold: 0.20, PriorityFloor: -100},
		"review":      {ShadowThreshold: 0, DivertThreshold: 0.40, PriorityFloor: -100},
		"poem":        {ShadowThreshold: 0.50, DivertThreshold: 0.10, PriorityFloor: 5},
		"unspecified": {ShadowThreshold: 0.60, DivertThreshold: 0.25, PriorityFloor: -100},
	}
	if diff := cmp.Diff(want, c.Intents); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{small, small + "intents: {}\n", small + "intents: {poem: {}}\n"} {
		if in := parsed(t, text).Intents[Unspecified]; in != (Intent{ShadowThreshold: 0.50, DivertThreshold: 0.25,
			PriorityFloor: -100}) {
			t.Errorf("unspecified: %+v", in)
		}
	}
}

func TestProfilesKeepNamesWeightsAndParameters(t *testing.T) {
	c := parsed(t, small+`profiles:
  mine:
    prepare: [tokenize, {block-hashes: {seed: 7}}]
    filter: [health, {concurrency: {max: 64, of: [a, 2, {deep: true}]}}]
    score: [{cache-affinity: 3}, {least-load: {weight: 0.5, penalty: 1.5}}, queue-depth]
    pick: {random: {seed: 1, name: "${WHO}"}}
`, "WHO=me")
	want := Profile{
		Prepare: []PluginRef{{Name: "tokenize", Line: 5, Path: "profiles.mine.prepare[0]"},
			{Name: "block-hashes", Params: map[string]any{"seed": 7}, Line: 5, Path: "profiles.mine.prepare[1]"}},
		Filter: []PluginRef{
			{Name: "health", Line: 6, Path: "profiles.mine.filter[0]"},
			{Name: "concurrency", Params: map[string]any{"max": 64, "of": []any{"a", 2, map[string]any{"deep": true}}},
				Line: 6, Path: "profiles.mine.filter[1]"},
		},
		Score: []PluginRef{
			{Name: "cache-affinity", Weight: 3, Line: 7, Path: "profiles.mine.score[0]"},
			{Name: "least-load", Weight: 0.5, Params: map[string]any{"penalty": 1.5}, Line: 7,
				Path: "profiles.mine.score[1]"},
			{Name: "queue-depth", Weight: 1, Line: 7, Path: "profiles.mine.score[2]"},
		},
		Pick: PluginRef{Name: "random", Params: map[string]any{"seed": 1, "name": "me"}, Line: 8,
			Path: "profiles.mine.pick"},
	}
	if diff := cmp.Diff(want, c.Profiles["mine"]); diff != "" {
		t.Error(diff)
	}
}

func TestVariablesAreReadInText(t *testing.T) {
	c := parsed(t, `
admin: {token: "pre-${TOKEN}-$${NOT}-$5-${EMPTY}"}
specialists: [{name: "${NAME}", replicas: [{url: "http://${HOST}:1/${PATH_1}"}]}]
`, "TOKEN=a${NAME}", "NAME=coder", "HOST=h", "EMPTY=", "PATH_1=v", "HOST=g")
	if c.Admin.Token != "pre-a${NAME}-${NOT}-$5-" {
		t.Errorf("token %q", c.Admin.Token)
	}
	if c.Specialists[0].Name != "coder" || c.Specialists[0].Replicas[0].URL != "http://g:1/v" {
		t.Errorf("%+v", c.Specialists[0])
	}
}

func TestAnchorsAndMergesWork(t *testing.T) {
	c := parsed(t, `
x-common: &common {block_size: 8, scheduler: {max_running: 3, max_waiting: 4}}
specialists:
  - {<<: *common, name: a, replicas: [{url: http://h:1}]}
  - {<<: [*common, {context: 64}], name: b, block_size: 32, replicas: &r [{url: http://h:2}]}
`)
	a, b := c.Specialists[0], c.Specialists[1]
	if a.BlockSize != 8 || a.Scheduler.MaxRunning != 3 || b.BlockSize != 32 || b.Context != 64 ||
		b.Scheduler.MaxWaiting != 4 {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestLoadReadsAFileAndNamesOneThatItCannotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "octet.yaml")
	var faults *Faults
	if _, err := Load(path, Options{}); !errors.As(err, &faults) || faults.List[0].Code != CodeUnreadable {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("specialists: 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, Options{}); !errors.As(err, &faults) || faults.File != path {
		t.Fatalf("%v", err)
	}
}

func TestSizesReadAndPrint(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "4096": 4096, "8MiB": 8 << 20, "8 mib": 8 << 20, "1.5GiB": 3 << 29, "40GB": 40e9, "2kb": 2000, "7B": 7,
		"9223372036854775807": 1<<63 - 1, "1PiB": 1 << 50,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "-1KiB", "1XB", "1e400", "nan", "inf", "0x10", "1_000",
		"9223372036854775808", "8192PiB", "1 2"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
	for size, want := range map[Size]string{0: "0", 1: "1", 1024: "1KiB", 8 << 20: "8MiB", 3 << 29: "1536MiB",
		1 << 50: "1PiB", 1000: "1000"} {
		if got := size.String(); got != want {
			t.Errorf("%d prints %q", size, got)
		}
	}
}

// What is near is proposed; the distance counts swaps of neighbours once.
func TestSuggestions(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"same", "same", 0}, {"limits", "limit", 1}, {"replcias", "replicas", 1},
		{"abc", "xyz", 3}, {strings.Repeat("a", 100), "a", 100}} {
		if got := distance(row.a, row.b); got != row.want || distance(row.b, row.a) != row.want {
			t.Errorf("%q to %q is %d", row.a, row.b, got)
		}
	}
	known := []string{"debug", "build", "template"}
	for word, want := range map[string]string{"debgu": `; did you mean "debug"?`,
		"x": "; known: debug, build, template"} {
		if got := didYouMean(word, known); got != want {
			t.Errorf("%q: %q", word, got)
		}
	}
}
