package classifier

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// eight is the ensemble of the reference configuration.
var eight = []string{"template", "stl", "algo", "memory", "concurrency", "systems", "build", "debug"}

// sample is one labelled text.
type sample struct{ ID, Text, Label string }

// labelled reads one split of the labelled requests; without them the test is skipped.
func labelled(t *testing.T, split string) []sample {
	t.Helper()
	shared := cmp.Or(os.Getenv("OCTET_SHARED"), filepath.Join("..", "..", "shared"))
	f, err := os.Open(filepath.Join(shared, "data", "classifier", split+".jsonl.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no labelled requests: set OCTET_SHARED to the folder that has data/classifier")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var samples []sample
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		samples = append(samples, s)
	}
	return samples
}

// tally is how a detector did on one split.
type tally struct {
	fired, right int
	wrong        []string // label and id
}

// precision is by the rule of succession: a detector that was never wrong in few trials is not certain.
func (t *tally) precision() float64 { return float64(t.right+1) / float64(t.fired+2) }

// measure runs the cascade over samples and tallies by detector.
func measure(t *testing.T, samples []sample) map[string]*tally {
	t.Helper()
	c, err := New(Config{Specialists: eight, Fallback: "algo", Detectors: true})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*tally{}
	for _, s := range samples {
		v, err := c.Classify(Input{Text: []byte(s.Text)})
		if err != nil {
			t.Fatal(err)
		}
		if v.RoutedBy != ByDetector {
			continue
		}
		if by[v.Rule] == nil {
			by[v.Rule] = &tally{}
		}
		d := by[v.Rule]
		d.fired++
		if strings.EqualFold(s.Label, v.Specialist) {
			d.right++
		} else {
			d.wrong = append(d.wrong, s.Label+" "+s.ID)
		}
	}
	return by
}

// What a detector claims as its precision is what it has on the texts that its weights were set on, and no target's
// detectors together are right less often than 19 times in 20. The texts that they were not set on are reported beside.
func TestDetectorsAreAsPreciseAsTheyClaim(t *testing.T) {
	by := measure(t, labelled(t, "train"))
	fired, right := map[string]int{}, map[string]int{}
	for _, d := range detectors {
		found := by["detector "+d.name]
		if found == nil {
			t.Fatalf("%s never fires", d.name)
		}
		if math.Abs(found.precision()-d.precision) > 0.001 {
			t.Errorf("%s claims %.3f, and has %.3f: %d of %d, wrong on %v", d.name, d.precision, found.precision(),
				found.right, found.fired, found.wrong)
		}
		fired[d.target] += found.fired
		right[d.target] += found.right
	}
	for target, n := range fired {
		if p := float64(right[target]) / float64(n); p < 0.95 {
			t.Errorf("detectors of %s: %d of %d", target, right[target], n)
		}
	}
	for _, h := range hints {
		if found := by["detector "+h.name]; found == nil || math.Abs(found.precision()-h.precision) > 0.001 {
			t.Errorf("hint %s claims %.3f: %+v", h.name, h.precision, found)
		}
	}
}

// On repositories that no weight was set on, detectors together are right nine times in ten at least.
func TestPrecisionOnOtherRepositories(t *testing.T) {
	by, fired, right := measure(t, labelled(t, "dev")), 0, 0
	for _, rule := range slices.Sorted(maps.Keys(by)) {
		t.Logf("%s: %d of %d, wrong on %v", rule, by[rule].right, by[rule].fired, by[rule].wrong)
		fired, right = fired+by[rule].fired, right+by[rule].right
	}
	if fired < 50 || right*10 < fired*9 {
		t.Errorf("%d of %d texts are told right", right, fired)
	}
}
