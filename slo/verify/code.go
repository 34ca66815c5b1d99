package verify

import (
	"slices"
	"strings"
)

// Code returns the longest fenced block of an answer that is in one of the languages, or "" without one. A
// fence that is never closed ends with the answer. Blocks without a language count only where no block names one.
func Code(answer string, languages []string) string {
	named, bare := "", ""
	for rest := answer; ; {
		language, block, after, ok := nextBlock(rest)
		if !ok {
			break
		}
		rest = after
		switch {
		case language == "":
			bare = longer(bare, block)
		case slices.Contains(languages, strings.ToLower(language)):
			named = longer(named, block)
		}
	}
	if named == "" {
		return bare
	}
	return named
}

func longer(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}

// nextBlock finds the next fence of three or more backticks at the start of a line.
func nextBlock(text string) (language, block, after string, ok bool) {
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		if ticks := fence(line); ticks >= 3 {
			opened := strings.TrimLeft(line, " ")[ticks:]
			language, _, _ = strings.Cut(strings.TrimSpace(opened), " ")
			block, after = untilFence(rest, ticks)
			return language, block, after, true
		}
	}
	return "", "", "", false
}

// fence counts the backticks that a line begins with, after at most three spaces.
func fence(line string) int {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 {
		return 0
	}
	return len(trimmed) - len(strings.TrimLeft(trimmed, "`"))
}

func untilFence(text string, ticks int) (block, after string) {
	for at := 0; at < len(text); {
		line, _, more := strings.Cut(text[at:], "\n")
		end := at + len(line)
		if more {
			end++
		}
		if fence(line) >= ticks && strings.Trim(line, " `\r") == "" {
			return text[:at], text[end:]
		}
		at = end
	}
	return text, ""
}
