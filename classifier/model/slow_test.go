package model

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// The reading of a text by its definition: regular expressions over Latin-1, so that a byte is a letter.

//nolint:lll // raw text that cannot be broken
var (
	tokenForm = regexp.MustCompile(
		"(?s)[A-Za-z\u0080-\u00ff_][0-9A-Za-z\u0080-\u00ff_]*|[0-9][0-9A-Za-z\u0080-\u00ff_.']*|[!-/:-@\\[-^`{-\x7f]{1,2}")
)

func latin1(text string) string {
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}

func bytesOf(latin string) string {
	var b strings.Builder
	for _, r := range latin {
		b.WriteByte(byte(r))
	}
	return b.String()
}

func slowLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// slowTokens returns the whole words, and the tokens, in the order of the text.
func slowTokens(text string) (words, tokens []string) {
	for _, t := range tokenForm.FindAllString(latin1(text), -1) {
		switch first := t[0]; {
		case first >= '0' && first <= '9':
			tokens = append(tokens, "0")
		case first == '_' || first >= 0x80 || first|0x20 >= 'a' && first|0x20 <= 'z':
			words = append(words, bytesOf(slowLower(t)))
			for _, p := range slowParts(t) {
				tokens = append(tokens, bytesOf(slowLower(p)))
			}
		default:
			tokens = append(tokens, bytesOf(t))
		}
	}
	return words, tokens
}

// slowParts splits where the kind of the bytes changes, at every _, and before an upper-case letter behind a lower-case
// one.
func slowParts(word string) (parts []string) {
	marked := regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(word, "${1}_${2}")
	for _, run := range regexp.MustCompile("[0-9]+|[A-Za-z\u0080-\u00ff]+").FindAllString(marked, -1) {
		if run[0] < '0' || run[0] > '9' {
			parts = append(parts, run)
		}
	}
	return parts
}

// slowInputs are the dense inputs by their definition.
func slowInputs(list, text string, tokens []string) map[int]float64 {
	out := map[int]float64{}
	var words []string
	for _, t := range tokens {
		if c := t[0]; c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 {
			words = append(words, t)
		}
	}
	starts := slowStarts(text)
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(list), "\n"),
		func(l string) bool { return l == "" || l[0] == '#' })
	literal := slots * len(lines)
	for g, line := range lines {
		kind, members, _ := strings.Cut(line, ": ")
		hits, kinds, of := 0, 0, len(words)
		if strings.HasPrefix(kind, "words") {
			for _, term := range strings.Fields(members) {
				n := slowSights(words, strings.Split(term, "+"))
				hits, kinds = hits+n, kinds+min(n, 1)
			}
		} else {
			of = len(starts)
			for _, quoted := range regexp.MustCompile(`"[^"]*"`).FindAllString(members, -1) {
				n := 0
				for _, at := range starts {
					if strings.HasPrefix(text[at:], quoted[1:len(quoted)-1]) {
						n++
					}
				}
				if n > 0 {
					out[literal] = weightOfLiteral
				}
				hits, kinds, literal = hits+n, kinds+min(n, 1), literal+1
			}
		}
		if hits == 0 {
			continue
		}
		out[slots*g] = weightOfConcepts * math.Log(float64(kinds+1))
		out[slots*g+1] = 3 * weightOfConcepts * math.Sqrt(float64(hits)/float64(of+5))
		if kinds > 1 {
			out[slots*g+min(kinds, 4)] = weightOfConcepts
		}
	}
	return out
}

func slowSights(words, term []string) (n int) {
	for i := range words {
		if i+len(term) <= len(words) && slices.Equal(words[i:i+len(term)], term) {
			n++
		}
	}
	return n
}

// slowStarts are where tokens begin; each sign is one.
func slowStarts(text string) (at []int) {
	latin, i, passed := latin1(text), 0, 0
	for _, t := range tokenForm.FindAllStringIndex(latin, -1) {
		i += len([]rune(latin[passed:t[0]]))
		passed = t[0]
		at = append(at, i)
		if classes[text[i]] == sign && t[1]-t[0] == 2 {
			at = append(at, i+1)
		}
	}
	return at
}
