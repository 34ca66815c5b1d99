package emulator

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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
func (h handlers) listModels(w http.ResponseWriter, _ *http.Request) {
	base := modelCard{ID: h.cfg.Model, Object: "model", Created: h.started.Unix(), OwnedBy: "octet",
		Root: h.weights.Load().path, MaxLen: &h.cfg.MaxModelLen}
	cards := []modelCard{base}
	for _, l := range h.loras.list() {
		cards = append(cards, modelCard{ID: l.name, Object: "model", Created: l.since.Unix(), OwnedBy: "octet",
			Root: l.path, Parent: &h.cfg.Model})
	}
	writeJSON(w, http.StatusOK, mustJSON(map[string]any{"object": "list", "data": cards}))
}

// tokenizeBody is what /tokenize takes: a prompt, or messages that are rendered as for a chat request.
type tokenizeBody struct {
	body
	Prompt     *string `json:"prompt"`
	AddSpecial *bool   `json:"add_special_tokens"`
}

// tokens is what /tokenize answers.
type tokens struct {
	Count  int            `json:"count"`
	MaxLen int            `json:"max_model_len"`
	Tokens []uint32       `json:"tokens"`
	Strs   jsontext.Value `json:"token_strs"`
}

// tokenize answers with the very token ids that a request with this prompt or these messages is computed as.
func (h handlers) tokenize(w http.ResponseWriter, r *http.Request) {
	var b tokenizeBody
	if err := readBody(r, &b); err != nil {
		writeProblem(w, err)
		return
	}
	var text []byte
	var err error
	switch {
	case b.Prompt != nil:
		text = []byte(*b.Prompt)
	case len(b.Messages) > 0:
		text, err = h.codec.chat(&b.body)
	default:
		err = badRequest("prompt", "either prompt or messages must be given.")
	}
	if err != nil {
		writeProblem(w, err)
		return
	}
	ids := h.codec.tokens(text, b.Prompt != nil && (b.AddSpecial == nil || *b.AddSpecial))
	writeJSON(w, http.StatusOK, mustJSON(tokens{len(ids), h.cfg.MaxModelLen, ids, jsontext.Value("null")}))
}

// detokenize answers with the text of token ids. Without a model's tokenizer it refuses: a token id is a hash of its
// text, and a hash has no way back.
func (h handlers) detokenize(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Tokens []uint32 `json:"tokens"`
	}
	if h.cfg.Tokenizer == "" {
		writeProblem(w, &problem{
			Message: "This model's tokenizer is one-way: token ids are hashes of their text and cannot be detokenized.",
			Type:    "NotImplementedError", Code: http.StatusNotImplemented,
		})
		return
	}
	if err := readBody(r, &b); err != nil {
		writeProblem(w, err)
		return
	}
	text, ok := h.codec.spelling(b.Tokens)
	if !ok {
		writeProblem(w, badRequest("tokens", "there is no such token."))
		return
	}
	writeJSON(w, http.StatusOK, mustJSON(map[string]string{"prompt": strings.ToValidUTF8(text, "\uFFFD")}))
}
