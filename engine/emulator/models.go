package emulator

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
)

// modelCard is one entry of /v1/models.
type modelCard struct {
	ID      string  `json:"id"`
	Object  string  `json:"object"`
	Created int64   `json:"created"`
	OwnedBy string  `json:"owned_by"`
	Root    string  `json:"root"`
	Parent  *string `json:"parent"`
	MaxLen  *int    `json:"max_model_len"`
}

// listModels answers with the base model and, with it as parent, each loaded adapter.
func (e *Emulator) listModels(w http.ResponseWriter, _ *http.Request) {
	base := modelCard{ID: e.cfg.Model, Object: "model", Created: e.started.Unix(), OwnedBy: "octet", Root: e.cfg.Model, MaxLen: &e.cfg.MaxModelLen}
	cards := []modelCard{base}
	for _, l := range e.shelf.list() {
		cards = append(cards, modelCard{ID: l.name, Object: "model", Created: l.since.Unix(), OwnedBy: "octet", Root: l.path, Parent: &e.cfg.Model})
	}
	writeJSON(w, http.StatusOK, mustJSON(map[string]any{"object": "list", "data": cards}))
}

// tokenizeBody is what /tokenize takes: a prompt, or messages that are rendered as for a chat request.
type tokenizeBody struct {
	body
	Prompt *string `json:"prompt"`
}

// tokens is what /tokenize answers.
type tokens struct {
	Count  int            `json:"count"`
	MaxLen int            `json:"max_model_len"`
	Tokens []uint32       `json:"tokens"`
	Strs   jsontext.Value `json:"token_strs"`
}

// tokenize answers with the very token ids that a request with this prompt or these messages is computed as.
func (e *Emulator) tokenize(w http.ResponseWriter, r *http.Request) {
	var b tokenizeBody
	if err := readBody(r, &b); err != nil {
		writeProblem(w, err)
		return
	}
	var text []byte
	switch {
	case b.Prompt != nil:
		text = []byte(*b.Prompt)
	case len(b.Messages) > 0:
		messages, ending := b.chat()
		text = engine.RenderChat(nil, messages, ending)
	default:
		writeProblem(w, badRequest("prompt", "either prompt or messages must be given."))
		return
	}
	ids := engine.Tokenize([]uint32{}, text)
	writeJSON(w, http.StatusOK, mustJSON(tokens{len(ids), e.cfg.MaxModelLen, ids, jsontext.Value("null")}))
}

// detokenize refuses: a token id is a hash of its text, and a hash has no way back.
func (e *Emulator) detokenize(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, &problem{
		Message: "This model's tokenizer is one-way: token ids are hashes of their text and cannot be detokenized.",
		Type:    "NotImplementedError", Code: http.StatusNotImplemented,
	})
}
