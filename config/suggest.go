package config

import (
	"fmt"
	"slices"
)

// didYouMean ends a message about an unknown word: the nearest accepted one when it is near, else what is accepted.
func didYouMean(word string, accepted []string) string {
	best, least := "", max(1, min(3, len(word)/3))+1
	for _, a := range slices.Sorted(slices.Values(accepted)) {
		if d := distance(word, a); d < least {
			best, least = a, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf("; did you mean %q?", best)
	case len(accepted) == 0:
		return "; there are none"
	case len(accepted) <= 8:
		return fmt.Sprintf("; known: %s", list(accepted))
	}
	return ""
}

// list joins words for a message, in their own order.
func list(words []string) string {
	text := ""
	for i, w := range words {
		if i > 0 {
			text += ", "
		}
		text += clip(w)
	}
	return text
}

// distance is the number of insertions, deletions, replacements and swaps of neighbours between a and b
// (optimal string alignment). Texts over 64 bytes are as far apart as they are long.
func distance(a, b string) int {
	if len(a) > maxQuoted || len(b) > maxQuoted {
		return max(len(a), len(b))
	}
	var rows [3][maxQuoted + 1]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above, twoAbove := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			differ := 1
			if a[i-1] == b[j-1] {
				differ = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+differ)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], twoAbove[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}
