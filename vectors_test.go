package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"octet/internal/vectors"
)

// differs names the cases of other systems that Octet does not meet on purpose: why its answer is right for those who
// use it, and the test that shows it, as "package#test". Parts of a case that differ are named by its runner.
var differs = map[string]map[string]difference{
	"epp_scorers.json": {
		"saturation_is_mean_of_max_ratio": {
			"a fleet is as near to refusing as its least pressed replica, by the gateway's own ledger: a mean of " +
				"scraped samples turns requests away while a replica is idle, and calls a replica " +
				"full whose sample is late",
			"gateway/escalate#TestTheLeastPressureOfARoleIsTheSpecialists"},
		"slo_deadline_queue_order": {
			"a deadline decides whether a request is taken, at the queue that is there, and never which " +
				"overtakes which: order is by priority and arrival, since the earliest deadline first lets short " +
				"wishes starve long ones, and under load serves those first that are about to be late",
			"scheduler/gate#TestADeadlineIsJudgedAtThePresentQueue"},
	},
	"kv_pool_vllm.json": {
		"reset_refused_while_blocks_in_use": {
			"a pool has no reset that could be refused: content leaves by eviction, and a pool that is to be empty " +
				"is a new pool",
			"kvpool#TestEvictionTakesEmptyBlocksFirstThenTailsBeforeParents"},
		"duplicate_hash_entry_survives_one_eviction": {
			"a content is cached once and a further copy stays private: one eviction is one removal, so those who " +
				"follow the events need no count",
			"kvpool#TestSecondCopyOfAContentStaysPrivate"},
		"hit_rate_window_last_n_requests": {
			"totals of prompt and cached tokens only grow, and their reader takes the window, by time: one of so " +
				"many requests means another span of time at every load",
			"scheduler/core#TestScripts"},
	},
}

type difference struct{ reason, test string }

// A claim is a case that a runner plays.
type claim struct{ file, name, where string }

// Every case of other systems is played by one runner, or differs on purpose.
func TestEveryCaseOfOtherSystemsIsClaimed(t *testing.T) {
	folder := vectors.Folder(t)
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files in %s, %v", len(files), folder, err)
	}
	cases := map[string][]string{}
	for _, path := range files {
		for _, c := range vectors.Read(t, path) {
			cases[filepath.Base(path)] = append(cases[filepath.Base(path)], c.Name)
		}
	}
	for _, fault := range unclaimed(cases, claimed(t), differs) {
		t.Error(fault)
	}
}

// The check itself: a case that nothing plays, one that two play, and claims of cases that are gone are found.
func TestAPlantedCaseWithoutARunnerIsFound(t *testing.T) {
	cases := map[string][]string{"a.json": {"played", "twice", "missing", "different", "both"}}
	claims := []claim{{"a.json", "played", "x"}, {"a.json", "twice", "x"}, {"a.json", "twice", "y"},
		{"a.json", "gone", "x"}, {"a.json", "both", "x"}}
	different := map[string]map[string]difference{"a.json": {"different": {"why", "t"}, "both": {"why", "t"}},
		"b.json": {"gone": {"why", "t"}}}
	want := []string{"a.json: twice is played by 2 runners: x, y", "a.json: no runner plays missing",
		"a.json: both differs, and is played: x", "a.json: gone is claimed and not there",
		"b.json: gone is claimed and not there"}
	if got := unclaimed(cases, claims, different); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// Those that differ name a reason, and a test that is there.
func TestADifferenceOnPurposeIsShownByATest(t *testing.T) {
	for _, file := range slices.Sorted(maps.Keys(differs)) {
		for name, d := range differs[file] {
			if room, test, named := strings.Cut(d.test, "#"); d.reason == "" || !named || !hasTest(t, room, test) {
				t.Errorf("%s: %s differs because %q, as %q shows", file, name, d.reason, d.test)
			}
		}
	}
}

// unclaimed returns what is wrong between cases, by file, and those that claim them.
func unclaimed(cases map[string][]string, claims []claim, differs map[string]map[string]difference) (faults []string) {
	played := map[[2]string][]string{}
	for _, c := range claims {
		played[[2]string{c.file, c.name}] = append(played[[2]string{c.file, c.name}], c.where)
	}
	there := map[[2]string]bool{}
	for _, file := range slices.Sorted(maps.Keys(cases)) {
		for _, name := range cases[file] {
			there[[2]string{file, name}] = true
			runners := played[[2]string{file, name}]
			_, different := differs[file][name]
			switch where := strings.Join(runners, ", "); {
			case different && len(runners) > 0:
				faults = append(faults, file+": "+name+" differs, and is played: "+where)
			case !different && len(runners) == 0:
				faults = append(faults, file+": no runner plays "+name)
			case len(runners) > 1:
				faults = append(faults, file+": "+name+" is played by "+strconv.Itoa(len(runners))+" runners: "+where)
			}
		}
	}
	var gone []string
	for c := range played {
		if !there[c] {
			gone = append(gone, c[0]+": "+c[1]+" is claimed and not there")
		}
	}
	for file := range differs {
		for name := range differs[file] {
			if !there[[2]string{file, name}] {
				gone = append(gone, file+": "+name+" is claimed and not there")
			}
		}
	}
	slices.Sort(gone)
	return append(faults, gone...)
}

// claimed returns the cases that the runners of all rooms play, as their sources name them.
func claimed(t *testing.T) (claims []claim) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(source), "vectors.Run(") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isRun(call) {
				claims = append(claims, claimsOf(t, path, call)...)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// isRun returns true for a call of vectors.Run.
func isRun(call *ast.CallExpr) bool {
	run, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || run.Sel.Name != "Run" || len(call.Args) != 3 {
		return false
	}
	of, ok := run.X.(*ast.Ident)
	return ok && of.Name == "vectors"
}

// claimsOf returns the cases that one call plays: it names its file, and its plays are a literal whose keys are too.
func claimsOf(t *testing.T, path string, call *ast.CallExpr) (claims []claim) {
	t.Helper()
	plays, ok := call.Args[2].(*ast.CompositeLit)
	if !ok {
		t.Fatalf("%s: the plays of vectors.Run are no literal", path)
	}
	file := textOf(t, path, call.Args[1])
	for _, element := range plays.Elts {
		play, ok := element.(*ast.KeyValueExpr)
		if !ok {
			t.Fatalf("%s: a play of %s has no name", path, file)
		}
		claims = append(claims, claim{file, textOf(t, path, play.Key), path})
	}
	return claims
}

func textOf(t *testing.T, path string, e ast.Expr) string {
	t.Helper()
	literal, ok := e.(*ast.BasicLit)
	if !ok {
		t.Fatalf("%s: a name of vectors.Run is no literal", path)
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func hasTest(t *testing.T, room, test string) bool {
	sources, err := filepath.Glob(filepath.Join(room, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(sources, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(text), "\nfunc "+test+"(")
	})
}
