package receipt

import (
	"testing"
	"time"
)

// An answer is of the weights that gave all of it; of none in particular if two have given parts.
func TestAnAnswersWeightsAreThoseThatGaveIt(t *testing.T) {
	at := func(specialist, revision, outcome string) Attempt {
		return Attempt{Specialist: specialist, Revision: revision, Outcome: outcome}
	}
	for what, c := range map[string]struct {
		attempts  []Attempt
		continued int
		want      string
	}{
		"none":                              {nil, 0, ""},
		"one":                               {[]Attempt{at("a", "1", OK)}, 0, "1"},
		"a retry":                           {[]Attempt{at("a", "1", "upstream_reset"), at("a", "2", OK)}, 0, "2"},
		"continued":                         {[]Attempt{at("a", "1", "upstream_reset"), at("a", "2", OK)}, 1, Mixed},
		"continued by the same":             {[]Attempt{at("a", "2", "upstream_reset"), at("a", "2", OK)}, 1, "2"},
		"continued by one that tells none":  {[]Attempt{at("a", "1", "upstream_reset"), at("a", "", OK)}, 1, Mixed},
		"a step before it":                  {[]Attempt{at("a", "1", OK), at("a", "2", OK)}, 0, Mixed},
		"a step of one that tells none":     {[]Attempt{at("a", "", OK), at("a", "2", OK)}, 0, "2"},
		"a step that failed":                {[]Attempt{at("a", "1", "upstream_reset"), at("a", "2", OK)}, 0, "2"},
		"another specialist's step":         {[]Attempt{at("b", "1", OK), at("a", "2", OK)}, 0, "2"},
		"another specialist was tried once": {[]Attempt{at("b", "1", "queue_full"), at("a", "2", OK)}, 0, "2"},
		"a turn of two":                     {[]Attempt{at("a", Mixed, OK)}, 0, Mixed},
	} {
		r := &Receipt{Attempts: c.attempts, Result: Result{Specialist: "a", Continued: c.continued}}
		if got := r.Revision(); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// A turn is of the weights that were there when it was given its place; of none in particular if others were there when
// it was given one again, or when it ended.
func TestATurnsWeightsAreThoseOfItsPlace(t *testing.T) {
	for what, c := range map[string]struct {
		placed []string
		ended  string
		want   string
	}{
		"no place":                 {nil, "2", "0"},
		"after a wait":             {[]string{"1"}, "1", "1"},
		"known too late":           {[]string{""}, "1", ""},
		"not known any more":       {[]string{"1"}, "", "1"},
		"preempted":                {[]string{"1", "1"}, "1", "1"},
		"preempted, then another":  {[]string{"1", "2"}, "2", Mixed},
		"another while it ran":     {[]string{"1"}, "2", Mixed},
		"there and back meanwhile": {[]string{"1", "2", "1"}, "1", Mixed},
	} {
		d := new(Draft)
		d.Open("q", "chat", time.Now(), Asked{})
		at := d.Attempt("a", "", "a-0", 0, 0)
		at.Weights("0")
		for _, revision := range c.placed {
			at.Placed(revision)
		}
		if at.Served(c.ended); at.Revision != c.want {
			t.Errorf("%s: %q, want %q", what, at.Revision, c.want)
		}
	}
}
