package bpe

import (
	"errors"
	"fmt"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Sentinels of Read.
var (
	ErrFormat      = errors.New("bpe: not a tokenizer.json")
	ErrUnsupported = errors.New("bpe: unsupported tokenizer")
)

// maxFile bounds a tokenizer.json, in bytes; the largest in use are about 35 MB.
const maxFile = 128 << 20

// file is the part of a tokenizer.json that decides about ids.
type file struct {
	Added        addedEntries   `json:"added_tokens"`
	Normalizer   component      `json:"normalizer"`
	PreTokenizer component      `json:"pre_tokenizer"`
	Post         component      `json:"post_processor"`
	Model        modelEntry     `json:"model"`
	Truncation   jsontext.Value `json:"truncation"`
	Padding      jsontext.Value `json:"padding"`
}

type addedEntry struct {
	ID         uint32 `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

type modelEntry struct {
	Type         string            `json:"type"`
	Vocab        map[string]uint32 `json:"vocab"`
	Merges       []rule            `json:"merges"`
	Unknown      *string           `json:"unk_token"`
	FuseUnknown  bool              `json:"fuse_unk"`
	ByteFallback bool              `json:"byte_fallback"`
	IgnoreMerges bool              `json:"ignore_merges"`
	Dropout      *float64          `json:"dropout"`
	Prefix       *string           `json:"continuing_subword_prefix"`
	Suffix       *string           `json:"end_of_word_suffix"`
}

// component is a normalizer, pre-tokenizer or post-processor of any type.
type component struct {
	Type           string     `json:"type"`
	Normalizers    components `json:"normalizers"`
	PreTokenizers  components `json:"pretokenizers"`
	Processors     components `json:"processors"`
	Prepend        string     `json:"prepend"`
	Pattern        match      `json:"pattern"`
	Content        string     `json:"content"`
	Behavior       string     `json:"behavior"`
	Invert         bool       `json:"invert"`
	AddPrefixSpace *bool      `json:"add_prefix_space"`
	UseRegex       *bool      `json:"use_regex"`
	Individual     bool       `json:"individual_digits"`
	Replacement    string     `json:"replacement"`
	PrependScheme  string     `json:"prepend_scheme"`
	Split          *bool      `json:"split"`

	Single  []piece                 `json:"single"`
	Special map[string]specialEntry `json:"special_tokens"`
}

type match struct {
	Regex  *string `json:"Regex"`
	String *string `json:"String"`
}

// piece is one part of a TemplateProcessing: a special token, or the text.
type piece struct {
	SpecialToken *struct {
		ID string `json:"id"`
	} `json:"SpecialToken"`
	Sequence *struct {
		ID string `json:"id"`
	} `json:"Sequence"`
}

type specialEntry struct {
	IDs []uint32 `json:"ids"`
}

// rule is one merge: "left right", or ["left", "right"].
type rule struct{ left, right string }

// UnmarshalJSONFrom takes both forms, by the decoder that reads the file: one of its own for each rule takes many times
// its bytes.
func (r *rule) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var parts []string
	if d.PeekKind() == '[' {
		var err error
		if parts, err = readList[string](d, 2); err != nil {
			return err
		}
	} else {
		var line string
		if err := json.UnmarshalDecode(d, &line); err != nil {
			return err
		}
		for i := 1; i < len(line)-1; i++ {
			if line[i] == ' ' {
				parts = []string{line[:i], line[i+1:]}
				break
			}
		}
	}
	if len(parts) != 2 {
		return errors.New("not a merge of two tokens")
	}
	r.left, r.right = parts[0], parts[1]
	return nil
}

// Load reads the tokenizer.json at path. The error names the path.
func Load(path string) (*Tokenizer, error) {
	text, err := ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	t, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ReadFile returns what is in a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	about, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !about.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w: not a file", path, ErrFormat)
	case about.Size() > limit:
		return nil, fmt.Errorf("%s: %w: %d bytes, of at most %d", path, ErrFormat, about.Size(), limit)
	}
	return os.ReadFile(path)
}

// Parse reads the text of a tokenizer.json. It returns ErrFormat for any other text, and ErrUnsupported for one whose
// ids would not be exact.
func Parse(text []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(text, &f, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return build(&f)
}
