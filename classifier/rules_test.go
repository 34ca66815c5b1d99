package classifier

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// MEGA-08, MEGA-09
func TestConfiguredRulesDecideBeforeTheDetectorsAndAfterTheIntent(t *testing.T) {
	rules := []Rule{
		{"gpu", "systems", []string{"<<<", "cudaMalloc", "__global__"}, 2},
		{"trace-of-ours", "build", []string{"AddressSanitizer"}, 1},
	}
	for _, row := range []struct{ name, model, intent, text, want, rule string }{
		{"two of three", "", "", "__global__ void k(); k<<<1, 2>>>();", "systems", "rule gpu"},
		{"one of two that are wanted", "", "", "k<<<1, 2>>>();", "algo", "reject class"},
		{"before a detector", "", "", trace, "build", "rule trace-of-ours"},
		{"after the intent", "", "debug", trace, "debug", "intent debug"},
		{"after the model", "algo", "", trace, "algo", "model algo"},
		{"upper and lower case apart", "", "", "CUDAMALLOC __GLOBAL__", "algo", "reject class"},
	} {
		for _, detectors := range []bool{true, false} {
			c := cascade(t, func(c *Config) {
				c.Rules, c.Detectors, c.Model = rules, detectors, &fake{out: make([]float64, len(eight)), reject: 1}
			})
			v, err := c.Classify(Input{Model: row.model, Intent: row.intent, Text: []byte(row.text)})
			if err != nil || v.Specialist != row.want || v.Rule != row.rule {
				t.Errorf("%s, detectors %v: %s by %q, %v", row.name, detectors, v.Specialist, v.Rule, err)
			}
			if strings.HasPrefix(row.rule, "rule") &&
				(v.RoutedBy != ByDetector || !math.IsNaN(v.Confidence) || len(v.Cues) == 0) {
				t.Errorf("%s: %+v", row.name, v)
			}
		}
	}
}

func TestRulesThatCouldCostTooMuchAreRefused(t *testing.T) {
	many := make([]Rule, MaxRules+1)
	for i := range many {
		many[i] = Rule{strings.Repeat("r", i+1), "algo", []string{"xx"}, 1}
	}
	var literals []string
	for i := range MaxLiterals + 1 {
		literals = append(literals, strings.Repeat("l", i%100+2)+string(rune('a'+i/100)))
	}
	for name, rules := range map[string][]Rule{
		"no name":      {{"", "algo", []string{"xx"}, 1}},
		"a name twice": {{"a", "algo", []string{"xx"}, 1}, {"a", "algo", []string{"yy"}, 1}},
		"nobody":       {{"a", "nobody", []string{"xx"}, 1}}, "no literal": {{"a", "algo", nil, 1}},
		"more than there are": {{"a", "algo", []string{"xx"}, 2}},
		"always":              {{"a", "algo", []string{"xx"}, 0}}, "short": {{"a", "algo", []string{"x"}, 1}},
		"long":            {{"a", "algo", []string{strings.Repeat("x", 129)}, 1}},
		"a literal twice": {{"a", "algo", []string{"xx", "xx"}, 2}}, "too many": many,
		"too many literals": {{"a", "algo", literals, 1}},
	} {
		_, err := New(Config{Specialists: eight, Fallback: "algo", Rules: rules})
		if !errors.Is(err, ErrRule) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkRules(b *testing.B) {
	var rules []Rule
	for i := range MaxRules {
		own := string(rune('a'+i%26)) + string(rune('a'+i/26))
		rules = append(rules, Rule{own, "algo", []string{"ab" + own, "ba" + own, "aa" + own, "bb" + own}, 1})
	}
	c, err := New(Config{Specialists: eight, Fallback: "algo", Rules: rules})
	if err != nil {
		b.Fatal(err)
	}
	text := slices.Clone(bytes.Repeat([]byte("ab"), 1<<20))
	for b.Loop() {
		if _, err := c.Classify(Input{Text: text}); err != nil {
			b.Fatal(err)
		}
	}
}
