package intake

import "strings"

// RequestID returns given if it is well formed, else a fresh one.
func RequestID(given string, fresh func() string) string {
	if id := givenID(given); id != "" {
		return id
	}
	return fresh()
}

// givenID returns given if it is well formed, else "".
func givenID(given string) string {
	if WellFormed(given) {
		return strings.Clone(given) // a copy: receipts outlive the head
	}
	return ""
}

// WellFormed returns true if given may be an id: 1 to 128 letters, digits, "-", "_" and ".".
func WellFormed(given string) bool {
	if given == "" || len(given) > 128 {
		return false
	}
	for i := range len(given) {
		c := given[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}
