package model

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"octet/internal/race"
)

// toyConcepts has every kind of group.
const toyConcepts = `
# a comment
words locks: mutex lock condition+variable
words memory: malloc arena lock
texts rust: "let mut " "fn " "!" "println!(" "::<aVeryLongTail"
`

// toy is a small artefact with weights from a seed: it knows some features of texts, and not others.
func toy(tb testing.TB, texts ...string) *Artefact {
	tb.Helper()
	r, err := NewReader(toyConcepts)
	if err != nil {
		tb.Fatal(err)
	}
	a := &Artefact{Labels: []string{"A", "B", Reject}, Temperature: 1.3, Doubt: 0.04, Bias: []float64{0.1, -0.2, 0.3},
		Concepts: toyConcepts, Origin: Origin{Seed: 7, Data: "d"}}
	dice := rand.New(rand.NewPCG(1, 2))
	for _, text := range texts {
		for i, k := range r.Vector(text).Keys {
			if i%4 != 0 { // every fourth feature was not seen in training
				a.Keys = append(a.Keys, k)
			}
		}
	}
	slices.Sort(a.Keys)
	a.Keys = slices.Compact(a.Keys)
	for range a.Keys {
		a.Rarity = append(a.Rarity, dice.Float32()*5)
		a.Scales = append(a.Scales, dice.Float32()/50)
		for range a.Labels {
			a.Weights = append(a.Weights, int8(dice.IntN(255)-127))
		}
	}
	for range r.Dense() * len(a.Labels) {
		a.Dense = append(a.Dense, dice.Float32()-0.5)
	}
	return a
}

func built(tb testing.TB, a *Artefact) *Model {
	tb.Helper()
	m, err := New(a)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// slow is the model by its definition: maps, and no rounding but that of the artefact.
func slow(a *Artefact, text string) []float64 {
	sights := map[uint32]float64{}
	words, tokens := slowTokens(text)
	before := ""
	for i, t := range tokens {
		sights[key(hashOf(t), ofPart)]++
		if i > 0 {
			sights[key(pair(hashOf(before), hashOf(t)), ofPair)]++
		}
		before = t
	}
	for _, w := range words {
		sights[key(hashOf(w), ofWord)]++
	}
	sums, square := make([]float64, len(a.Labels)), 0.0
	for k, n := range sights {
		row := slices.Index(a.Keys, k)
		if row < 0 {
			continue
		}
		value := (1 + math.Log(n)) * float64(a.Rarity[row])
		square += value * value
		for l := range sums {
			sums[l] += value * float64(a.Scales[row]) * float64(a.Weights[row*len(sums)+l])
		}
	}
	for l := range sums {
		sums[l] = a.Bias[l] + sums[l]/math.Sqrt(max(square, 1e-300))
	}
	for input, level := range slowInputs(a.Concepts, text, tokens) {
		for l := range sums {
			sums[l] += level * float64(a.Dense[input*len(sums)+l])
		}
	}
	total := 0.0
	for l := range sums {
		sums[l] = math.Exp(sums[l] / a.Temperature)
		total += sums[l]
	}
	for l := range sums {
		sums[l] = (1-a.Doubt)*sums[l]/total + a.Doubt/float64(len(sums))
	}
	return sums
}

func TestTheModelIsWhatItsDefinitionSays(t *testing.T) {
	texts := []string{
		sampleCode, "", "_", "aB", "HTTPServer2_go x", "let mut fn println!(x) !!",
		"mutex lock lock condition_variable, ConditionVariable malloc",
		"1'000 0x1F 3.14e-9 a1b2", "\xff\xfe invalid \xc3\x28", "\x00binary\x01", strings.Repeat("arena lock ", 300),
		"::<aVeryLongTai ::<aVeryLongTail::<aVeryLongTail!", "!",
	}
	a := toy(t, texts...)
	m := built(t, a)
	for range 3 { // desks are used again
		for _, text := range texts {
			got := make([]float64, 3)
			m.Probabilities([]byte(text), got)
			for l, want := range slow(a, text) {
				if math.Abs(got[l]-want) > 1e-5 {
					t.Fatalf("%.40q: %v, want %v", text, got, slow(a, text))
				}
			}
		}
	}
}

func TestTheForwardPassAllocatesNothing(t *testing.T) {
	m := built(t, toy(t, sampleCode))
	out := make([]float64, 3)
	text := []byte(strings.Repeat(sampleCode, 100))
	m.Probabilities(text, out)
	if n := testing.AllocsPerRun(200, func() { m.Probabilities(text, out) }); n >= 1 && !race.Enabled {
		t.Fatalf("%v allocations", n)
	}
}

func TestALongTextIsReadAtBothEnds(t *testing.T) {
	a := toy(t, "alpha beta", "gamma delta")
	m := built(t, a)
	filler := strings.Repeat(strings.Repeat("z", 60)+"\n", 50_000)
	of := func(text string) []float64 {
		out := make([]float64, 3)
		m.Probabilities([]byte(text), out)
		return out
	}
	plain := of(filler)
	if slices.Equal(of("alpha beta\n"+filler), plain) || slices.Equal(of(filler+"gamma delta"), plain) {
		t.Error("an end is not read")
	}
	if !slices.Equal(of(filler+"alpha beta\n"+filler), plain) {
		t.Error("the middle is read")
	}
	if d := new(desk); len(d.excerpt(bytes.Repeat([]byte("x"), 1<<20))) != maxRead {
		t.Error("one long line is read at both ends too")
	}
}

func TestConcurrentTextsDoNotMeet(t *testing.T) {
	texts := []string{sampleCode, "mutex lock", "let mut x = 1; fn f() {}", ""}
	m := built(t, toy(t, texts...))
	want := make([][]float64, len(texts))
	for i, text := range texts {
		want[i] = make([]float64, 3)
		m.Probabilities([]byte(text), want[i])
	}
	done := make(chan bool)
	for g := range 4 {
		go func() {
			ok, out := true, make([]float64, 3)
			for i := range 200 {
				at := (i + g) % len(texts)
				m.Probabilities([]byte(texts[at]), out)
				ok = ok && slices.Equal(out, want[at])
			}
			done <- ok
		}()
	}
	for range 4 {
		if !<-done {
			t.Error("another answer than alone")
		}
	}
}

// MEGA-19
func TestTheBuiltinModelIsWhole(t *testing.T) {
	m, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if len(builtin) > 20<<20 || len(m.Labels()) != 9 || m.Origin().Samples == 0 || len(m.Origin().Figures) == 0 {
		t.Fatalf("%d bytes, labels %q, %+v", len(builtin), m.Labels(), m.Origin())
	}
}

func FuzzProbabilities(f *testing.F) {
	for _, s := range []string{"", sampleCode, "\x00\xff", "a_B9__c std::", "let mut println!(",
		strings.Repeat("x", 20000)} {
		f.Add([]byte(s))
	}
	a := toy(f, sampleCode, "let mut x_y = 1")
	m, err := New(a)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out := make([]float64, 3)
		m.Probabilities(text, out)
		want := slow(a, string(new(desk).excerpt(text)))
		for l := range out {
			if !(math.Abs(out[l]-want[l]) < 1e-4) {
				t.Fatalf("%v, want %v", out, want)
			}
		}
	})
}
