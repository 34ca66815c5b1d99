package chattemplate

import (
	"fmt"
	"strings"
)

// Whitespace as Python's str.strip has it, of ASCII.
const blank = " \t\n\r\v\f\x1c\x1d\x1e\x1f"

// segment is a stretch of a template: text as it stands, or what is inside a {{ }} or {% %}.
type segment struct {
	kind byte // 0 for text, '{' or '%'
	text string
}

// layout cuts a template into segments and carries out its white-space control as Jinja does under trim_blocks and
// lstrip_blocks and without keep_trailing_newline. Comments are gone.
func layout(source string) (out []segment, err error) {
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	source = strings.TrimSuffix(source, "\n")
	lineStart := true // what comes next begins a line
	for source != "" {
		at := opening(source)
		if at < 0 {
			return append(out, segment{text: source}), nil
		}
		text, kind := source[:at], source[at+1]
		inner, length, err := inside(source[at+2:], kind)
		if err != nil {
			return nil, err
		}
		if text = before(text, kind, inner, lineStart); text != "" {
			out = append(out, segment{text: text})
		}
		tail, mark := source[at+2+length:], byte(0)
		if n := len(inner); n > 0 && (inner[n-1] == '-' || inner[n-1] == '+' && kind != '{') {
			mark, inner = inner[n-1], inner[:n-1]
		}
		if kind != '#' {
			if inner != "" && (inner[0] == '-' || inner[0] == '+' && kind == '%') {
				inner = inner[1:]
			}
			out = append(out, segment{kind, inner})
		}
		source, lineStart = behind(tail, kind, mark)
	}
	return out, nil
}

// opening returns the index of the next {{, {% or {#, or -1.
func opening(s string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '{')
		if i < 0 || from+i+1 >= len(s) {
			return -1
		}
		if c := s[from+i+1]; c == '{' || c == '%' || c == '#' {
			return from + i
		}
		from += i + 1
	}
}

// inside returns what stands between a tag's opening and its end, and the length with the end.
func inside(s string, kind byte) (inner string, length int, err error) {
	ends := map[byte]string{'{': "}}", '%': "%}", '#': "#}"}[kind]
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		if s[i:i+2] == ends && (depth == 0 || kind == '#') {
			return s[:i], i + 2, nil
		}
		if kind == '#' {
			continue
		}
		switch s[i] {
		case '\'', '"':
			if i, err = quoted(s, i); err != nil {
				return "", 0, err
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
	}
	return "", 0, fmt.Errorf("%w: a {%c has no %s", ErrTemplate, kind, ends)
}

// quoted returns where the string that begins at s[i] has its closing quote.
func quoted(s string, i int) (int, error) {
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case s[i]:
			return j, nil
		}
	}
	return 0, fmt.Errorf("%w: a string has no end", ErrTemplate)
}

// before returns text as it stands before a tag.
func before(text string, kind byte, inner string, lineStart bool) string {
	if strings.HasPrefix(inner, "-") {
		return strings.TrimRight(text, blank)
	}
	if kind == '{' || strings.HasPrefix(inner, "+") {
		return text
	}
	line := strings.LastIndexByte(text, '\n') + 1
	if (line > 0 || lineStart) && strings.Trim(text[line:], blank) == "" {
		return text[:line]
	}
	return text
}

// behind returns what is left of tail behind a tag, and whether it begins a line.
func behind(tail string, kind, mark byte) (string, bool) {
	switch {
	case mark == '-':
		rest := strings.TrimLeft(tail, blank)
		return rest, len(rest) < len(tail) && tail[len(tail)-len(rest)-1] == '\n'
	case kind == '{' || mark == '+' || !strings.HasPrefix(tail, "\n"):
		return tail, false
	}
	return tail[1:], true
}
