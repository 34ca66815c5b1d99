package classifier

// RoutedBy says which rule chose the specialist: the value of X-Routed-By.
type RoutedBy uint8

// The rules in their precedence, then what stands in for them.
const (
	ByModel      RoutedBy = iota + 1 // the request named the specialist
	ByIntent                         // the declared intent maps to one
	ByDetector                       // the text has a structure that says it
	ByClassifier                     // the trained model
	ByFallback                       // nothing else could say
	ByDivert                         // the second choice, while the first is under load
)

var routedByNames = [...]string{"", "model", "intent", "detector", "classifier", "fallback", "divert"}

// String is the value of X-Routed-By, "" for the zero value.
func (r RoutedBy) String() string {
	if int(r) >= len(routedByNames) {
		return ""
	}
	return routedByNames[r]
}

// Verdict is which specialist answers, and why. It is decided once a request and never changes after.
type Verdict struct {
	Specialist string // the one that answers; never empty without an error
	Adapter    string // of Specialist; empty = none
	RoutedBy   RoutedBy
	Rule       string // for people: `model "debug"`, `detector sanitizer-trace` …

	// one a specialist in the order of Config.Specialists; nil when no distribution was computed
	Probabilities []float64
	Confidence    float64 // top-1 probability, or a detector's measured precision; NaN if neither
	Second        string  // the next best; empty when there is no distribution
	SecondViable  bool    // Second is probable enough to answer instead, and has the adapter
	Shadow        string  // specialist that gets a shadow copy; empty for no copy

	Intent          string // as declared; Unspecified when none was
	ShadowThreshold float64
	DivertThreshold float64
	PriorityFloor   int
	Cues            []string // what a detector saw, strongest first; nil unless RoutedBy is ByDetector
	Classifier      string   // which one gave Probabilities; empty if neither did, or none is out of process
	Outage          Outage   // why the classifier out of process gave none; empty if it did, or was not asked
	Degraded        error    // why the model could not say, where it should have; nil when it was not needed or said
}

// Divert returns the verdict for the second choice, when confidence is below threshold and the second choice is viable.
// The threshold is the verdict's own, or the one in force while the first choice is under load.
func (v Verdict) Divert(threshold float64) (Verdict, bool) {
	if !v.SecondViable || !(v.Confidence < threshold) {
		return v, false
	}
	return v.toSecond("confidence below the divert threshold"), true
}

// SecondChoice returns the verdict for the second choice, whatever the confidence, when it is viable: for a first
// choice that refused before its first byte.
func (v Verdict) SecondChoice() (Verdict, bool) {
	if !v.SecondViable {
		return v, false
	}
	return v.toSecond("the first choice refused"), true
}

// InPlace returns the verdict for the stand-in of a specialist that may not answer, which has the adapter, if one is
// asked for. A second choice that is the stand-in is dropped.
func (v Verdict) InPlace(standIn string) Verdict {
	if v.Second == standIn {
		v.Second, v.SecondViable = "", false
	}
	v.Rule = v.Specialist + " is demoted"
	v.Specialist, v.RoutedBy = standIn, ByFallback
	return v
}

// toSecond keeps the adapter: a second choice that does not have it is not viable for the request.
func (v Verdict) toSecond(why string) Verdict {
	v.Specialist, v.Second, v.SecondViable = v.Second, v.Specialist, false
	v.Shadow, v.RoutedBy, v.Rule = "", ByDivert, why
	return v
}
