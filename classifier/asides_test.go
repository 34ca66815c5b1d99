package classifier

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What agents put around a question is not read: a short question behind it is not taken for what they say, and a turn
// of it alone is passed over.
func TestAsidesAreNotRead(t *testing.T) {
	const machine = "<environment_context>\n  <cwd>/src</cwd>\n  <shell>bash</shell>\n</environment_context>"
	for name, row := range map[string]struct {
		turns []Turn
		want  string
	}{
		"a turn of its own": {[]Turn{{"user", []byte(machine)}, {"user", []byte("why?")}}, "why?"},
		"ahead":             {[]Turn{{"user", []byte("<system-reminder>\nbrief\n</system-reminder>\nwhy?")}}, "why?"},
		"on both sides": {[]Turn{{"user", []byte(machine + machine + "why?\n" + machine + " and how?\n" + machine)}},
			"and how?\n\nwhy?"},
		"only":          {[]Turn{{"user", []byte(machine)}}, ""},
		"with a member": {[]Turn{{"user", []byte(`<user_info os="linux">x</user_info> why?`)}}, "why?"},
		"not closed": {[]Turn{{"user", []byte("<system-reminder>\nwhy?\n<system-reminder> more")}},
			"<system-reminder>\nwhy?\n<system-reminder> more"},
		"within a line": {[]Turn{{"user", []byte("what is <user_info>x</user_info>?")}},
			"what is <user_info>x</user_info>?"},
		"another name": {[]Turn{{"user", []byte("<user_information>x</user_information>")}},
			"<user_information>x</user_information>"},
		"of one's own":   {[]Turn{{"user", []byte("<house-rules>x</house-rules>why?")}}, "why?"},
		"what tools say": {[]Turn{{"user", []byte("why?")}, {"tool", []byte(machine)}}, machine + "\n\nwhy?"},
	} {
		in := Input{Turns: row.turns, asides: append(KnownAsides[:len(KnownAsides):len(KnownAsides)], "house-rules")}
		if got := string(in.gather()); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func FuzzAsides(f *testing.F) { f.Fuzz(rapid.MakeFuzz(asides)) }

func TestAsidesByTheOracle(t *testing.T) { rapid.Check(t, asides) }

// asides compares with a regular expression that is tried from every place in turn.
func asides(t *rapid.T) {
	names := Asides{"ab", "a", "b-c"}
	text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"<ab>", "</ab>", "<a>", "</a>", "<b-c x>", "</b-c>",
		"\n", " ", "why", "<", ">", "<abc>", "<a"})).Draw(t, "text"), "")
	begins := regexp.MustCompile(`(^|[\n>])[ \t]*$`)
	opens := regexp.MustCompile(`^<(ab|a|b-c)[> ]`)
	var want []string
	from, found := 0, false
	for at := 0; at < len(text); at++ {
		m := opens.FindStringSubmatch(text[at:])
		if m == nil || !begins.MatchString(text[:at]) {
			continue
		}
		_, behind, closed := strings.Cut(text[at:], "</"+m[1]+">")
		if !closed {
			continue
		}
		want, found = append(want, strings.TrimSpace(text[from:at])), true
		from = len(text) - len(behind)
		at = from - 1
	}
	want = append(want, strings.TrimSpace(text[from:]))
	if !found {
		want = []string{text}
	}
	var kept []string
	for _, w := range want {
		if w != "" || !found {
			kept = append(kept, w)
		}
	}
	got := names.without(nil, []byte(text))
	if string(bytes.Join(got, []byte("|"))) != strings.Join(kept, "|") {
		t.Fatalf("%q: %q, want %q", text, got, kept)
	}
}
