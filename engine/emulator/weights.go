package emulator

import (
	"cmp"
	"net/http"
)

// weights are what the engine says that its model was loaded from. What it answers does not depend on them.
type weights struct {
	path    string // root in the list of models
	version string // as SGLang counts updates in place
}

// firstVersion is the version of weights that were never updated in place.
const firstVersion = "default"

// modelInfo answers as SGLang does.
func (h handlers) modelInfo(w http.ResponseWriter, _ *http.Request) {
	of := h.weights.Load()
	writeJSON(w, http.StatusOK, mustJSON(map[string]any{"model_path": of.path, "tokenizer_path": of.path,
		"is_generation": true, "weight_version": of.version}))
}

// updateWeights takes other weights in place, as SGLang does: the prefix cache is forgotten where nothing uses it.
func (h handlers) updateWeights(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Path    string `json:"model_path"`
		Version string `json:"weight_version"`
	}
	if err := readBody(r, &b); err != nil {
		writeProblem(w, err)
		return
	}
	if b.Path == "" {
		writeProblem(w, badRequest("model_path", "model_path is required."))
		return
	}
	h.weights.Store(&weights{b.Path, cmp.Or(b.Version, h.weights.Load().version)})
	h.resetPrefixCache()
	writeJSON(w, http.StatusOK, mustJSON(map[string]any{"success": true,
		"message": "Succeeded to update model weights."}))
}
