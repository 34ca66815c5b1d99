package bpe

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds on the lists of a tokenizer.json whose entries take many times their bytes in memory. With them, reading a
// file allocates by its bytes alone; what its numbers say, ids above all, sizes nothing.
const (
	maxParts = 256     // of one normalizer, pre-tokenizer or post-processor
	maxAdded = 1 << 16 // added tokens
)

// components are at most maxParts.
type components []component

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *components) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = readList[component](d, maxParts)
	return err
}

// addedEntries are at most maxAdded.
type addedEntries []addedEntry

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *addedEntries) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = readList[addedEntry](d, maxAdded)
	return err
}

// readList reads a list of at most so many entries; nil for null.
func readList[T any](d *jsontext.Decoder, most int) (list []T, err error) {
	open, err := d.ReadToken()
	if err != nil || open.Kind() == 'n' {
		return nil, err
	}
	if open.Kind() != '[' {
		return nil, fmt.Errorf("a %v where a list is wanted", open.Kind())
	}
	for d.PeekKind() != ']' {
		if len(list) == most {
			return nil, fmt.Errorf("a list of more than %d", most)
		}
		var entry T
		if err := json.UnmarshalDecode(d, &entry); err != nil {
			return nil, err
		}
		list = append(list, entry)
	}
	_, err = d.ReadToken()
	return list, err
}
