package emulator

import (
	"regexp"
	"strconv"
	"strings"
)

// directive is what the last user's message asks of the answer's form, as "[[reasoning=12 text=8 calls=2]]". A member
// is below 0 where the message says nothing of it: what is not asked for follows from the prompt.
type directive struct {
	reasoning int // tokens of reasoning ahead of all else
	text      int // tokens of text; ahead of the calls, where there are any
	calls     int // calls in an answer that calls tools
	args      int // words in the first string of each call's arguments, or of a JSON answer
	rounds    int // answers that call tools, until an answer is text
	vary      int // above 0: arguments are the model's own; otherwise all models make the same calls
}

const (
	maxDirected      = 4096 // of any member
	maxDirectedCalls = 16
)

var directives = regexp.MustCompile(`\[\[\s*((?:[a-z]+=[0-9]{1,9}\s*)+)\]\]`)

// readDirective returns what text asks for. A member that is unknown is left out.
func readDirective(text string) directive {
	d := directive{-1, -1, -1, -1, -1, -1}
	found := directives.FindStringSubmatch(text)
	if found == nil {
		return d
	}
	for member := range strings.FieldsSeq(found[1]) {
		name, number, _ := strings.Cut(member, "=")
		n, _ := strconv.Atoi(number) // nine digits at most
		n = min(n, maxDirected)
		switch name {
		case "reasoning":
			d.reasoning = n
		case "text":
			d.text = n
		case "calls":
			d.calls = min(n, maxDirectedCalls)
		case "args":
			d.args = n
		case "rounds":
			d.rounds = n
		case "vary":
			d.vary = n
		}
	}
	return d
}
