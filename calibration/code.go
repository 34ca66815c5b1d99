package calibration

import "bytes"

// extractCode returns the code in an answer: what stands in its fences, else all of it where it reads like code. A
// fence that is not closed goes on to the end, as in an answer that was cut short.
func extractCode(text []byte) []byte {
	var code []byte
	var fence []byte // that is open
	fenced := false
	for line := range bytes.Lines(text) {
		mark := fenceOf(line)
		switch {
		case fence == nil && mark != nil:
			fence, fenced = mark, true
		case fence != nil && len(mark) >= len(fence) && mark[0] == fence[0] && len(bytes.TrimSpace(line)) == len(mark):
			fence = nil
		case fence != nil:
			code = append(code, line...)
		}
	}
	if !fenced && looksLikeCode(text) {
		return text
	}
	return code
}

// fenceOf returns the run of ``` or ~~~ at the beginning of a line, nil without one.
func fenceOf(line []byte) []byte {
	line = bytes.TrimLeft(line, " \t")
	n := 0
	for n < len(line) && line[n] == line[0] && (line[0] == '`' || line[0] == '~') {
		n++
	}
	if n < 3 {
		return nil
	}
	return line[:n]
}

// looksLikeCode reports whether at least half of the lines end as those of code do.
func looksLikeCode(text []byte) bool {
	lines, code := 0, 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		lines++
		if bytes.IndexByte([]byte(";{}"), line[len(line)-1]) >= 0 || line[0] == '#' &&
			bytes.Contains(line, []byte("include")) {
			code++
		}
	}
	return lines > 1 && code*2 >= lines
}
