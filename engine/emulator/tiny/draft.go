package tiny

import "slices"

// longestMatch is how many of the last tokens lookUp tries to find again, at first.
const longestMatch = 3

// lookUp appends to dst at most n tokens that may follow past: those that followed the last time that its end stood in
// it before, the longest end first. None when not even its last token did. (Prompt lookup decoding: no second model.)
func lookUp(dst, past []uint32, n int) []uint32 {
	for size := min(longestMatch, len(past)-1); size > 0; size-- {
		tail := past[len(past)-size:]
		for at := len(past) - size - 1; at >= 0; at-- {
			if slices.Equal(past[at:at+size], tail) {
				from := at + size
				return append(dst, past[from:min(from+n, len(past))]...)
			}
		}
	}
	return dst
}
