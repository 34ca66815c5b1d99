package calibration

import "bytes"

// opinion is what a review comes to.
type opinion int

const (
	silent opinion = iota // it does not say
	approves
	objects
)

// phrases are what reviews say, in lower case. Where several stand in a text the last one counts: verdicts come at the
// end. Longer ones stand before those that they contain.
var phrases = []struct {
	text string
	says opinion
}{
	{"do not approve", objects}, {"don't approve", objects}, {"cannot approve", objects}, {"can't approve", objects},
	{"not approved", objects},
	{"do not merge", objects}, {"don't merge", objects}, {"not ready to merge", objects},
	{"not safe to merge", objects},
	{"request changes", objects}, {"requesting changes", objects}, {"changes requested", objects},
	{"needs changes", objects}, {"needs work", objects},
	{"reject", objects}, {"must be fixed", objects}, {"nack", objects},
	{"approve", approves}, {"lgtm", approves}, {"looks good to me", approves}, {"ready to merge", approves},
	{"safe to merge", approves},
	{"no issues found", approves}, {"no problems found", approves}, {"ship it", approves},
}

// verdicts compares two reviews by what they come to; false where that is not known of both.
func (r Rules) verdicts(primary, shadow []byte) (Comparison, bool) {
	if !r.Review {
		return Comparison{}, false
	}
	p, s := review(primary), review(shadow)
	if p == silent || s == silent {
		return Comparison{}, false
	}
	c := Comparison{Class: Agree, Method: ByVerdicts}
	switch {
	case p > s:
		c.Class, c.Distance = PrimaryStricter, 1
	case p < s:
		c.Class, c.Distance = ShadowStricter, 1
	}
	return c, true
}

// review reads the verdict out of a review: the phrase that ends last, the longest of those that end there.
func review(text []byte) opinion {
	lower := bytes.ToLower(text[max(0, len(text)-maxReview):])
	last, said := -1, silent
	for _, p := range phrases {
		if at := lastWord(lower, p.text); at >= 0 && at+len(p.text) > last {
			last, said = at+len(p.text), p.says
		}
	}
	return said
}

// maxReview is how much of a review's end is read, in bytes.
const maxReview = 64 << 10

// lastWord finds phrase where it begins a word.
func lastWord(text []byte, phrase string) int {
	for {
		at := bytes.LastIndex(text, []byte(phrase))
		if at <= 0 || !isLetter(text[at-1]) {
			return at
		}
		text = text[:at+len(phrase)-1]
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
