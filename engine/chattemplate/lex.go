package chattemplate

import (
	"regexp"
	"strconv"
	"strings"
)

// token is one of a tag's: kind 'n' a name, 's' a string, 'i' an int, 'f' a float, 'o' an operator, 0 the end.
type token struct {
	kind byte
	text string // of a string: what it stands for
}

// operators, the longer ones first.
var operators = []string{"==", "!=", "<=", ">=", "//", "**", "+", "-", "*", "/", "%", "~", "<", ">", "=", ".", ",", ":",
	"|", "(", ")", "[", "]", "{", "}"}

// lex cuts the inside of a tag into tokens.
func lex(s string) (out []token) {
	for {
		s = strings.TrimLeft(s, blank)
		if s == "" {
			return out
		}
		var t token
		switch c := s[0]; {
		case c == '\'' || c == '"':
			t, s = lexString(s)
		case '0' <= c && c <= '9':
			t, s = lexNumber(s)
		case nameByte(c):
			n := 1
			for n < len(s) && (nameByte(s[n]) || '0' <= s[n] && s[n] <= '9') {
				n++
			}
			t, s = token{'n', s[:n]}, s[n:]
		default:
			t, s = lexOperator(s)
		}
		out = append(out, t)
	}
}

func nameByte(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func lexOperator(s string) (token, string) {
	for _, o := range operators {
		if strings.HasPrefix(s, o) {
			return token{'o', o}, s[len(o):]
		}
	}
	throw(ErrTemplate, "an unexpected %q", s[:1])
	return token{}, ""
}

// numbers are ints, and floats with a fraction, an exponent or both.
var numberForm = regexp.MustCompile(`^[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?`)

func lexNumber(s string) (token, string) {
	found := numberForm.FindString(s)
	kind := byte('i')
	if strings.ContainsAny(found, ".eE") {
		kind = 'f'
	}
	return token{kind, strings.ReplaceAll(found, "_", "")}, s[len(found):]
}

// lexString reads a string and its escapes, which are Python's. Its end is known to be there.
func lexString(s string) (token, string) {
	end, err := quoted(s, 0)
	if err != nil {
		throw(ErrTemplate, "a string has no end")
	}
	inner := s[1:end]
	if strings.IndexByte(inner, '\\') < 0 {
		return token{'s', inner}, s[end+1:]
	}
	var out strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			out.WriteByte(inner[i])
			continue
		}
		i++
		i += escape(&out, inner[i:]) - 1
	}
	return token{'s', out.String()}, s[end+1:]
}

// escape writes what the escape behind a backslash stands for and returns its length.
func escape(out *strings.Builder, s string) int {
	plain := map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", 'a': "\a", '0': "\x00",
		'\\': "\\", '\'': "'", '"': "\"", '\n': ""}
	if text, ok := plain[s[0]]; ok {
		out.WriteString(text)
		return 1
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if digits > 0 && len(s) > digits {
		if r, err := strconv.ParseUint(s[1:1+digits], 16, 32); err == nil {
			out.WriteRune(rune(r))
			return 1 + digits
		}
	}
	out.WriteByte('\\')
	out.WriteByte(s[0])
	return 1
}
