package classifier_test

import (
	"fmt"

	"octet/classifier"
)

func ExampleCascade_Classify() {
	c, err := classifier.New(classifier.Config{
		Specialists: []string{"template", "build", "debug", "algo"},
		Fallback:    "algo",
		Detectors:   true,
		Intents:     map[string]classifier.IntentConfig{"build-fix": {Specialist: "build"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	crash := []byte(
		"(gdb) bt\n#0  0x00007f in raise () from /lib/libc.so.6\n#1  0x0000555 in drain (q=0x0) at queue.cpp:88\n")
	for _, in := range []classifier.Input{
		{Model: "template", Text: crash},
		{Intent: "build-fix", Text: crash},
		{Model: classifier.Routed, Text: crash},
		{Text: []byte("sort a list of names")},
	} {
		v, err := c.Classify(in)
		fmt.Println(v.Specialist, "by", v.RoutedBy, v.Cues, err)
	}
	// Output:
	// template by model [] <nil>
	// build by intent [] <nil>
	// debug by detector [debugger ×1 stack-frame ×2] <nil>
	// algo by fallback [] <nil>
}
