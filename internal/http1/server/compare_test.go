package server

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// stricter are the reasons for which ours may refuse what net/http takes, each with the oracle that must find it in the
// input.
var stricter = map[*refusal]func(s *script) bool{
	errBareLF: func(s *script) bool {
		for i, b := range s.input {
			if b == '\n' && (i == 0 || s.input[i-1] != '\r') {
				return true
			}
		}
		return false
	},
	errFold:         in(`\n[ \t]`),
	errNoName:       in(`\n:`),
	errLengthTwice:  in(`(?is)\ncontent-length:.*\ncontent-length:`),
	errBothFramings: in(`(?is)\ncontent-length:.*\ntransfer-encoding:|\ntransfer-encoding:.*\ncontent-length:`),
	errCodingIn10:   in(`(?is)HTTP/1\.0\r\n(.*\n)?transfer-encoding:`),
	errFields:       func(s *script) bool { return strings.Count(string(s.input), "\r\n") > fieldLimit },
	errHeadSize:     func(s *script) bool { return len(s.input) > headLimit },
	errVersion:      in(`HTTP/1\.[2-9]\r\n|PRI \* HTTP/2\.0\r\n`),
	errHeadCut:      func(s *script) bool { return s.ending == endings[0] },
	errHeadLate:     func(s *script) bool { return s.ending == endings[1] },
	errChunk: in(
		`\n[0-9a-fA-F]+[ \t]+(;[^\n]*)?\r\n|\n[0-9a-fA-F]+;[^\n]*[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\n[0-9a-fA-F]{16}`),
	errTrailers: in(`\n0+(;[^\n]*)?\r\n[^\r]`),
}

func in(pattern string) func(*script) bool {
	re := regexp.MustCompile(pattern)
	return func(s *script) bool { return re.Match(s.input) }
}

func reasonOf(text string) *refusal {
	for r := range stricter {
		if r.text == text {
			return r
		}
	}
	return nil
}

// compare returns what is wrong with ours, beside theirs; "" is nothing. why names the strictness that explains a
// difference.
func compare(s *script, theirs, ours *heard) (wrong, why string) {
	for i, r := range ours.answers {
		if r.problem != "" {
			return fmt.Sprintf("our answer %d is not proper: %s", i, r.problem), ""
		}
	}
	if n := len(ours.answers); n > 0 && ours.answers[n-1].whole && !ours.answers[n-1].close && !ours.aborted &&
		ours.left == "" && !ours.asked && !quits(ours) {
		return "our connection was given up without a word", ""
	}
	return compareRequests(s, theirs, ours)
}

// quits says whether the last request's body was not read to its end: the connection may go without having said so.
// Nor does it where the handler declared a length that was not its answer's.
func quits(h *heard) bool {
	return slices.Contains(h.unread, true) || slices.ContainsFunc(h.requests, misdeclared.MatchString)
}

var misdeclared = regexp.MustCompile(`^[^ ]* "/do/[^"]*[lLz]`)

// broken are the ends of bodies that are told apart by ours alone, within trailers.
var broken = strings.NewReplacer(" unexpected EOF\n", " broken\n", " i/o timeout\n", " broken\n",
	" connection reset by peer\n", " broken\n", " malformed\n", " broken\n")

func compareRequests(s *script, theirs, ours *heard) (wrong, why string) {
	for i, request := range ours.requests {
		if i >= len(theirs.requests) {
			return fmt.Sprintf("request %d is ours alone:\n%s", i, request), ""
		}
		if request == theirs.requests[i] || broken.Replace(request) == broken.Replace(theirs.requests[i]) {
			continue
		}
		if bad := reasonOf(ours.reasons[i]); bad != nil && stricter[bad](s) {
			return compareAnswers(theirs.answers, ours.answers, i), bad.text
		}
		return fmt.Sprintf("request %d differs:\n--- theirs\n%s\n--- ours\n%s", i, theirs.requests[i], request), ""
	}
	if len(ours.requests) < len(theirs.requests) {
		return explainRefusal(s, theirs, ours)
	}
	return compareEnds(s, theirs, ours)
}

// explainRefusal is for where theirs went on: ours must have refused, or an unread body must have ended the connection.
func explainRefusal(s *script, theirs, ours *heard) (wrong, why string) {
	n := len(ours.answers)
	if bothWays(ours) {
		return compareAnswers(theirs.answers, ours.answers, n), "HTTP/1.0, keep-alive beside something else"
	}
	if n > 0 && refused(ours.answers[n-1]) {
		if bad := reasonIn(ours.answers[n-1]); bad != nil && stricter[bad](s) {
			return compareAnswers(theirs.answers, ours.answers, n-1), bad.text
		}
		return fmt.Sprintf("ours refused what theirs took: %s\n%s", ours.answers[n-1].body,
			theirs.requests[len(ours.requests)]), ""
	}
	if i := len(ours.requests) - 1; i >= 0 && ours.unread[i] && n > 0 && ours.answers[n-1].close {
		return compareAnswers(theirs.answers, ours.answers, n), "unread body, ours closes"
	}
	if why := unreadFault(s, ours); why != "" {
		return compareAnswers(theirs.answers, ours.answers, n), why
	}
	return fmt.Sprintf("request %d is theirs alone:\n%s", len(ours.requests), theirs.requests[len(ours.requests)]), ""
}

var rest = regexp.MustCompile(`\n[^\n]{0,3}$`)

// unreadFault is what ours may have found in a body that no handler read to its end, and closed for; "" is nothing.
// OPTIONS * has no handler of ours.
func unreadFault(s *script, ours *heard) string {
	i := len(ours.requests) - 1
	if (i < 0 || !ours.unread[i]) && !strings.Contains(string(s.input), "OPTIONS * ") {
		return ""
	}
	for _, bad := range []*refusal{errChunk, errTrailers} {
		if stricter[bad](s) {
			return "unread: " + bad.text
		}
	}
	return ""
}

// refused says whether an answer is the server's own, to what is no request.
func refused(r reply) bool { return r.own && r.status >= 400 }

func reasonIn(r reply) *refusal {
	_, text, _ := strings.Cut(strings.TrimSuffix(r.body, "\n"), ": ")
	return reasonOf(text)
}

// compareEnds is for where both handlers heard the same.
func compareEnds(s *script, theirs, ours *heard) (wrong, why string) {
	to, oo := theirs.answers, ours.answers
	if theirs.aborted != ours.aborted {
		return "only one handler gave up", ""
	}
	if ours.aborted { // how much of the last answer went out is not fixed: but it is not to look whole, unless it was
		return compareAnswers(to, oo, len(ours.requests)-1), ""
	}
	n := len(oo)
	if n > 0 && refused(oo[n-1]) && (len(to) < n || !refused(to[n-1])) {
		if bad := reasonIn(oo[n-1]); bad != nil && stricter[bad](s) {
			return compareAnswers(to, oo, n-1), bad.text
		}
		if bad := oo[n-1].body; (strings.Contains(bad, errRequestLine.text) || strings.Contains(bad, errBareLF.text)) &&
			rest.Match(s.input) {
			return compareAnswers(to, oo, n-1), "up to three bytes at the end" // theirs waits for four before it looks
		}
		return "ours refused, theirs did not: " + oo[n-1].body, ""
	}
	if len(to) > n && bothWays(ours) {
		return compareAnswers(to, oo, n), "HTTP/1.0, keep-alive beside something else"
	}
	if len(to) > n {
		if why := unreadFault(s, ours); why != "" {
			return compareAnswers(to, oo, n), why
		}
	}
	if len(to) != n {
		if len(to) == n+1 && refused(to[n]) && s.ending == errReset {
			return "", "half a head, then a reset" // there is no peer to be told
		}
		if len(to) == n+1 && refused(to[n]) && quits(ours) {
			return "", "unread body" // theirs reads on before it answers, ours after
		}
		return fmt.Sprintf("%d answers of theirs, %d of ours", len(to), n), ""
	}
	if wrong := compareAnswers(to, oo, n); wrong != "" || n == 0 {
		return wrong, ""
	}
	return compareLast(s, ours, to[n-1], oo[n-1])
}

// bothWays says whether the last request is one of HTTP/1.0 that names keep-alive and is to be the last all the same,
// because it names close too, or because keep-alive is not a word of the list by itself. Theirs looks for the word in
// the first Connection field alone, and then tells its handler that the request is the last and stays; ours closes.
func bothWays(h *heard) bool {
	if len(h.requests) == 0 {
		return false
	}
	last := h.requests[len(h.requests)-1]
	return strings.Contains(last, " HTTP/1.0 1.0 ") && strings.Contains(last, " close=true\n") &&
		stayers.MatchString(last)
}

var stayers = regexp.MustCompile(`(?i)\nConnection: \[.*keep-alive`)

func compareLast(s *script, ours *heard, t, o reply) (wrong, why string) {
	switch {
	case t.close == o.close:
		return "", ""
	case t.close && quits(ours):
		return "", "unread body" // theirs knew before it answered
	case o.close && bothWays(ours):
		return "", "HTTP/1.0, keep-alive beside something else"
	case o.close && (quits(ours) || strings.Contains(string(s.input), "OPTIONS * ")):
		// theirs has seen its end beside its last bytes, or forgets that it was cut short
		return "", "unread body, ours closes"
	}
	return fmt.Sprintf("the last answer closes: theirs %v, ours %v", t.close, o.close), ""
}

// compareAnswers compares the first n whole answers.
func compareAnswers(theirs, ours []reply, n int) string {
	n = min(n, len(theirs), len(ours))
	for i := range max(n, 0) {
		t, o := theirs[i], ours[i]
		switch {
		case refused(t) && refused(o):
			continue
		case t.status != o.status:
			return fmt.Sprintf("answer %d: status %d of theirs, %d of ours", i, t.status, o.status)
		case t.minor != o.minor:
			return fmt.Sprintf("answer %d: HTTP/1.%s of theirs, HTTP/1.%s of ours", i, t.minor, o.minor)
		case t.body != o.body:
			return fmt.Sprintf("answer %d: %d bytes of theirs, %d of ours", i, len(t.body), len(o.body))
		case t.whole != o.whole:
			return fmt.Sprintf("answer %d: whole %v of theirs, %v of ours", i, t.whole, o.whole)
		case !slices.Equal(t.fields, o.fields):
			return fmt.Sprintf("answer %d: fields %q of theirs, %q of ours", i, t.fields, o.fields)
		}
	}
	return ""
}
