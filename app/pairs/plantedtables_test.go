package pairs

import (
	"flag"
	"regexp"
	"testing"
)

var only = flag.String("only", "", "of bugs of the further tables, plant those alone whose names match this")

// failing matches what a test binary says of a test that fails, or that it ended in.
var failing = regexp.MustCompile(`(?:--- FAIL: |running tests:\n\s+)(Test\w+)`)

// further are the tables of bugs that other tests than this package's are to catch. What a table's first suite does not
// catch is for the next. A test that waits for ever under a bug catches it: without one all are over in a fraction of
// the time.
var further = []struct {
	name, table string
	suites      []suite
}{
	// a proxy is one that the tests play themselves, which is no bubble's
	{"Picker", "testdata/planted-picker.txt", []suite{{"./app", []string{"-test.timeout", "2m", "-test.failfast",
		"-test.run", "Prox|Picker|RefusedIsAnsweredAtOnce|Refusal|Offered|EnginesFailure|ClientThatLeavesFrees|" +
			"FailsWithGoesOn|DeathsAndNoClient|PassedOn|KeptAreBounded|DrainsIsNoDestination"}, failing}}},
	// of what gateways tell each other, of a gateway's part in it, and of whole ones over real stores
	{"Gateways", "testdata/planted-gateways.txt", []suite{
		{"./routing/peers", []string{"-test.timeout", "2m", "-test.failfast"}, failing},
		{"./app/peering", []string{"-test.timeout", "3m", "-test.failfast"}, failing},
		{"./app", []string{"-test.timeout", "4m", "-test.failfast",
			"-test.run", "Gateway|WhatIsRoutedWhere|APartition"}, failing},
	}},
	{"Keys", "testdata/planted-keys.txt", []suite{{"./app", []string{"-test.timeout", "2m", "-test.failfast",
		"-test.run", "WhatHappensToKeys|WhatHappensToTokens"}, failing}}},
}

func TestEveryBugOfTheFurtherTablesCanBePlanted(t *testing.T) {
	for _, f := range further {
		sources(t, bugs(t, f.table))
	}
}

// TestPlantedBugsOfFurtherTablesAreCaught is TestPlantedBugsAreCaught for the further tables.
func TestPlantedBugsOfFurtherTablesAreCaught(t *testing.T) {
	if !*plant {
		t.Skip("for make planted alone: some minutes")
	}
	for _, f := range further {
		t.Run(f.name, func(t *testing.T) {
			var left []bug
			wanted := regexp.MustCompile(*only)
			for _, b := range bugs(t, f.table) {
				if wanted.MatchString(b.name) {
					left = append(left, b)
				}
			}
			for _, s := range f.suites {
				if len(left) == 0 {
					return
				}
				by := s.catch(t, left)
				var missed []bug
				for i, b := range left {
					if by[i] == "" {
						missed = append(missed, b)
					}
				}
				left = missed
			}
			for _, b := range left {
				t.Errorf("%s: it is not caught", b.name)
			}
		})
	}
}
