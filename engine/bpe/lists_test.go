package bpe

import (
	"errors"
	"strings"
	"testing"

	"octet/internal/allocs"
)

// parseAllowed is what reading a file of that many bytes may allocate, beside the tables that all tokenizers have.
func parseAllowed(bytes int) uint64 { return 100*uint64(bytes) + 8<<20 }

//nolint:lll // raw text that cannot be broken
func TestAFileAllocatesByItsBytes(t *testing.T) {
	const level = `"pre_tokenizer":{"type":"ByteLevel"},`
	for name, text := range map[string]string{
		"components": `{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{}` + strings.Repeat(",{}",
			200_000) + `]}}`,
		"normalizers":  `{"normalizer":{"type":"Sequence","normalizers":[{}` + strings.Repeat(",{}", 200_000) + `]}}`,
		"added tokens": `{"added_tokens":[{}` + strings.Repeat(",{}", 400_000) + `]}`,
		"pieces": `{"post_processor":{"type":"TemplateProcessing","single":[{}` + strings.Repeat(",{}",
			400_000) + `]}}`,
		"merges": `{` + level + `"model":{"type":"BPE","vocab":{"a":0},"merges":["a a"` + strings.Repeat(`,"a a"`,
			200_000) + `]}}`,
		"large ids": `{"added_tokens":[{"id":2147483647,"content":"x"}],` + level +
			`"model":{"type":"BPE","vocab":{"a":2147483646},"merges":[]}}`,
		"deep": strings.Repeat(`{"normalizer":`, 9000) + "{}" + strings.Repeat("}", 9000),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if got := allocs.Least(func() { _, err = Parse([]byte(text)) }); got > parseAllowed(len(text)) {
				t.Errorf("%d bytes made %d, %.1f times as many (%.100v)", len(text), got,
					float64(got)/float64(len(text)), err)
			}
		})
	}
	if _, err := Parse([]byte(`{"added_tokens":[{}` + strings.Repeat(",{}", maxAdded) + `]}`)); !errors.Is(err, ErrFormat) {
		t.Errorf("too many added tokens: %v", err)
	}
}

func FuzzFilesAllocateByTheirBytes(f *testing.F) {
	for _, file := range sentenceFiles {
		f.Add([]byte(file))
	}
	f.Add(trained([]byte("the hat the cat sat on the mat"), 20))
	f.Fuzz(func(t *testing.T, file []byte) {
		if got := allocs.Least(func() { _, _ = Parse(file) }); got > parseAllowed(len(file)) {
			t.Errorf("%d bytes made %d", len(file), got)
		}
	})
}
