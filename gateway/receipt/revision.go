package receipt

// Mixed is the revision of an answer, or of a turn, of which different weights have each given a part.
const Mixed = "mixed"

// Revision returns the revision of the weights that answered; "" if no engine has told it. Parts of an answer are what
// an engine said before it died, if another went on, and what a step before the answer computed.
func (r *Receipt) Revision() string {
	if len(r.Attempts) == 0 {
		return ""
	}
	last := r.Attempts[len(r.Attempts)-1].Revision
	for i := range r.Attempts {
		of := &r.Attempts[i]
		step := of.Outcome == OK && of.Revision != "" && last != ""
		if (step || r.Result.Continued > 0) && of.Specialist == r.Result.Specialist && of.Revision != last {
			return Mixed
		}
	}
	return last
}
