package train

import (
	_ "embed"
	"strings"
)

// CppConcepts is the list of concepts that the model for C++ was trained with.
//
//go:embed cpp.concepts
var CppConcepts string

//go:embed examples.txt
var examples string

const examplesSource = "octet/examples"

// Examples are labelled texts of our own, for labels of which the eight C++ specialists' data has few kinds: other
// languages and other matters for reject, and a few requests as people write them.
func Examples() []Sample {
	var samples []Sample
	for _, part := range strings.Split(examples, "=== ")[1:] {
		label, text, _ := strings.Cut(part, "\n")
		samples = append(samples, Sample{Text: text, Label: label, Source: examplesSource})
	}
	return samples
}
