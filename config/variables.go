package config

import (
	"strings"
)

// environment reads NAME=value pairs; of two with one name the last stands.
func environment(pairs []string) map[string]string {
	variables := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			variables[name] = value
		}
	}
	return variables
}

// expand replaces every ${NAME} in text by the variable's value, once: values are not expanded again. "$${" stands for
// a literal "${"; a "$" that no "{" follows is text.
func (d *decoder) expand(text string) (string, *problem) {
	var out strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		if at > 0 && text[at-1] == '$' {
			out.WriteString(text[:at-1])
			out.WriteString("${")
			text = text[at+2:]
			continue
		}
		name, rest, closed := strings.Cut(text[at+2:], "}")
		if !closed || !variableName(name) {
			return "", wrong(CodeBadVariable, "%q is not ${NAME}; a literal \"${\" is written \"$${\"", clip(text[at:]))
		}
		value, set := d.variables[name]
		if !set {
			return "", wrong(CodeUnsetVariable, "${%s} is not set in the environment", clip(name))
		}
		out.WriteString(text[:at])
		out.WriteString(value)
		text = rest
	}
}

func variableName(name string) bool {
	for i := range len(name) {
		if name[i] != '_' && !letterOrDigit(name[i]) || i == 0 && name[i] >= '0' && name[i] <= '9' {
			return false
		}
	}
	return name != ""
}
