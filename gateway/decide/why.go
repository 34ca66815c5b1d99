package decide

import "octet/classifier"

// Why says why a request has a shadow, or none: what receipts say of it.
type Why string

// Why there is none. Why there is one is its Cause.
const (
	NotClassified Why = "not_classified" // what decided gives no confidence: model, intent, detector or fallback
	Confident     Why = "confident"      // the confidence is not below the threshold
	NoSecond      Why = "no_second"      // there is no second choice
	Diverted      Why = "diverted"       // the second choice is the one that answers
	StandIn       Why = "stand_in"       // the one that would get the copy stands in for a demoted one, and answers
	NotComparable Why = "not_comparable" // answers to such requests are not compared
	NotPermitted  Why = "not_permitted"  // the key may not use the specialist
	NotAllowed    Why = "not_allowed"    // the specialist takes no shadows now
	NoAdapter     Why = "adapter"        // the specialist has not the request's adapter
	NoRoom        Why = "budget"         // too many shadows are asked, or the gateway is shutting down
	NotSent       Why = "not_sent"       // it was dropped before its engine was asked
)

// ShadowWhy says why the decision has a shadow, or why it has none.
func (d *Decision) ShadowWhy() Why {
	switch {
	case d.NoShadow != "":
		return d.NoShadow
	case d.Shadow != "":
		return Why(d.ShadowCause)
	case d.RoutedBy == classifier.ByDivert:
		return Diverted
	case d.Demoted != "":
		return StandIn
	case d.RoutedBy != classifier.ByClassifier:
		return NotClassified
	case d.Second == "":
		return NoSecond
	}
	return Confident
}
