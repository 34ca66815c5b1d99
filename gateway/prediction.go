package gateway

import "octet/gateway/sse"

// notePredicted compares the hit that was predicted of the answering replica with what its engine delivered.
func (x *exchange) notePredicted(delivered int) {
	if x.foretold <= 0 {
		return
	}
	x.sp.Metrics.Predicted.Note(x.foretold, delivered)
	x.turn.rep.Accuracy.Note(x.foretold, delivered)
}

// foretell converts the prediction into the engine's tokens.
func (x *exchange) foretell() {
	x.foretold = x.predicted
	if x.predicted > 0 && !x.prompt.Exact {
		x.foretold = x.sp.Metrics.Ratio.Tokens(x.predicted)
	}
}

// noteRatio learns from the engine's count of a prompt whose tokens were only estimated here.
func (x *exchange) noteRatio(u sse.Usage) {
	if !x.prompt.Exact && u.PromptTokens > 0 && x.prompt.Tokens > 0 && x.relay.Prompts <= 1 {
		x.sp.Metrics.Ratio.Note(x.prompt.Tokens, u.PromptTokens)
	}
}
