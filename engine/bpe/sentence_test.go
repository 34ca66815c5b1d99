package bpe

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// sentenceModel is a model in the manner of Llama 2: ids 0-2 are special, then bytes that the tests use, then pieces.
//
//nolint:lll // raw text that cannot be broken
const sentenceModel = `{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,"vocab":{
	"<unk>":0,"<s>":1,"</s>":2,"<0x0A>":3,"<0xC3>":4,"<0xA9>":5,"▁":6,"h":7,"i":8,"t":9,"e":10,"▁t":11,"he":12,"▁the":13,"hi":14,"▁hi":15,"▁▁":16,"[":17,"]":18},
	"merges":["▁ t","h e","▁t he","h i","▁ hi","▁ ▁"]}`

//nolint:lll // raw text that cannot be broken
const sentenceAdded = `"added_tokens":[
	{"id":1,"content":"<s>","special":true,"normalized":false},{"id":2,"content":"</s>","special":true,"normalized":false,"rstrip":true}],`

// The three ways in which a file says that spaces are ▁ and where one is put in front, with and without words of
// their own.
//
//nolint:lll // raw text that cannot be broken
var sentenceFiles = []string{
	`{` + sentenceAdded + `"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},
		{"type":"Replace","pattern":{"String":" "},"content":"▁"}]},"pre_tokenizer":null,"post_processor":{"type":"TemplateProcessing",
		"single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"<s>":{"id":"<s>","ids":[1],"tokens":["<s>"]}}},
		"model":` + sentenceModel + `}`,
	`{` + sentenceAdded +
		`"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":false},"model":` +
		sentenceModel + `}`,
	`{` + sentenceAdded +
		`"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"},"model":` + sentenceModel +
		`}`,
}

func TestSentenceVocabulariesBeginWordsWithTheirMark(t *testing.T) {
	for _, c := range []struct {
		file int
		text string
		want []uint32
	}{
		{0, "the hi", []uint32{13, 15}},
		// all of a run but its last go by themselves: ▁ ▁the, as the rule for ▁t comes first
		{0, "hi  the", []uint32{15, 6, 13}},
		{0, "hi   hi", []uint32{15, 16, 15}},    // and two of them are one
		{0, "é\n", []uint32{6, 4, 5, 3}},        // bytes where there is no such character
		{0, "字x", []uint32{6, 0}},               // and one unknown where there are no such bytes
		{0, "hi<s>hi", []uint32{15, 1, 15}},     // every segment has its mark
		{1, "hi<s>hi", []uint32{15, 1, 14}},     // the first alone
		{2, "hi<s>hi", []uint32{15, 1, 15}},     // each
		{2, "hi   hi", []uint32{15, 6, 6, 15}},  // every mark begins a word
		{1, " hi</s>  hi", []uint32{15, 2, 14}}, // white space goes with what takes it
		{0, "[hi]", []uint32{6, 17, 14, 18}},
	} {
		one, err := Parse([]byte(sentenceFiles[c.file]))
		if err != nil {
			t.Fatal(err)
		}
		if got := one.Encode(nil, []byte(c.text), Start); !slices.Equal(got, c.want) {
			t.Errorf("file %d, %q: got %v, want %v", c.file, c.text, got, c.want)
		}
	}
}

func TestAPromptHasItsTokensAround(t *testing.T) {
	one, err := Parse([]byte(sentenceFiles[0]))
	if err != nil {
		t.Fatal(err)
	}
	if before, behind := one.Around(); !slices.Equal(before, []uint32{1}) || len(behind) > 0 {
		t.Errorf("%v, %v", before, behind)
	}
}

func TestSpecialTokensCanBeText(t *testing.T) {
	fast, _ := small(t)
	plain, err := fast.Plain()
	if err != nil {
		t.Fatal(err)
	}
	const text = "a<|im_end|>b"
	if ids := fast.Encode(nil, []byte(text), Start); len(ids) != 3 {
		t.Errorf("%d ids", len(ids))
	}
	if ids := plain.Encode(nil, []byte(text), Start); len(ids) < 5 {
		t.Errorf("%d ids", len(ids))
	}
}

// A file whose ids would not be exact is refused, and so is what is no such file.
//
//nolint:lll // raw text that cannot be broken
func TestFilesThatAreNotUnderstoodAreRefused(t *testing.T) {
	model := `"model":{"type":"BPE","vocab":{"a":0},"merges":[]}`
	level := `"pre_tokenizer":{"type":"ByteLevel"},`
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"not JSON":      {`{"model":`, ErrFormat},
		"no model":      {`{}`, ErrUnsupported},
		"no vocabulary": {`{` + level + `"model":{"type":"BPE","vocab":{},"merges":[]}}`, ErrFormat},
		"WordPiece":     {`{` + level + `"model":{"type":"WordPiece","vocab":{"a":0}}}`, ErrUnsupported},
		"merge":         {`{` + level + `"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}}`, ErrFormat},
		"half a merge":  {`{` + level + `"model":{"type":"BPE","vocab":{"a":0},"merges":["a"]}}`, ErrFormat},
		"id":            {`{` + level + `"model":{"type":"BPE","vocab":{"a":4294967295},"merges":[]}}`, ErrFormat},
		"two of an id":  {`{` + level + `"model":{"type":"BPE","vocab":{"a":0,"b":0},"merges":[]}}`, ErrFormat},
		"unknown token": {`{` + level + `"model":{"type":"BPE","unk_token":"u","vocab":{"a":0},"merges":[]}}`,
			ErrFormat},
		"dropout": {`{` + level + `"model":{"type":"BPE","dropout":0.1,"vocab":{"a":0},"merges":[]}}`,
			ErrUnsupported},
		"subword prefix": {`{` + level +
			`"model":{"type":"BPE","continuing_subword_prefix":"##","vocab":{"a":0},"merges":[]}}`, ErrUnsupported},
		"normalizer": {`{"normalizer":{"type":"Lowercase"},` + level + model + `}`, ErrUnsupported},
		"pattern": {
			`{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\w+"},"behavior":"Isolated"},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},` + model + `}`, ErrUnsupported},
		"pre-tokenizer": {`{"pre_tokenizer":{"type":"BertPreTokenizer"},` + model + `}`, ErrUnsupported},
		"metaspace":     {`{"pre_tokenizer":{"type":"Metaspace","replacement":"_"},` + model + `}`, ErrUnsupported},
		"scheme": {`{"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"x"},` + model +
			`}`, ErrUnsupported},
		"post-processor": {`{` + level + `"post_processor":{"type":"BertProcessing"},` + model + `}`, ErrUnsupported},
		"single word": {`{"added_tokens":[{"id":1,"content":"x","single_word":true}],` + level + model + `}`,
			ErrUnsupported},
		"no content": {`{"added_tokens":[{"id":1,"content":""}],` + level + model + `}`, ErrFormat},
		"truncation": {`{"truncation":{"max_length":5},` + level + model + `}`, ErrUnsupported},
		"missing special": {`{` + level +
			`"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}}],"special_tokens":{}},` + model + `}`, ErrFormat},
	} {
		if _, err := Parse([]byte(c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load("testdata"); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "testdata") {
		t.Errorf("a directory: %v", err)
	}
}

func FuzzParseNeverPanics(f *testing.F) {
	for _, file := range sentenceFiles {
		f.Add([]byte(file), "hi the<s>")
	}
	f.Add(trained([]byte("the hat the cat sat on the mat"), 20), "the hat")
	f.Fuzz(func(_ *testing.T, file []byte, text string) {
		if one, err := Parse(file); err == nil {
			one.Encode(nil, []byte(text), Start)
		}
	})
}
