package bpe

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// tiktokenFile is a tokenizer.json with the vocabulary of a tiktoken encoding, converted as Hugging Face does: the
// ranks become merges of the two parts that each token is made of when only the ranks before it are known.
func tiktokenFile(tb testing.TB, codec tokenizer.Codec, size uint, regex string) []byte {
	tb.Helper()
	vocab, ranks := map[string]uint32{}, map[string]int{}
	var order []string
	for id := range size {
		text, err := codec.Decode([]uint{id})
		if err != nil || text == "" {
			continue
		}
		ranks[text] = int(id)
		order = append(order, text)
		vocab[inAlphabet(text)] = uint32(id)
	}
	var rules [][2]string
	for _, text := range order {
		if parts := partsBelow(text, ranks); len(parts) == 2 {
			rules = append(rules, [2]string{inAlphabet(parts[0]), inAlphabet(parts[1])})
		}
	}
	return []byte(strings.Replace(string(tokenizerJSON(vocab, rules)), jsonQuote(smallRegex), jsonQuote(regex), 1))
}

func inAlphabet(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		out.WriteRune(alphabet[b])
	}
	return out.String()
}

func jsonQuote(s string) string { return `"` + strings.ReplaceAll(s, `\`, `\\`) + `"` }

// partsBelow merges text by ranks up to, and not with, its own.
func partsBelow(text string, ranks map[string]int) []string {
	parts := strings.Split(text, "")
	if len(parts) != len(text) { // bytes, not characters
		parts = parts[:0]
		for i := range len(text) {
			parts = append(parts, text[i:i+1])
		}
	}
	for {
		at, least := -1, ranks[text]
		for i := range len(parts) - 1 {
			if rank, ok := ranks[parts[i]+parts[i+1]]; ok && rank < least {
				at, least = i, rank
			}
		}
		if at < 0 {
			return parts
		}
		parts = slices.Replace(parts, at, at+2, parts[at]+parts[at+1])
	}
}

// With a vocabulary of a hundred thousand tokens and the pattern of GPT-4, the ids are tiktoken's.
func TestIDsAreTiktokens(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a tokenizer.json of 100,000 tokens")
	}
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		t.Fatal(err)
	}
	regex := strings.Replace(smallRegex, `\p{N}|`, `\p{N}{1,3}|`, 1)
	ours, err := Parse(tiktokenFile(t, codec, 100256, regex))
	if err != nil {
		t.Fatal(err)
	}
	ours.normalizer = normalizer{} // tiktoken normalises nothing
	all := append([]string{string(prose(t, 60<<10))}, texts...)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		text := []rune(texts[rng.IntN(len(texts))] + texts[rng.IntN(len(texts))])
		slices.SortStableFunc(text, func(a, b rune) int { return cmp.Compare(rng.IntN(5), 2) })
		all = append(all, string(text))
	}
	for _, text := range all {
		if strings.Contains(text, "<|") || strings.ContainsRune(text, 'ſ') {
			continue // specials are another set, and a long s is not folded there
		}
		want, _, err := codec.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		got := ours.Encode(nil, []byte(text), Start)
		if !slices.EqualFunc(got, want, func(a uint32, b uint) bool { return uint(a) == b }) {
			t.Errorf("%.80q: got %v, want %v", text, got[:min(20, len(got))], want[:min(20, len(want))])
		}
	}
}
