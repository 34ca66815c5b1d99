package classifier

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
)

// fake is a model that says what it was told to, and counts how often it was asked.
type fake struct {
	out    []float64
	reject float64
	err    error
	asked  int
	text   string
}

func (f *fake) Classify(text []byte, out []float64) (float64, error) {
	f.asked++
	f.text = string(text)
	copy(out, f.out)
	return f.reject, f.err
}

// trace is a text that a detector decides; sure is a distribution whose best is memory (3) and next algo (2).
//
//nolint:lll // raw text that cannot be broken
const trace = "it crashes:\n==42==ERROR: AddressSanitizer: heap-use-after-free on address 0x6020\n    #0 0x55d in take(int) /src/box.cpp:17\n"

var sure = []float64{0.02, 0.02, 0.30, 0.50, 0.05, 0.02, 0.02, 0.02}

func cascade(t *testing.T, change func(*Config)) *Cascade {
	t.Helper()
	cfg := Config{
		Specialists: eight, Fallback: "algo", Detectors: true, Viable: 0.2,
		Adapters: map[string][]string{"debug": {"gdb-v2"}, "memory": {"arena"}},
		Intents: map[string]IntentConfig{
			"codegen": {ShadowThreshold: 0.30, DivertThreshold: 0.20, PriorityFloor: -100},
			"debug":   {Specialist: "debug", ShadowThreshold: 0.5, DivertThreshold: 0.25},
			"build":   {Specialist: "build"},
			"review":  {ShadowThreshold: 0.85, DivertThreshold: 0.40, PriorityFloor: 3},
		},
	}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// MEGA-01, MEGA-07, MEGA-08, MEGA-09, MEGA-10: which rule decides, one by one, for one text that several rules have an
// opinion on.
func TestTheFirstRuleThatCanSayDecides(t *testing.T) {
	quiet := "how do I sort a list of names"
	for _, row := range []struct {
		name   string
		in     Input
		model  *fake
		want   string
		by     string
		adapt  string
		asked  int
		cues   bool
		broken bool
	}{
		{name: "a model wins over intent, detector and classifier",
			in: Input{Model: "stl", Intent: "debug", Text: []byte(trace)}, model: &fake{out: sure}, want: "stl",
			by: "model"},
		{name: "a model brings its adapter", in: Input{Model: "debug:gdb-v2"}, model: &fake{out: sure}, want: "debug",
			by: "model", adapt: "gdb-v2"},
		{name: "a model and the same adapter in the header agree", in: Input{Model: "debug:gdb-v2", Adapter: "gdb-v2"},
			want: "debug", by: "model", adapt: "gdb-v2"},
		{name: "an intent that maps wins over detector and classifier",
			in: Input{Model: "octet", Intent: "build", Text: []byte(trace)}, model: &fake{out: sure}, want: "build",
			by: "intent"},
		{name: "an intent that maps takes an adapter", in: Input{Intent: "debug", Adapter: "gdb-v2"}, want: "debug",
			by: "intent", adapt: "gdb-v2"},
		{name: "a detector wins over the classifier", in: Input{Model: "octet", Text: []byte(trace)},
			model: &fake{out: sure}, want: "debug", by: "detector", cues: true},
		{name: "an intent that maps to nobody goes on to detectors", in: Input{Intent: "review", Text: []byte(trace)},
			model: &fake{out: sure}, want: "debug", by: "detector", cues: true},
		{name: "the classifier decides what no rule does", in: Input{Text: []byte(quiet)},
			model: &fake{out: sure, reject: 0.05}, want: "memory", by: "classifier", asked: 1},
		{name: "routed with an adapter of the specialist that was found",
			in: Input{Adapter: "arena", Text: []byte(quiet)}, model: &fake{out: sure, reject: 0.05}, want: "memory",
			by: "classifier", adapt: "arena", asked: 1},
		{name: "the reject class is the fallback's", in: Input{Text: []byte(quiet)},
			model: &fake{out: make([]float64, 8), reject: 1}, want: "algo", by: "fallback", asked: 1},
		{name: "a broken classifier is the fallback's, and says so", in: Input{Text: []byte(quiet)},
			model: &fake{err: errors.New("no weights")}, want: "algo", by: "fallback", asked: 1, broken: true},
		{name: "an absent classifier likewise", in: Input{Text: []byte(quiet)}, want: "algo", by: "fallback",
			broken: true},
		{name: "no text at all is the fallback's", in: Input{}, want: "algo", by: "fallback", broken: true},
		{name: "unspecified is no intent", in: Input{Intent: "unspecified", Text: []byte(trace)}, want: "debug",
			by: "detector", cues: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := cascade(t, func(cfg *Config) {
				if row.model != nil {
					cfg.Model = row.model
				}
			})
			v, err := c.Classify(row.in)
			if err != nil {
				t.Fatal(err)
			}
			if v.Specialist != row.want || v.RoutedBy.String() != row.by || v.Adapter != row.adapt {
				t.Errorf("%s:%s by %s, want %s:%s by %s", v.Specialist, v.Adapter, v.RoutedBy, row.want, row.adapt,
					row.by)
			}
			if row.model != nil && row.model.asked != row.asked {
				t.Errorf("the classifier was asked %d times, want %d", row.model.asked, row.asked)
			}
			if (v.Cues != nil) != row.cues || (v.Degraded != nil) != row.broken || v.Rule == "" {
				t.Errorf("rule %q, cues %v, degraded %v", v.Rule, v.Cues, v.Degraded)
			}
		})
	}
}

// A declared model or intent never pays for a look at the text.
func TestADeclaredModelOrIntentNeverReadsTheText(t *testing.T) {
	c := cascade(t, nil)
	looks := 0
	c.detectors = []*detector{{name: "counting", target: "debug", unless: func(sheet) bool { looks++; return true }}}
	for _, in := range []Input{{Model: "stl"}, {Model: "debug:gdb-v2"}, {Intent: "debug"},
		{Model: "octet", Intent: "build"}} {
		in.Text = []byte(trace)
		if _, err := c.Classify(in); err != nil || looks != 0 {
			t.Fatalf("%+v: %v, %d looks", in, err, looks)
		}
	}
	if _, err := c.Classify(Input{Text: []byte(trace)}); err != nil || looks != 1 {
		t.Fatalf("a routed request: %v, %d looks", err, looks)
	}
}

func TestWhatIsNotThereIsRefused(t *testing.T) {
	for _, row := range []struct {
		name string
		in   Input
		want error
	}{
		{"a model of another name", Input{Model: "gpt"}, ErrUnknownModel},
		{"a model in other letters", Input{Model: "Debug"}, ErrUnknownModel},
		{"an adapter that the model lacks", Input{Model: "debug:arena"}, ErrUnknownModel},
		{"an empty adapter in the model", Input{Model: "debug:"}, ErrUnknownModel},
		{"the router with an adapter", Input{Model: "octet:gdb-v2"}, ErrUnknownModel},
		{"an intent of another name", Input{Intent: "poem"}, ErrUnknownIntent},
		{"an unknown intent beside a known model", Input{Model: "debug", Intent: "poem"}, ErrUnknownIntent},
		{"an adapter of another specialist", Input{Model: "debug", Adapter: "arena"}, ErrUnknownAdapter},
		{"two adapters", Input{Model: "debug:gdb-v2", Adapter: "arena"}, ErrUnknownAdapter},
		{"an adapter that the intent's specialist lacks", Input{Intent: "build", Adapter: "arena"}, ErrUnknownAdapter},
		{"an adapter that none has", Input{Adapter: "gdb-v1", Text: []byte(trace)}, ErrUnknownAdapter},
		{"an adapter that none has, for the fallback", Input{Adapter: "gdb-v1"}, ErrUnknownAdapter},
	} {
		v, err := cascade(t, nil).Classify(row.in)
		chosen := v.Specialist // what lacks an adapter is known
		v.Specialist = ""
		if !errors.Is(err, row.want) || !reflect.DeepEqual(v, Verdict{}) ||
			(chosen != "") != (row.want == ErrUnknownAdapter) {
			t.Errorf("%s: %q, %+v, %v", row.name, chosen, v, err)
		}
	}
}

// MEGA-06, MEGA-10: the reject class, where the config says refuse.
func TestARejectedTextIsRefusedWhereTheConfigSaysSo(t *testing.T) {
	model := &fake{out: []float64{0.1, 0, 0, 0, 0, 0, 0, 0}, reject: 0.9}
	c := cascade(t, func(cfg *Config) { cfg.Model, cfg.RejectRefuses = model, true })
	if _, err := c.Classify(Input{Text: []byte("a recipe for bread")}); !errors.Is(err, ErrNoSpecialist) {
		t.Fatalf("%v", err)
	}
	model.err = errors.New("broken")
	if v, err := c.Classify(Input{}); err != nil || v.Specialist != "algo" {
		t.Fatalf("a broken model is no reject: %v, %v", v.Specialist, err)
	}
}

// MEGA-11, MEGA-12, MEGA-13: a verdict carries its intent's thresholds, and a shadow below them.
func TestAShadowIsNamedBelowTheIntentsThreshold(t *testing.T) {
	c := cascade(t, func(cfg *Config) { cfg.Model = &fake{out: sure, reject: 0.05} })
	for _, row := range []struct {
		intent         string
		shadow         string
		below, divert  float64
		floor          int
		diverted       bool
		raised, answer float64
	}{
		{intent: "codegen", shadow: "", below: 0.30, divert: 0.20, floor: -100},
		{intent: "review", shadow: "algo", below: 0.85, divert: 0.40, floor: 3},
		{intent: "", shadow: ""},
	} {
		v, err := c.Classify(Input{Intent: row.intent})
		if err != nil || v.Specialist != "memory" || v.Second != "algo" || !v.SecondViable || v.Confidence != 0.5 {
			t.Fatalf("%+v, %v", v, err)
		}
		if v.Shadow != row.shadow || v.ShadowThreshold != row.below || v.DivertThreshold != row.divert ||
			v.PriorityFloor != row.floor {
			t.Errorf("%q: %+v", row.intent, v)
		}
	}
}

func TestTheSecondChoiceAnswersOnlyWhereItIsViable(t *testing.T) {
	c := cascade(t, func(cfg *Config) { cfg.Model = &fake{out: sure, reject: 0.05} })
	v, _ := c.Classify(Input{Intent: "review"})
	if _, diverted := v.Divert(v.DivertThreshold); diverted {
		t.Error("0.50 is not below 0.40")
	}
	d, diverted := v.Divert(0.6)
	if !diverted || d.Specialist != "algo" || d.Second != "memory" || d.RoutedBy.String() != "divert" ||
		d.Shadow != "" || d.SecondViable {
		t.Errorf("%+v", d)
	}
	if _, again := d.Divert(1); again {
		t.Error("a diverted request is diverted once")
	}
	c = cascade(t, func(cfg *Config) { cfg.Model, cfg.Viable = &fake{out: sure, reject: 0.05}, 0.4 })
	v, _ = c.Classify(Input{})
	if _, ok := v.SecondChoice(); ok || v.Second != "algo" {
		t.Errorf("a second choice of 0.30 is not viable at 0.40: %+v", v)
	}
	declared, _ := c.Classify(Input{Model: "stl"})
	if _, ok := declared.Divert(1); ok || !math.IsNaN(declared.Confidence) || declared.Probabilities != nil {
		t.Errorf("a declared model has no second choice: %+v", declared)
	}
}

// A model that lies is a broken one.
func TestADistributionThatIsNoneFallsBack(t *testing.T) {
	for name, model := range map[string]*fake{
		"NaN":           {out: []float64{math.NaN(), 1, 0, 0, 0, 0, 0, 0}},
		"negative":      {out: []float64{-0.1, 1.1, 0, 0, 0, 0, 0, 0}},
		"sum too great": {out: []float64{0.9, 0.9, 0, 0, 0, 0, 0, 0}},
		"nothing":       {out: make([]float64, 8)},
		"reject is NaN": {out: sure, reject: math.NaN()},
	} {
		v, err := cascade(t, func(cfg *Config) { cfg.Model = model }).Classify(Input{})
		if err != nil || v.RoutedBy != ByFallback || !errors.Is(v.Degraded, ErrModel) || v.Probabilities != nil {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

func TestTiesGoToTheLowerSpecialist(t *testing.T) {
	model := &fake{out: []float64{0, 0.25, 0.25, 0.25, 0.25, 0, 0, 0}}
	v, err := cascade(t, func(cfg *Config) { cfg.Model = model }).Classify(Input{})
	if err != nil || v.Specialist != "stl" || v.Second != "algo" {
		t.Fatalf("%s, then %s: %v", v.Specialist, v.Second, err)
	}
}

// MEGA-05: an ensemble of one, of other names, has no detectors that are not its own.
func TestAnyEnsembleWorks(t *testing.T) {
	c, err := New(Config{Specialists: []string{"coder"}, Fallback: "coder", Detectors: true,
		Model: &fake{out: []float64{1}}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Classify(Input{Text: []byte(trace)})
	if err != nil || v.Specialist != "coder" || v.RoutedBy != ByClassifier || v.Second != "" {
		t.Fatalf("%+v, %v", v, err)
	}
}

func TestABrokenEnsembleIsRefused(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no specialist":       {},
		"a name twice":        {Specialists: []string{"a", "a"}, Fallback: "a"},
		"the router's name":   {Specialists: []string{"octet"}, Fallback: "octet"},
		"a name with a colon": {Specialists: []string{"a:b"}, Fallback: "a:b"},
		"no fallback":         {Specialists: []string{"a"}},
		"an intent to nobody": {Specialists: []string{"a"}, Fallback: "a",
			Intents: map[string]IntentConfig{"x": {Specialist: "b"}}},
		"nothing declared": {Specialists: []string{"a"}, Fallback: "a",
			Intents: map[string]IntentConfig{Unspecified: {Specialist: "a"}}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// MEGA-16, MEGA-18: traffic changes nothing; a verdict is the same on the first day and after any number of requests.
func TestTrafficTeachesNothing(t *testing.T) {
	c := cascade(t, func(cfg *Config) { cfg.Model = &fake{out: sure, reject: 0.05} })
	first, _ := c.Classify(Input{Intent: "review", Text: []byte(prose)})
	for range 1000 {
		if _, err := c.Classify(Input{Intent: "review", Text: []byte(trace)}); err != nil {
			t.Fatal(err)
		}
	}
	last, _ := c.Classify(Input{Intent: "review", Text: []byte(prose)})
	if first.Specialist != last.Specialist || first.Confidence != last.Confidence || first.Shadow != last.Shadow {
		t.Errorf("%+v became %+v", first, last)
	}
}

func TestNamesOfRules(t *testing.T) {
	if got := RoutedBy(99).String() + RoutedBy(0).String(); got != "" {
		t.Errorf("%q", got)
	}
}

func TestTextThatIsNotReadChangesNothing(t *testing.T) {
	c, err := New(Config{
		Specialists: []string{"debug", "stl"}, Adapters: map[string][]string{"debug": {"gdb"}}, Fallback: "stl",
		Detectors: true,
		Intents:   map[string]IntentConfig{"crash": {Specialist: "debug"}, "ask": {}, Unspecified: {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	trace := []Turn{{Role: "user",
		Text: []byte("==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602\n    #0 0x1 in f a.cc:1\n")}}
	differed := false
	for _, model := range []string{"", Routed, "debug", "debug:gdb", "debug:", "stl:gdb", "nobody"} {
		for _, intent := range []string{"", Unspecified, "crash", "ask", "none"} {
			with, err := c.Classify(Input{Model: model, Intent: intent, Turns: trace})
			without, err2 := c.Classify(Input{Model: model, Intent: intent})
			same := fmt.Sprint(with, err) == fmt.Sprint(without, err2)
			if !same && !c.Reads(model, intent) {
				t.Errorf("model %q, intent %q: %v %v, without text %v %v", model, intent, with, err, without, err2)
			}
			differed = differed || !same
		}
	}
	if !differed {
		t.Error("the text made no difference anywhere")
	}
}
