package bpe

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// overlapping is a byte-level tokenizer whose added tokens are parts of each other, begin as others end, and take white
// space along.
//
//nolint:lll // raw text that cannot be broken
const overlapping = `{"added_tokens":[
	{"id":300,"content":"<a>","special":true,"normalized":false},{"id":301,"content":"<a>b","special":true,"normalized":false},
	{"id":302,"content":"b<a","special":true,"normalized":false},{"id":303,"content":"aba","special":true,"normalized":false},
	{"id":304,"content":">>","special":true,"normalized":false,"rstrip":true},{"id":305,"content":"=","special":true,"normalized":false,"lstrip":true},
	{"id":308,"content":"(y)","special":true,"normalized":false},{"id":309,"content":"k(","special":true,"normalized":false},
	{"id":306,"content":"[x]","special":true,"normalized":false},{"id":307,"content":"bb","special":false,"normalized":true}],
	"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true},
	"model":{"type":"BPE","vocab":{"a":0,"b":1,"<":2,">":3,"=":4,"[":5,"x":6,"]":7,"Ġ":8,"Ġa":9,"ab":10,"Ġab":11,"xx":12,"Ċ":13,"1":14,
	"(":15,"y":16,")":17,"k":18,"))":19},"merges":["Ġ a","a b","Ġa b","x x",") )"]}}`

// cutters are tokenizers of every kind.
//
//nolint:lll // raw text that cannot be broken
func cutters(tb testing.TB) (all []*Tokenizer) {
	fast, _ := small(tb)
	all = append(all, fast)
	digits := strings.Replace(overlapping, `{"type":"ByteLevel","add_prefix_space":true}`,
		`{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},{"type":"ByteLevel","add_prefix_space":false}]}`, 1)
	for _, file := range append([]string{overlapping, digits}, sentenceFiles...) {
		one, err := Parse([]byte(file))
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// cutAnywhere compares the whole with its parts at the first cut from a place on.
func cutAnywhere(t *testing.T, one *Tokenizer, text []byte, from int) (cut int) {
	t.Helper()
	cut, place := one.Cut(text, from, len(text))
	if cut == 0 {
		return 0
	}
	got := one.Encode(one.Encode(nil, text[:cut], Start), text[cut:], place)
	if want := one.Encode(nil, text, Start); !slices.Equal(got, want) {
		t.Fatalf("%q cut before %q: got %v, want %v", text, text[cut:], got, want)
	}
	return cut
}

// Texts made of what tokens are made of are cut anywhere, and the parts' ids are the whole's.
func TestCutsAreSafeAmongTokensThatOverlap(t *testing.T) {
	parts := []string{"<", "a", ">", "b", "<a>", "<a>b", "b<a", "aba", ">>", "=", "[x]", "k(y)", ")", "(y)", "bb", " ",
		"  ", "\n", "x", "1", "the", "hi", "▁", "<s>", "</s>", "é", "\u00a0", "<|im_end|>"}
	rng := rand.New(rand.NewPCG(8, 9))
	for i, one := range cutters(t) {
		cuts := 0
		for range 20000 {
			var text []byte
			for range 2 + rng.IntN(9) {
				text = append(text, parts[rng.IntN(len(parts))]...)
			}
			if cutAnywhere(t, one, text, 1+rng.IntN(len(text))) > 0 {
				cuts++
			}
		}
		if cuts < 1000 {
			t.Errorf("tokenizer %d: %d cuts", i, cuts)
		}
	}
}

// Whatever a text is and wherever it is cut, the parts' ids are the whole's.
func FuzzCutsAreSafe(f *testing.F) {
	all := cutters(f)
	for _, text := range texts {
		f.Add([]byte(text), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, from int) {
		if len(text) < 2 || len(text) > 3000 {
			return
		}
		for _, one := range all {
			cutAnywhere(t, one, text, 1+(from&0xffff)%(len(text)-1))
		}
	})
}
