package guard

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestAPanicEndsWhatItStruckAndIsReported(t *testing.T) {
	var told []string
	report := Report(func(where string, value any) {
		if !strings.Contains(string(debug.Stack()), "stricken") {
			t.Error("the stack does not show where it was")
		}
		told = append(told, where+" "+value.(string))
	})
	ended := false
	func() {
		defer report.End(Stream, func() { ended = true })
		stricken()
	}()
	report.Do(Watch, stricken)
	report.Do(Watch, func() {})
	Report(nil).Do(Watch, stricken)
	if got := strings.Join(told, ", "); got != "stream oh, watch oh" || !ended {
		t.Errorf("told %q, then %v", got, ended)
	}
}

func stricken() { panic("oh") }
