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
	PrimaryCalls    Class = "primary_calls" // tools, where the other one answers in text; which is better is unknown
	ShadowCalls     Class = "shadow_calls"
)

func (c Class) known() bool { return c == Agree || c.Disagrees() }

// Disagrees reports whether the second opinion was another one.
func (c Class) Disagrees() bool {
	switch c {
	case Differ, PrimaryBetter, ShadowBetter, PrimaryStricter, ShadowStricter, PrimaryCalls, ShadowCalls:
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
	case PrimaryCalls:
		return ShadowCalls
	case ShadowCalls:
		return PrimaryCalls
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
	ByCalls    Method = "calls"   // tool calls, and the text beside them
	ByJSON     Method = "json"    // values, whatever the order of members
	ByJudge    Method = "judge"   // a judge outside of the gateway
)

// Form is what two answers are, as far as it decides how they can be compared.
type Form string

// The forms.
const (
	FormText  Form = ""           // prose, or code
	FormCalls Form = "tool_calls" // at least one of the two calls tools
	FormJSON  Form = "json"       // the request asked for JSON
)

func (f Form) known() bool { return f == FormText || f == FormCalls || f == FormJSON }

// Answer is one side of a comparison.
type Answer struct {
	Text   []byte
	Calls  []Call
	Finish string // stop, length, tool_calls …
}

// Comparison is what came of it.
type Comparison struct {
	Class  Class  `json:"class"`
	Method Method `json:"method"`
	// normalised edit distance of what was compared: 0 is the same, 1 nothing in common
	Distance float64 `json:"distance"`
	Form     Form    `json:"form,omitempty"`
	// how the tool calls relate; empty if neither answer has any
	Calls Match `json:"calls,omitempty"`
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
	Review    bool     // the answers come to a verdict
	Code      bool     // the answers are code: one without any falls short
	JSON      bool     // the answers are JSON: one that is not falls short
	MustCall  bool     // the answers call tools: one that does not falls short
	Tools     []string // that an answer may call; nil if they are unknown
	Tolerance Tolerance
}

// RulesFor returns the rules of an intent by its name.
func RulesFor(intent string, t Tolerance) Rules {
	return Rules{Review: intent == "review", Code: intent == "codegen" || intent == "build-fix", Tolerance: t}
}

// Compare says how primary and shadow relate. It costs milliseconds at most of texts, whatever their length; of JSON
// and the arguments of tool calls, all of which is compared, its cost grows with the length.
func (r Rules) Compare(primary, shadow Answer) Comparison {
	if len(primary.Calls)+len(shadow.Calls) > 0 {
		return r.calls(primary, shadow)
	}
	if r.JSON {
		return r.json(primary, shadow)
	}
	return r.prose(primary, shadow)
}

// json compares two answers that are to be JSON: two of them agree if they are one value.
func (r Rules) json(primary, shadow Answer) Comparison {
	c := Comparison{Class: Agree, Method: ByJSON, Form: FormJSON}
	p, isP := leavesOf(primary.Text)
	s, isS := leavesOf(shadow.Text)
	switch {
	case !isP && !isS:
		c = r.prose(primary, shadow)
		c.Form = FormJSON
	case isP != isS:
		c.Class, c.Distance = better(isP), 1
	default:
		if c.Distance = p.distance(s); c.Distance > 0 {
			c.Class = r.differing(primary, shadow)
		}
	}
	return c
}

// prose compares two answers by what they come to, as code, or as words.
func (r Rules) prose(primary, shadow Answer) Comparison {
	if c, ok := r.verdicts(primary.Text, shadow.Text); ok {
		return c
	}
	return r.text(primary, shadow)
}

// text compares two texts as code, or as words.
func (r Rules) text(primary, shadow Answer) Comparison {
	p, s := extractCode(primary.Text), extractCode(shadow.Text)
	c, tolerance := Comparison{Class: Agree}, r.Tolerance.Text
	switch {
	case len(p) > 0 && len(s) > 0:
		c.Method, c.Distance, tolerance = ByCode, editDistance(lex(p), lex(s)), r.Tolerance.Code
	case r.Code && (len(p) > 0 || len(s) > 0):
		return Comparison{Class: better(len(p) > 0), Method: ByCode, Distance: 1}
	default:
		c.Method, c.Distance = ByText, editDistance(words(primary.Text), words(shadow.Text))
	}
	if c.Distance > tolerance {
		c.Class = r.differing(primary, shadow)
	}
	return c
}

// differing returns the class of two answers that differ. One that falls short of the other on its face is the worse.
func (r Rules) differing(primary, shadow Answer) Class {
	if p, s := r.shortcoming(primary), r.shortcoming(shadow); p != s {
		return better(p < s)
	}
	return Differ
}

func better(primary bool) Class {
	if primary {
		return PrimaryBetter
	}
	return ShadowBetter
}

// shortcoming ranks what is wrong with an answer on its face: 0 nothing, 1 cut short, or a call that cannot be carried
// out, 2 empty.
func (r Rules) shortcoming(a Answer) int {
	switch {
	case len(words(a.Text)) == 0 && len(a.Calls) == 0:
		return 2
	case a.Finish == "length" || a.Finish == "content_filter" || !r.carriedOut(a.Calls):
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
