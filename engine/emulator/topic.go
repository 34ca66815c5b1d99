package emulator

import (
	"strings"
)

const (
	topicMax   = 28       // bytes
	noTopic    = "this"   // what a prompt without words is about
	likelyName = topicMax // what looking like an identifier is worth, in bytes of length
)

// plain holds longer words that people use to ask, not to say about what.
var plain = map[string]bool{
	"about": true, "answer": true, "because": true, "between": true, "could": true, "correct": true, "example": true,
	"explain":  true,
	"function": true, "implement": true, "implementation": true, "please": true, "program": true, "question": true,
	"should": true,
	"simple": true, "something": true, "there": true, "these": true, "things": true, "using": true, "where": true,
	"which":   true,
	"without": true, "would": true, "write": true, "written": true,
}

// topic returns the word that a prompt is most likely about: the last user's turn's longest, an identifier before
// others.
func topic(text []byte) string {
	words := strings.FieldsFunc(lastUserTurn(string(text)), func(r rune) bool {
		return r != '_' && r != ':' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	best, most := noTopic, 3
	for _, w := range words {
		w = strings.Trim(w, ":")
		if weight := weigh(w); weight > most {
			best, most = w, weight
		}
	}
	return best
}

// weigh says how likely w is a topic.
func weigh(w string) int {
	if len(w) > topicMax || plain[strings.ToLower(w)] {
		return 0
	}
	if strings.ContainsAny(w, "_:") || len(w) > 1 && strings.ToLower(w[1:]) != w[1:] {
		return len(w) + likelyName
	}
	return len(w)
}

// lastUserTurn returns what the last user's turn of a rendered chat says; all of any other text.
func lastUserTurn(text string) string {
	const opening, closing = "<|user|>\n", "<|end|>"
	at := strings.LastIndex(text, opening)
	if at < 0 {
		return text
	}
	turn, _, _ := strings.Cut(text[at+len(opening):], closing)
	return turn
}
