package receipt

// Mixed is the revision of an answer of which engines with different weights have each given a part.
const Mixed = "mixed"

// Revision returns the revision of the weights that answered; "" if no engine has told it.
func (r *Receipt) Revision() string {
	if len(r.Attempts) == 0 {
		return ""
	}
	last := r.Attempts[len(r.Attempts)-1].Revision
	if r.Result.Continued == 0 {
		return last
	}
	for i := range r.Attempts {
		if of := &r.Attempts[i]; of.Specialist == r.Result.Specialist && of.Revision != last {
			return Mixed
		}
	}
	return last
}
