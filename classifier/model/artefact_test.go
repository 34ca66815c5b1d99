package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"
)

func encoded(tb testing.TB, a *Artefact) []byte {
	tb.Helper()
	raw, err := a.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestAnArtefactComesBackAsItWasWritten(t *testing.T) {
	a := toy(t, sampleCode)
	back, err := Read(bytes.NewReader(encoded(t, a)))
	if err != nil || cmp.Diff(a, back) != "" {
		t.Fatalf("%v\n%s", err, cmp.Diff(a, back))
	}
}

func TestADamagedArtefactIsAnError(t *testing.T) {
	raw := encoded(t, toy(t, "a few words, and a mutex"))
	for n := range raw {
		if _, err := Decode(raw[:n]); !errors.Is(err, ErrArtefact) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		broken := bytes.Clone(raw)
		broken[n] ^= 1 << (n % 8)
		if _, err := Decode(broken); !errors.Is(err, ErrArtefact) {
			t.Fatalf("byte %d turned: %v", n, err)
		}
	}
	if _, err := Decode(append(raw, 0)); !errors.Is(err, ErrArtefact) {
		t.Fatalf("a byte too many: %v", err)
	}
	if _, err := Read(&endless{}); !errors.Is(err, ErrArtefact) {
		t.Fatalf("without end: %v", err)
	}
}

type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n += len(p); e.n > 2*MaxBytes {
		return 0, errors.New("read on and on")
	}
	return len(p), nil
}

func TestAnArtefactThatMakesNoSenseIsAnError(t *testing.T) {
	for name, spoil := range map[string]func(*Artefact){
		"no reject":            func(a *Artefact) { a.Labels[2] = "C" },
		"a label twice":        func(a *Artefact) { a.Labels[1] = "A" },
		"a label without name": func(a *Artefact) { a.Labels[1] = "" },
		"one label":            func(a *Artefact) { a.Labels = []string{Reject} },
		"too many labels": func(a *Artefact) {
			a.Labels = append(strings.Fields(strings.Repeat("x ", 64)),
				Reject)
		},
		"a bias too few":        func(a *Artefact) { a.Bias = a.Bias[:2] },
		"a bias without bounds": func(a *Artefact) { a.Bias[0] = 1e300 },
		"no temperature":        func(a *Artefact) { a.Temperature = 0 },
		"below zero":            func(a *Artefact) { a.Temperature = -1 },
		"all doubt":             func(a *Artefact) { a.Doubt = 1 },
		"doubt below zero":      func(a *Artefact) { a.Doubt = -0.1 },
		"no number":             func(a *Artefact) { a.Rarity[0] = float32(math.NaN()) },
		"infinite":              func(a *Artefact) { a.Scales[1] = float32(math.Inf(1)) },
		"dense and no number":   func(a *Artefact) { a.Dense[3] = float32(math.NaN()) },
		"keys out of order":     func(a *Artefact) { a.Keys[0], a.Keys[1] = a.Keys[1], a.Keys[0] },
		"a key twice":           func(a *Artefact) { a.Keys[1] = a.Keys[0] },
		"dense inputs too few":  func(a *Artefact) { a.Dense = a.Dense[:len(a.Dense)-3] },
		"broken concepts":       func(a *Artefact) { a.Concepts = "nonsense" },
		"other concepts":        func(a *Artefact) { a.Concepts = "words x: y" },
	} {
		a := toy(t, sampleCode)
		spoil(a)
		raw, err := a.Encode()
		if err == nil {
			if a, err = Decode(raw); err == nil {
				_, err = New(a)
			}
		}
		if !errors.Is(err, ErrArtefact) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConceptsThatMakeNoSenseAreErrors(t *testing.T) {
	for name, list := range map[string]string{
		"no kind": "locks: mutex", "another kind": "regex x: a.*b", "no colon": "words locks mutex",
		"no name": "words : mutex", "a name of two": "words a b: c",
		"not quoted": "texts x: fn", "not closed": `texts x: "fn`, "empty": `texts x: ""`,
		"long":              `texts x: "` + strings.Repeat("y", 65) + `"`,
		"words after texts": "texts x: \"a\"\nwords y: b",
		"too many groups":   strings.Repeat("words x: y\n", maxGroups+1),
		"too many terms":    "words x: " + strings.Join(numbers(maxTerms+1), " "),
	} {
		if _, err := NewReader(list); !errors.Is(err, ErrConcepts) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewReader(""); err != nil {
		t.Errorf("no concepts are some: %v", err)
	}
}

func numbers(n int) (words []string) {
	for i := range n {
		words = append(words, strconv.Itoa(i))
	}
	return words
}

// Whatever the bytes say, an artefact is an error or a model that answers: the checksum is set right, so that the
// fuzzer gets past it.
func FuzzDecode(f *testing.F) {
	whole := encoded(f, toy(f, "a few words, and a mutex"))
	f.Add(whole)
	f.Add(whole[:prefix+4])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) >= prefix {
			raw = bytes.Clone(raw)
			binary.LittleEndian.PutUint64(raw[prefix-8:], xxh3.Hash(raw[prefix:]))
		}
		a, err := Decode(raw)
		if err != nil {
			if !errors.Is(err, ErrArtefact) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		m, err := New(a)
		if err != nil {
			if !errors.Is(err, ErrArtefact) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		out, total := make([]float64, len(m.Labels())), 0.0
		m.Probabilities([]byte(sampleCode), out)
		for _, p := range out {
			total += p
		}
		if !(math.Abs(total-1) < 1e-9) {
			t.Fatalf("probabilities add up to %v: %v", total, out)
		}
	})
}
