package bpe

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// oracle is a tokenizer that does by the letter what the file says: a real regular expression, and the lowest merge
// looked for anew after every merge, over strings.
type oracle struct {
	regex    *regexp2.Regexp
	ranks    map[[2]string]int
	vocab    map[string]uint32
	specials map[string]uint32
	ignore   bool
}

func newOracle(tb testing.TB, text []byte, regex string) *oracle {
	tb.Helper()
	var f struct {
		Added []struct {
			ID      uint32
			Content string
		} `json:"added_tokens"`
		Model struct {
			Vocab  map[string]uint32
			Merges []string
			Ignore bool `json:"ignore_merges"`
		}
	}
	if err := json.Unmarshal(text, &f); err != nil {
		tb.Fatal(err)
	}
	o := &oracle{regexp2.MustCompile(regex), map[[2]string]int{}, f.Model.Vocab, map[string]uint32{}, f.Model.Ignore}
	for rank, line := range f.Model.Merges {
		left, right, _ := strings.Cut(line, " ")
		o.ranks[[2]string{left, right}] = rank
	}
	for _, a := range f.Added {
		o.specials[a.Content] = a.ID
	}
	return o
}

func (o *oracle) encode(text string) (ids []uint32) {
	for text != "" {
		at, found := len(text), ""
		for content := range o.specials {
			if i := strings.Index(text, content); i >= 0 && (i < at || i == at && len(content) > len(found)) {
				at, found = i, content
			}
		}
		ids = append(ids, o.segment(text[:at])...)
		if found != "" {
			ids = append(ids, o.specials[found])
		}
		text = text[at+len(found):]
	}
	return ids
}

func (o *oracle) segment(text string) (ids []uint32) {
	for _, word := range o.words(text) {
		var parts []string
		for _, b := range []byte(word) {
			parts = append(parts, string(alphabet[b]))
		}
		if id, ok := o.vocab[strings.Join(parts, "")]; ok && o.ignore {
			ids = append(ids, id)
			continue
		}
		for {
			at, least := -1, 0
			for i := range len(parts) - 1 {
				if rank, ok := o.ranks[[2]string{parts[i], parts[i+1]}]; ok && (at < 0 || rank < least) {
					at, least = i, rank
				}
			}
			if at < 0 {
				break
			}
			parts = slices.Replace(parts, at, at+2, parts[at]+parts[at+1])
		}
		for _, p := range parts {
			ids = append(ids, o.vocab[p])
		}
	}
	return ids
}

// words splits by the regular expression; what it does not match would be missing.
func (o *oracle) words(text string) (words []string) {
	for m, err := o.regex.FindStringMatch(text); m != nil; m, err = o.regex.FindNextMatch(m) {
		if err != nil {
			panic(err)
		}
		words = append(words, m.String())
	}
	return words
}

// texts are texts in which the patterns differ.
var texts = []string{
	"", " ", "  ", "\n", " \n ", "\r\n\r\n  x", "a", "it's IT'S we'Ve'll 'S'T 'x '",
	"Hello, world!  How are  you?\n\n\nFine.",
	"1234567 12 3\t4", "x=1;y=22;z=333;w=4444;", "\tif (a[i] <= b->c) { return std::vector<int>{}; }\n",
	"été naïve ÀÉÎ ñ", "漢字かな交じり文。日本語、テキスト",
	"\u00a0nbsp\u3000wide\u2003em", "e\u0301 cafe\u0301 \u0301\u0301x", "ﬁ ﬀ ß ſ 's",
	"CamelCaseHTTPServer fooBar ABCdef", "a//b///c \\n // comment\n/// doc\r\n",
	"👍🏽 emoji 👩‍👩‍👧 🇩🇪", "²³¼ ٣٤٥ १२३ Ⅷ", "ǅungla ǈ ʰ ª º",
	"<|im_start|>user\nhi <|im_end|>\n<|im_start|>assistant\n", "<|im_<|im_end|>|>", "don't  'reLL'd",
	strings.Repeat("a", 300), strings.Repeat("ab ", 100), strings.Repeat("\n", 70), strings.Repeat("=", 200),
	strings.Repeat("x1", 100),
}

// A pattern's scanner finds the words that its regular expression finds.
func TestScannersMatchTheirExpressions(t *testing.T) {
	for regex, p := range patterns {
		o := oracle{regex: regexp2.MustCompile(regex)}
		for _, text := range texts {
			if strings.ContainsRune(text, 'ſ') {
				continue // the oracle does not fold a long s, the tokenizers' expressions do
			}
			if err := sameWords(&o, &p, text); err != nil {
				t.Errorf("%.60s…: %v", regex, err)
			}
		}
	}
}

func sameWords(o *oracle, p *pattern, text string) error {
	var got []string
	for rest := []byte(text); len(rest) > 0; {
		n := p.word(classTables(), rest)
		got = append(got, string(rest[:n]))
		rest = rest[n:]
	}
	if want := o.words(text); !slices.Equal(got, want) {
		return fmt.Errorf("%q: got %q, want %q", text, got, want)
	}
	return nil
}

func FuzzScannersMatchTheirExpressions(f *testing.F) {
	var all []oracle
	var scanners []pattern
	for regex, p := range patterns {
		all, scanners = append(all, oracle{regex: regexp2.MustCompile(regex)}), append(scanners, p)
	}
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 2000 || strings.ContainsRune(text, 'ſ') ||
			strings.ContainsRune(text, utf8.RuneError) {
			return
		}
		for i := range all {
			if err := sameWords(&all[i], &scanners[i], text); err != nil {
				t.Error(err)
			}
		}
	})
}

// small returns the committed tokenizer, and one by the letter.
func small(tb testing.TB) (*Tokenizer, *oracle) {
	tb.Helper()
	text, err := os.ReadFile(smallFile)
	if err != nil {
		tb.Fatal(err)
	}
	fast, err := Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return fast, newOracle(tb, text, smallRegex)
}

func TestEncodingIsByTheLetter(t *testing.T) {
	fast, slow := small(t)
	for _, text := range texts {
		if got, want := fast.Encode(nil, []byte(text), Start), slow.encode(fast.nfc(text)); !slices.Equal(got, want) {
			t.Errorf("%.80q: got %v, want %v", text, got, want)
		}
	}
}

// nfc is text as the normalizer has it.
func (t *Tokenizer) nfc(text string) string {
	return string(t.normalizer.apply(new([]byte), []byte(text), false))
}

func FuzzEncodingIsByTheLetter(f *testing.F) {
	fast, slow := small(f)
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 3000 || strings.ContainsAny(text, "ſ\uFFFD") ||
			fast.nfc(text) != text {
			return
		}
		got := fast.Encode(nil, []byte(text), Start)
		if want := slow.encode(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	})
}

// The ids of a byte-level tokenizer spell the text.
func TestIDsSpellTheText(t *testing.T) {
	fast, _ := small(t)
	for _, text := range texts {
		text = fast.nfc(text)
		var spelled strings.Builder
		for _, id := range fast.Encode(nil, []byte(text), Start) {
			s, ok := fast.Spelling(id)
			if !ok {
				t.Fatalf("%q: no token %d", text, id)
			}
			spelled.WriteString(s)
		}
		if spelled.String() != text {
			t.Errorf("got %q, want %q", spelled.String(), text)
		}
	}
}
