package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"octet/app"
	"octet/config"
)

// faulty has a fault in each layer, and a consequence of one that is not to be told twice.
const faulty = `
limits: {drain: 1}
router: {classifier: {model: /nowhere/model.bin}}
shadow: {judge: {command: [/nowhere/judge]}}
profiles:
  wrong: {score: [no-such-plugin], pick: max-score}
  empty: {filter: [health]}
specialists:
  - {name: a, profile: wrong, tokenizer: /nowhere/tokenizer.json, replicas: [{url: "http://h:1"}]}
  - {name: b, profile: missing, workflow: three-step, replicas: [{url: "http://h:2", role: decode}]}
`

// MOD3-37: check says what is wrong with every layer of a file at once: its keys, profiles, workflows, tokenizers,
// models and commands.
func TestFaultsOfEveryLayerAreSaidAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "faulty.yaml")
	if err := os.WriteFile(path, []byte(faulty), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := app.Source{Path: path}.Load()
	var faults *config.Faults
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, f := range faults.List {
		found[f.Path+" "+f.Code]++
	}
	for _, want := range []string{
		"limits.drain bad_duration", "profiles.wrong.score[0] unknown_plugin", "profiles.empty.pick missing",
		"specialists[1].profile unknown_name", "specialists[1].replicas conflict",
		"specialists[0].tokenizer unreadable", "router.classifier.model bad_value",
		"shadow.judge.command unreadable",
	} {
		if found[want] != 1 {
			t.Errorf("%s is said %d times", want, found[want])
		}
		delete(found, want)
	}
	if len(found) > 0 {
		t.Errorf("consequences: %v", found)
	}
}
