package calibration

// Class says how two answers relate. All but Agree and Differ have a direction.
type Class string

// The classes.
const (
	Agree           Class = "agree"
	Differ          Class = "differ" // and which is better is unknown
	PrimaryBetter   Class = "primary_better"
	ShadowBetter    Class = "shadow_better"
	PrimaryStricter Class = "primary_stricter" // of two reviews
	ShadowStricter  Class = "shadow_stricter"
)

func (c Class) known() bool { return c == Agree || c.Disagrees() }

// Disagrees reports whether the second opinion was another one.
func (c Class) Disagrees() bool {
	switch c {
	case Differ, PrimaryBetter, ShadowBetter, PrimaryStricter, ShadowStricter:
		return true
	default:
		return false
	}
}

// Swapped is the class seen from the other side.
func (c Class) Swapped() Class {
	switch c {
	case PrimaryBetter:
		return ShadowBetter
	case ShadowBetter:
		return PrimaryBetter
	case PrimaryStricter:
		return ShadowStricter
	case ShadowStricter:
		return PrimaryStricter
	default:
		return c
	}
}

// Method is what two answers were compared by.
type Method string

// The methods.
const (
	ByText     Method = "text"    // words
	ByCode     Method = "code"    // tokens of the code in them
	ByVerdicts Method = "verdict" // what two reviews come to
	ByJudge    Method = "judge"   // a judge outside of the gateway
)

// Answer is one side of a comparison.
type Answer struct {
	Text   []byte
	Finish string // stop, length …
}

// Comparison is what came of it.
type Comparison struct {
	Class  Class  `json:"class"`
	Method Method `json:"method"`
	// normalised edit distance of what was compared: 0 is the same, 1 nothing in common
	Distance float64 `json:"distance"`
	// why a judge that was asked has no say in it; empty where none was, or it has
	Judge string `json:"judge,omitempty"`
}

// Tolerance is the distance up to which answers agree.
type Tolerance struct {
	Text float64
	Code float64
}

// Rules compares the answers to requests of one intent.
type Rules struct {
	Review    bool // the answers come to a verdict
	Code      bool // the answers are code: one without any falls short
	Tolerance Tolerance
}

// RulesFor returns the rules of an intent by its name.
func RulesFor(intent string, t Tolerance) Rules {
	return Rules{Review: intent == "review", Code: intent == "codegen" || intent == "build-fix", Tolerance: t}
}

// Compare says how primary and shadow relate. It costs milliseconds at most, whatever their length.
func (r Rules) Compare(primary, shadow Answer) Comparison {
	if c, ok := r.verdicts(primary.Text, shadow.Text); ok {
		return c
	}
	p, s := extractCode(primary.Text), extractCode(shadow.Text)
	switch {
	case len(p) > 0 && len(s) > 0:
		return direct(ByCode, editDistance(lex(p), lex(s)), r.Tolerance.Code, primary, shadow)
	case r.Code && (len(p) > 0 || len(s) > 0):
		return Comparison{Class: better(len(p) > 0), Method: ByCode, Distance: 1}
	}
	return direct(ByText, editDistance(words(primary.Text), words(shadow.Text)), r.Tolerance.Text, primary, shadow)
}

// direct makes a comparison of a distance. Of two answers that differ, one that is empty or was cut short is the worse.
func direct(by Method, distance, tolerance float64, primary, shadow Answer) Comparison {
	c := Comparison{Class: Agree, Method: by, Distance: distance}
	if distance <= tolerance {
		return c
	}
	p, s := primary.shortcoming(), shadow.shortcoming()
	c.Class = Differ
	if p != s {
		c.Class = better(p < s)
	}
	return c
}

func better(primary bool) Class {
	if primary {
		return PrimaryBetter
	}
	return ShadowBetter
}

// shortcoming ranks what is wrong with an answer on its face: 0 nothing, 1 cut short, 2 empty.
func (a Answer) shortcoming() int {
	switch {
	case len(words(a.Text)) == 0:
		return 2
	case a.Finish == "length" || a.Finish == "content_filter":
		return 1
	}
	return 0
}

// Winner returns the better of two sides, or the first where they agree; empty if unknown.
func (c Comparison) Winner(primary, shadow string) string {
	switch c.Class {
	case Agree, PrimaryBetter:
		return primary
	case ShadowBetter:
		return shadow
	default:
		return ""
	}
}
