package pairs

import (
	"flag"
	"regexp"
	"strings"
	"testing"
)

var only = flag.String("only", "", "of bugs of gateways, plant those alone whose names have this in them")

const gatewaysTable = "testdata/planted-gateways.txt"

// gathered are the tests of several gateways: of what they tell each other, of a gateway's part in it, and of whole
// ones over real stores. What the first do not catch is for the next.
var gathered = []suite{
	{"./routing/peers", []string{"-test.timeout", "2m", "-test.failfast"}, failing},
	{"./app/peering", []string{"-test.timeout", "3m", "-test.failfast"}, failing},
	{"./app", []string{"-test.timeout", "4m", "-test.failfast", "-test.run", "Gateway|WhatIsRoutedWhere|APartition"},
		failing},
}

// failing matches what a test binary says of a test that fails, or that it ended in.
var failing = regexp.MustCompile(`(?:--- FAIL: |running tests:\n\t)(Test\w+)`)

func TestEveryBugOfTheGatewaysTableCanBePlanted(t *testing.T) { sources(t, bugs(t, gatewaysTable)) }

// TestPlantedBugsOfGatewaysAreCaught is TestPlantedBugsAreCaught for several gateways.
func TestPlantedBugsOfGatewaysAreCaught(t *testing.T) {
	if !*plant {
		t.Skip("for make planted alone: some minutes")
	}
	var left []bug
	for _, b := range bugs(t, gatewaysTable) {
		if strings.Contains(b.name, *only) {
			left = append(left, b)
		}
	}
	for _, s := range gathered {
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
}
