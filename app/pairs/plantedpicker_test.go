package pairs

import "testing"

const pickerTable = "testdata/planted-picker.txt"

// picking are the tests of the endpoint picker: a proxy is one that they play themselves, which is no bubble's.
// A test that waits for ever under a bug catches it: without one all are over in a fraction of the time.
var picking = suite{"./app", []string{"-test.timeout", "2m", "-test.failfast", "-test.run",
	"Prox|Picker|RefusedIsAnsweredAtOnce|Refusal|Offered|EnginesFailure|ClientThatLeavesFrees|FailsWithGoesOn|" +
		"DeathsAndNoClient|PassedOn|KeptAreBounded|DrainsIsNoDestination"},
	failing}

func TestEveryBugOfThePickersTableCanBePlanted(t *testing.T) { sources(t, bugs(t, pickerTable)) }

// TestPlantedBugsOfThePickerAreCaught is TestPlantedBugsAreCaught for the endpoint picker.
func TestPlantedBugsOfThePickerAreCaught(t *testing.T) {
	if !*plant {
		t.Skip("for make planted alone: a minute")
	}
	all := bugs(t, pickerTable)
	for i, by := range picking.catch(t, all) {
		if by == "" {
			t.Errorf("%s: it is not caught", all[i].name)
		}
	}
}
