package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
)

// Bounds on an engine's answer to a question of ours. Bytes bound what is read, counts what is made of it: reading an
// answer allocates at most 20 times its bytes and a mebibyte, whatever is in it.
const (
	maxAnswer   = 1 << 20  // bytes
	maxTokens   = 32 << 20 // bytes: ids and, where an engine sends them unasked, strings of a million tokens
	maxMetrics  = 8 << 20  // bytes
	maxMessage  = 200      // bytes of an error that are kept
	maxModels   = 2048     // of a list; adapters are among them
	maxIDs      = 1 << 22  // of a tokenized prompt
	maxSeries   = 8 << 10  // of a metrics page: those that are read
	maxAdapters = 4096     // that a metrics page names
)

// readAnswer decodes what an engine has answered. A name that comes twice is no fault: finding those out costs many
// times the answer's bytes where it has many names.
func readAnswer(text []byte, into any) error {
	return json.Unmarshal(text, into, jsontext.AllowDuplicateNames(true))
}

// members visits what is in a JSON object, of which nothing is copied: values are void after the visit. It returns the
// first error of visit, or why text is no object.
func members(text []byte, visit func(name string, value jsontext.Value) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return errors.Join(errNoObject, err)
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String() // before the next read, which voids it
		value, err := d.ReadValue()
		if err == nil {
			err = visit(name, value)
		}
		if err != nil {
			return err
		}
	}
	return closes(d)
}

var errNoObject = errors.New("not an object")

// closes reads the end of the object and makes sure that nothing follows it.
func closes(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("something follows the answer"), err)
	}
	return nil
}

// modelList is a list of at most maxModels models.
type modelList []Model

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *modelList) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	open, err := d.ReadToken()
	if err != nil || open.Kind() == 'n' {
		return err
	}
	if open.Kind() != '[' {
		return errors.New("the models are not a list")
	}
	for d.PeekKind() != ']' {
		if len(*l) == maxModels {
			return fmt.Errorf("%w: more than %d models", engine.ErrTooLarge, maxModels)
		}
		var m Model
		if err := json.UnmarshalDecode(d, &m); err != nil {
			return err
		}
		*l = append(*l, m)
	}
	_, err = d.ReadToken()
	return err
}
