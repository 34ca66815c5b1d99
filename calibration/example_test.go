package calibration_test

import (
	"fmt"

	"octet/calibration"
)

func ExampleRules_Compare() {
	rules := calibration.RulesFor("review", calibration.Tolerance{Text: 0.5, Code: 0.25})
	c := rules.Compare(
		calibration.Answer{Text: []byte("Fine work. LGTM.")},
		calibration.Answer{Text: []byte("The lock is not held here: I request changes.")},
	)
	fmt.Println(c.Class, c.Method)
	// Output: shadow_stricter verdict
}
