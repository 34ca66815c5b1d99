package fault

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"octet/gateway/apierr"
)

// What an engine says of itself may name addresses, paths and keys. Clients are told what it comes to in our words; the
// engine's own stay with the error, for the log and the operator's copy of the receipt.

// sentences are our words for what an engine refuses, by the code that it comes to.
var sentences = map[apierr.Code]string{
	apierr.ModelNotFound:         "the engine does not know this model",
	apierr.PayloadTooLarge:       "the engine finds the request too large",
	apierr.QueueFull:             "the engine has no place for the request now",
	apierr.Overloaded:            "the engine takes no requests now",
	apierr.UpstreamReset:         "the engine failed",
	apierr.UpstreamProtocolError: "the engine does not take requests as the gateway sends them",
	apierr.InvalidRequest:        "the engine refuses the request",
}

// inOurWords makes e, which an engine's words led to, one that can be told: a sentence of ours, and the member of the
// client's own body that the words name, if any.
func (r Report) inOurWords(e *apierr.Error, words string) *apierr.Error {
	e.Message, e.EngineText = sentences[e.Code], clipWords(words)
	if e.Param == "" && e.Code == apierr.InvalidRequest && r.Request != nil {
		e.Param = r.memberIn(words)
	}
	if e.Param != "" && e.Code == apierr.InvalidRequest {
		e.Message = fmt.Sprintf("the engine refuses the request for its %q", e.Param)
	}
	return e
}

// memberIn returns the longest name in an engine's words that is a member of the client's body; "" if there is none. It
// tells the client nothing that it has not sent.
func (r Report) memberIn(words string) (member string) {
	inName := func(c rune) bool {
		return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	for _, word := range strings.FieldsFunc(clipWords(words), func(c rune) bool { return !inName(c) }) {
		if len(word) > max(len(member), 2) && r.Request.Parsed.Raw(word) != nil {
			member = word
		}
	}
	return member
}

// mostWords bounds what is kept of an engine's words, in bytes.
const mostWords = 1 << 10

func clipWords(words string) string {
	if len(words) <= mostWords {
		return words
	}
	end := mostWords
	for end > 0 && !utf8.RuneStart(words[end]) {
		end--
	}
	return words[:end] + "…"
}

// Detail is what the operator is told of an error: its own words, and the engine's.
func Detail(err error) string {
	e, ok := err.(*apierr.Error) //nolint:errorlint // the words of an error inside are in Error's
	if ok && e.EngineText != "" {
		return e.Error() + ": " + e.EngineText
	}
	return err.Error()
}
