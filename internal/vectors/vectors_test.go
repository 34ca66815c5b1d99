package vectors

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func caseOf(t *testing.T, then string) *Case {
	t.Helper()
	c := &Case{Name: "a case", When: "fail x3; wait 150 ms", given: []byte(`{"a": 1}`), t: t}
	if err := json.Unmarshal([]byte(then), &c.then); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnAnswerIsComparedWithEveryLeafOfWhatIsExpected(t *testing.T) {
	for _, test := range []struct {
		then   string
		got    Got
		faults int
	}{
		{`{"a": 1}`, Got{"a": 1}, 0},
		{`{"a": 2}`, Got{"a": 1}, 1},
		{`{"a": 1, "b": 2}`, Got{"a": 1}, 1},
		{`{"a": 1}`, Got{"a": 1, "b": 2}, 1},
		{`{"a": [1, 2.5]}`, Got{"a": []float64{1, 2.5}}, 0},
		{`{"a": [1, 2.5]}`, Got{"a": []float64{1, 2.6}}, 1},
		{`{"a": []}`, Got{"a": []int{}}, 0},
		{`{"a": []}`, Got{"a": []int{1}}, 1},
		{`{"a": null}`, Got{"a": nil}, 0},
		{`{"a": null}`, Got{"a": 0}, 1},
		{`{"a": {"b": [{"c": true}]}}`, Got{"a": Got{"b": []any{Got{"c": true}}}}, 0},
		{`{"a": {"b": 1}}`, Got{"a": Got{"b": 2}}, 1},
		{`{"a": "warm (7 vs 8)"}`, Got{"a": Says{"warm", 7, 8}}, 0},
		{`{"a": "warm (7 vs 8)"}`, Got{"a": Says{"warm", 7, 9}}, 1},
		{`{"a": "warm (7 vs 8)"}`, Got{"a": Says{"warm", 7}}, 1},
		{`{"a": "warm (7 vs 8)"}`, Got{"a": Says{"cold", 7, 8}}, 1},
		{`{"a": [0.1, 0.2]}`, Got{"a": Within(0.15)}, 0},
		{`{"a": [0.1, 0.2]}`, Got{"a": Within(0.25)}, 1},
		{`{"a": 3}`, Got{"a": AtLeast(3)}, 0},
		{`{"a": 3}`, Got{"a": AtLeast(2)}, 1},
		{`{"a": 3}`, Got{"a": AtMost(3)}, 0},
		{`{"a": 3}`, Got{"a": AtMost(4)}, 1},
		{`{"a": 3.5}`, Got{"a": Splits{3, 4}}, 0},
		{`{"a": 4}`, Got{"a": Splits{3, 4}}, 1},
		{`{"a": ["b", "c"]}`, Got{"a": Has{"c", "d", "b"}}, 0},
		{`{"a": ["b", "c"]}`, Got{"a": Has{"c", "d"}}, 1},
		{`{"a": "a rule"}`, Got{"a": Rule(true)}, 0},
		{`{"a": "a rule"}`, Got{"a": Rule(false)}, 1},
		{`{"a": 1}`, Got{"a": Rule(true)}, 1}, // a number is no rule
	} {
		faults := caseOf(t, test.then).judge(test.got)
		if len(faults) != test.faults {
			t.Errorf("%s and %v: %q, want %d faults", test.then, test.got, faults, test.faults)
		}
	}
}

func TestInputsAndProseAreNotCompared(t *testing.T) {
	c := caseOf(t, `{"a": {"in": [4, 5], "out": 1}, "why": "because"}`)
	var in []int
	if c.Input("a/in", &in); !slices.Equal(in, []int{4, 5}) {
		t.Errorf("%v", in)
	}
	c.Prose("why")
	if faults := c.judge(Got{"a": Got{"out": 1}}); len(faults) > 0 {
		t.Error(faults)
	}
}

func TestADifferenceOnPurposeMustBeThere(t *testing.T) {
	c := caseOf(t, `{"a": 1, "b": 2}`)
	c.Differs("b", "of a reason")
	if faults := c.judge(Got{"a": 1, "b": 3}); len(faults) > 0 {
		t.Error(faults)
	}
	if faults := c.judge(Got{"a": 1, "b": 2}); len(faults) != 1 || !strings.Contains(faults[0], "of a reason") {
		t.Error(faults)
	}
}

// An answer that is right whatever is expected shows nothing.
func TestALeafThatMayBeAnotherIsAFault(t *testing.T) {
	c := caseOf(t, `{"a": "a rule with 3", "b": 1}`)
	if faults := c.judge(Got{"a": Rule(true), "b": AtLeast(1e9)}); len(faults) != 1 {
		t.Errorf("a bound that no other expectation breaks: %q", faults)
	}
}

func TestNumbersOfATextAreThoseThatStandAlone(t *testing.T) {
	for text, want := range map[string][]float64{
		"fail x3; wait 150 ms":                 {3, 150},
		"w1 (credit 4/1.75=2.286 -> 4 vs .5)":  {4, 1.75, 2.286, 4, 0.5},
		"(urgency -5, 32 tok), at h0 and max3": {-5, 32},
		"5x(ok,fail)":                          {5},
		"none":                                 nil,
	} {
		if got := Numbers(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
