package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wrongProfiles has one profile for each thing that can be wrong with one.
const wrongProfiles = `profiles:
  unread: {prepare: [session-key], pick: max-score}
  unwritten: {score: [cache-affinity], pick: max-score}
  twice: {prepare: [tokenize, tokenize, block-hashes], pick: max-score}
  late: {prepare: [prefix-depths, tokenize, block-hashes], score: [cache-affinity], pick: max-score}
  nameless: {score: [fastest], pick: max-score}
  strange: {filter: [{concurrency: {maximum: 3}}, {topology: {enough: none}}], pick: max-score}
  weightless: {score: [{least-load: 0}], pick: max-score}
  greedy: {filter: [random], pick: max-score}
  upside-down: {prepare: [health], pick: max-score}
specialists:
  - {name: debug, profile: unread, replicas: [{url: "http://127.0.0.1:1"}]}
`

type reported struct{ Path, Code, Message, Profile, Plugin, Slot string }

// GAIE-25: a scorer without its preparer is a fault too, nothing is made for it.
//
// MOD3-30, MOD3-33, MOD3-34, MOD3-35, MOD3-37: everything that is wrong is reported at once, for people and for
// programs, and the program exits with 2.
func TestEveryFaultOfEveryProfileKeepsTheProgramFromStarting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wrong.yaml")
	if err := os.WriteFile(file, []byte(wrongProfiles), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"unread unused_write session-key session_key profiles.unread.prepare[0]",
		"unwritten missing_writer cache-affinity depths profiles.unwritten.score[0]",
		"twice two_writers tokenize tokens profiles.twice.prepare[1]",
		"late wrong_order prefix-depths block_hashes profiles.late.prepare[0]",
		"nameless unknown_plugin fastest  profiles.nameless.score[0]",
		"strange unknown_parameter concurrency  profiles.strange.filter[0]",
		"strange invalid_parameter topology  profiles.strange.filter[1]",
		"weightless weight_not_positive least-load  profiles.weightless.score[0]",
		"greedy many_pickers random  profiles.greedy.filter[0]",
		"upside-down wrong_stage health  profiles.upside-down.prepare[0]",
	}
	for _, args := range [][]string{{"check", file}, {"serve", "--config", file}} {
		p := start(t, append([]string{"--json-faults"}, args...)...)
		if code := p.code(); code != 2 {
			t.Errorf("%v: exit code %d", args, code)
		}
		var got []string
		for line := range strings.Lines(p.output()) {
			var f reported
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Errorf("not JSON: %s", line)
				continue
			}
			if !strings.Contains(f.Message, "(line ") {
				t.Errorf("no line: %s", line)
			}
			got = append(got, fmt.Sprint(f.Profile, " ", f.Code, " ", f.Plugin, " ", f.Slot, " ", f.Path))
		}
		for _, fault := range want {
			if !slices.Contains(got, fault) {
				t.Errorf("%v does not report %q", args, fault)
			}
		}
		p = start(t, args...)
		if code, out := p.code(), p.output(); code != 2 ||
			!strings.Contains(out, "profiles.late.prepare[0]: wrong_order: ") {
			t.Errorf("%v: exit code %d, and for people:\n%s", args, code, out)
		}
	}
}
