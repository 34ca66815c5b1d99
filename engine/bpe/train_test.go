package bpe

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/octet.json anew")

// smallFile is a tokenizer of our own, in the manner of Qwen: trained on the text of this project's documents and
// config.
const smallFile = "testdata/octet.json"

//nolint:lll // raw text that cannot be broken
const smallRegex = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// TestSmallTokenizerIsWellFormed reads the committed tokenizer; with -update it trains it first.
func TestSmallTokenizerIsWellFormed(t *testing.T) {
	if *update {
		var corpus []byte
		for _, pattern := range []string{"../../*.md", "../../config/*.yaml", "../../scheduler/*.go",
			"../../gateway/*.go", "../emulator/prose/*.txt"} {
			files, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				corpus = append(corpus, text...)
			}
		}
		if err := os.WriteFile(smallFile, trained(corpus, 3000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	small, err := Load(smallFile)
	if err != nil {
		t.Fatal(err)
	}
	about, err := os.Stat(smallFile)
	if err != nil || about.Size() > 200<<10 {
		t.Errorf("%v: %d bytes", err, about.Size())
	}
	if small.Size() < 2000 {
		t.Errorf("%d tokens", small.Size())
	}
}

// trained returns a tokenizer.json whose merges are the most frequent pairs of the corpus, one after the other.
func trained(corpus []byte, rounds int) []byte {
	p := patterns[smallRegex]
	counts := map[string]int{}
	for len(corpus) > 0 {
		n := p.word(classTables(), corpus)
		counts[string(corpus[:n])]++
		corpus = corpus[n:]
	}
	type word struct {
		parts []string
		count int
	}
	var words []word
	for text, count := range counts {
		var parts []string
		for _, b := range []byte(text) {
			parts = append(parts, string(alphabet[b]))
		}
		words = append(words, word{parts, count})
	}
	vocab := map[string]uint32{}
	for b := range 256 {
		vocab[string(alphabet[b])] = uint32(b)
	}
	var rules [][2]string
	for len(rules) < rounds {
		pairs := map[[2]string]int{}
		for _, w := range words {
			for i := range len(w.parts) - 1 {
				pairs[[2]string{w.parts[i], w.parts[i+1]}] += w.count
			}
		}
		var best [2]string
		for pair, n := range pairs {
			if c := cmp.Compare(n, pairs[best]); c > 0 || c == 0 && slices.Compare(pair[:], best[:]) < 0 {
				best = pair
			}
		}
		if pairs[best] < 2 {
			break
		}
		rules = append(rules, best)
		if _, known := vocab[best[0]+best[1]]; !known {
			vocab[best[0]+best[1]] = uint32(len(vocab))
		}
		for i := range words {
			words[i].parts = joined(words[i].parts, best)
		}
	}
	return tokenizerJSON(vocab, rules)
}

// joined replaces each pair in parts, from the left.
func joined(parts []string, pair [2]string) []string {
	out := parts[:0]
	for i := 0; i < len(parts); i++ {
		if i+1 < len(parts) && parts[i] == pair[0] && parts[i+1] == pair[1] {
			out = append(out, pair[0]+pair[1])
			i++
			continue
		}
		out = append(out, parts[i])
	}
	return out
}

// tokenizerJSON writes a byte-level tokenizer with ChatML's tokens.
func tokenizerJSON(vocab map[string]uint32, rules [][2]string) []byte {
	type entry map[string]any
	merges := make([]string, len(rules))
	for i, r := range rules {
		merges[i] = r[0] + " " + r[1]
	}
	var specials []entry
	for i, content := range []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"} {
		specials = append(specials,
			entry{"id": len(vocab) + i, "content": content, "special": true, "single_word": false, "lstrip": false,
				"rstrip": false, "normalized": false})
	}
	level := entry{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(entry{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": specials,
		"normalizer": entry{"type": "NFC"},
		"pre_tokenizer": entry{"type": "Sequence", "pretokenizers": []entry{
			{"type": "Split", "pattern": entry{"Regex": smallRegex}, "behavior": "Isolated", "invert": false}, level,
		}},
		"post_processor": level, "decoder": level,
		"model": entry{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": "",
			"end_of_word_suffix": "",
			"fuse_unk":           false, "byte_fallback": false, "ignore_merges": false, "vocab": vocab,
			"merges": merges},
	})
	return []byte(out.String())
}
