package calibration

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var usual = Tolerance{Text: 0.5, Code: 0.25}

// naiveDistance is the table in full.
func naiveDistance(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, before+1)
		}
	}
	return float64(row[len(b)]) / float64(max(len(a), len(b)))
}

func TestTheDistanceIsThatOfTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.Uint64Range(1, 6).Draw(t, "alphabet")
		sequence := rapid.SliceOfN(rapid.Uint64Range(0, alphabet), 0, 300)
		a, b := sequence.Draw(t, "a"), sequence.Draw(t, "b")
		if got, want := editDistance(a, b), naiveDistance(a, b); got != want {
			t.Fatalf("%v and %v: %v, by the table %v", a, b, got, want)
		}
	})
}

// MEGA-14: what two answers come to, class by class.
//
//nolint:lll // raw text that cannot be broken
func TestAnswersAreComparedByWhatTheyAreFor(t *testing.T) {
	const add = "Here:\n```cpp\nint add(int a, int b) { return a + b; }\n```\n"
	const laidOut = "Sure, this does it.\n\n~~~\nint add(int a,\n        int b)\n{\n  // the sum\n  return a + b; /* done */\n}\n~~~\nEnjoy."
	for _, row := range []struct {
		name, intent    string
		primary, shadow Answer
		class           Class
		by              Method
	}{
		{"layout and remarks are nothing", "codegen", Answer{Text: []byte(add)}, Answer{Text: []byte(laidOut)}, Agree,
			ByCode},
		{"other code", "codegen", Answer{Text: []byte(add)},
			Answer{Text: []byte("```\ntemplate<class T> T sum(T x) { while (x) --x; }\n```")}, Differ, ByCode},
		{"no code where code was asked for", "codegen", Answer{Text: []byte("I cannot.")}, Answer{Text: []byte(add)},
			ShadowBetter, ByCode},
		{"words about code elsewhere", "debug", Answer{Text: []byte("The pointer is null.")}, Answer{Text: []byte(add)},
			Differ, ByText},
		{"cut short", "codegen", Answer{Text: []byte("```\nint x = 1; int y = f(x);")},
			Answer{Text: []byte(add), Finish: "length"}, PrimaryBetter, ByCode},
		{"empty", "debug", Answer{Text: []byte(" \n")}, Answer{Text: []byte("use gdb")}, ShadowBetter, ByText},
		{"both empty", "debug", Answer{}, Answer{}, Agree, ByText},
		{"code without a fence", "codegen", Answer{Text: []byte("int f() {\n return 1;\n}\n")},
			Answer{Text: []byte("```\nint f() { return 1; }\n```")}, Agree, ByCode},
		{"both approve", "review", Answer{Text: []byte("LGTM, nice.")},
			Answer{Text: []byte("I looked at it for long and approve.")}, Agree, ByVerdicts},
		{"one objects", "review", Answer{Text: []byte("Approved.")},
			Answer{Text: []byte("Good work, but I request changes.")}, ShadowStricter, ByVerdicts},
		{"a negated approval", "review", Answer{Text: []byte("I cannot approve this.")},
			Answer{Text: []byte("ship it")}, PrimaryStricter, ByVerdicts},
		{"the last verdict counts", "review", Answer{Text: []byte("At first I wanted to reject it. Now: LGTM")},
			Answer{Text: []byte("lgtm")}, Agree, ByVerdicts},
		{"disapproved is no approval", "review", Answer{Text: []byte("It is disapproved of.")},
			Answer{Text: []byte("lgtm")}, Differ, ByText},
	} {
		rules := RulesFor(row.intent, usual)
		got := rules.Compare(row.primary, row.shadow)
		if got.Class != row.class || got.Method != row.by {
			t.Errorf("%s: %+v", row.name, got)
		}
		swapped := rules.Compare(row.shadow, row.primary)
		if swapped.Class != row.class.Swapped() || swapped.Distance != got.Distance {
			t.Errorf("%s: swapped it is %+v", row.name, swapped)
		}
	}
}

// A long answer costs no more than its first and last tokens, and they are those that are compared.
func TestLongAnswersAreComparedByTheirEnds(t *testing.T) {
	long := strings.Repeat("word ", 1<<20)
	if d := editDistance(words([]byte("first "+long)), words([]byte("other "+long+"end"))); d == 0 || d > 0.01 {
		t.Errorf("distance %v", d)
	}
	if n := len(words([]byte(long))); n != maxTokens {
		t.Errorf("%d tokens", n)
	}
}

func TestTheNewestTokensOfALongTextAreKeptInOrder(t *testing.T) {
	var ring tokens
	for i := range 3 * maxTokens {
		ring.add([]byte{byte(i), byte(i >> 8)})
	}
	var straight tokens
	for i := range maxTokens / 2 {
		straight.add([]byte{byte(i), byte(i >> 8)})
	}
	for i := 3*maxTokens - maxTokens/2; i < 3*maxTokens; i++ {
		straight.add([]byte{byte(i), byte(i >> 8)})
	}
	if !slices.Equal(ring.all(), straight.all()) {
		t.Error("the order is not that of the text")
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("```cpp\nint x;", "~~~\n\"unclosed\n'", "review")
	f.Add("lgtm \xff", "/* open", "codegen")
	f.Fuzz(func(t *testing.T, primary, shadow, intent string) {
		rules := RulesFor(intent, usual)
		p, s := Answer{Text: []byte(primary)}, Answer{Text: []byte(shadow)}
		c, back := rules.Compare(p, s), rules.Compare(s, p)
		if !c.Class.known() || c.Distance < 0 || c.Distance > 1 || back.Class != c.Class.Swapped() {
			t.Fatalf("%+v, swapped %+v", c, back)
		}
		if same := rules.Compare(p, p); same.Class != Agree || same.Distance != 0 {
			t.Fatalf("with itself: %+v", same)
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() []byte {
		var out strings.Builder
		for range 8 << 10 {
			out.WriteString([]string{"alpha ", "beta ", "gamma ", "delta\n"}[r.IntN(4)])
		}
		return []byte(out.String())
	}
	p, s := Answer{Text: text()}, Answer{Text: text()}
	for b.Loop() {
		RulesFor("debug", usual).Compare(p, s)
	}
}
