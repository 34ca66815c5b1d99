// Package bpe turns text into the token ids of a model whose tokenizer is a Hugging Face tokenizer.json: byte-level BPE
// with the splitting patterns of GPT-2, Llama 3, Qwen, o200k and Tekken, and the BPE of SentencePiece with byte
// fallback.
//
//	text ──added tokens──▶ segments ──normalizer──▶ segments ──pattern──▶ words ──merges──▶ ids
//	       added.go                   normalize.go             scan.go          words.go, merge.go, stretches.go
//
// Invariants:
//
//  1. The ids are those of Hugging Face's tokenizers for the same file, for every text; a file of which this is not
//     known is refused when it is read.
//  2. Encoding a text up to a Cut, and then the rest in the place that Cut says, gives the ids of the whole.
//  3. Cost is n log n in the length of the longest word and linear in everything else, whatever the text.
//  4. A Tokenizer does not change once it is read: any number of goroutines may use it.
package bpe
