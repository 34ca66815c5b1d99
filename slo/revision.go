package slo

import "time"

// Revise says which revision of the weights is judged from now on. Another one than before is a Refresh; the first that
// is known is not. Returns true if the verdicts were forgotten.
func (l *Breaker) Revise(now time.Time, revision string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.revision
	if revision == "" || revision == before {
		return false
	}
	l.revision = revision
	if before == "" {
		return false
	}
	l.refresh(now)
	return true
}

// Judges returns true if answers of a revision are those that are judged. What is not known counts as judged.
func (l *Breaker) Judges(revision string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sameRevision(l.revision, revision)
}

// foreign returns true for a verdict on other weights than those that are judged: late, or of a replica that serves
// another revision. Under mu.
func (l *Breaker) foreign(v Verdict) bool {
	return v.Answered.Before(l.served) || !sameRevision(l.revision, v.Revision)
}

// sameRevision returns true if two revisions are the same as far as they are known.
func sameRevision(a, b string) bool { return a == b || a == "" || b == "" }
