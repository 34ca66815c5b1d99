package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A command is words; quotes keep spaces, and nothing is expanded.
func TestACommandIsWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                           nil,
		"  ":                         nil,
		"/bin/wake":                  {"/bin/wake"},
		" /bin/wake  a\tb ":          {"/bin/wake", "a", "b"},
		`/bin/wake 'a b' "c 'd'" ""`: {"/bin/wake", "a b", "c 'd'", ""},
		`a"b c"d`:                    {"ab cd"},
		`$HOME *; rm \x`:             {"$HOME", "*;", "rm", `\x`},
	} {
		if got := (&Wake{Command: text}).Argv(); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// The section has defaults, with it and without it; what cannot be is a fault with its line.
func TestTheSectionOfSleepers(t *testing.T) {
	parse := func(section string) (*Config, error) {
		text := "specialists:\n  - name: a\n    replicas: [{url: http://h}]\n" + section
		return Parse("octet.yaml", []byte(text), Options{})
	}
	cfg, err := parse("")
	if err != nil || cfg.Specialists[0].Sleep != nil || cfg.Specialists[0].Sleeping().Hold != time.Minute {
		t.Errorf("%v: %+v", err, cfg)
	}
	cfg, err = parse("    sleep: {after: 10m, wake: {path: /rise}}\n")
	if s := cfg.Specialists[0].Sleeping(); err != nil || s != (Sleep{Hold: time.Minute, After: 10 * time.Minute,
		Wake: Wake{Path: "/rise", Timeout: time.Minute}}) {
		t.Errorf("%v: %+v", err, s)
	}
	for section, words := range map[string]string{
		"    sleep: {hold: -1s}\n":                      "hold",
		"    sleep: {hold: 2h}\n":                       "hold",
		"    sleep: {wake: {timeout: 0s}}\n":            "timeout",
		"    sleep: {wake: {path: rise}}\n":             "path",
		"    sleep: {wake: {command: \"/bin/x 'a\"}}\n": "not closed",
		"    sleep: {wakes: {}}\n":                      "wakes",
	} {
		if _, err := parse(section); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", section, err)
		}
	}
}
