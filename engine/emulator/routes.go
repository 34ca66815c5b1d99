package emulator

import "net/http"

// handlers are the endpoints of an Emulator.
type handlers struct{ *Emulator }

// routes returns all of them, by method and path.
func (h handlers) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]http.HandlerFunc{
		"POST /v1/chat/completions":    h.chat,
		"POST /v1/completions":         h.complete,
		"GET /v1/models":               h.listModels,
		"POST /v1/load_lora_adapter":   h.loadAdapter,
		"POST /load_lora_adapter":      h.loadAdapter,
		"POST /unload_lora_adapter":    h.loras.handleUnload,
		"POST /v1/unload_lora_adapter": h.loras.handleUnload,
		"POST /tokenize":               h.tokenize,
		"POST /detokenize":             h.detokenize,
		"POST /reset_prefix_cache":     h.resetCache,
		"GET /health":                  h.health,
		"GET /ping":                    h.health,
		"GET /is_sleeping":             h.handleAsleep,
		"POST /sleep":                  h.handleSleep,
		"POST /wake_up":                h.handleWake,
		"GET /version":                 h.version,
		"GET /get_model_info":          h.modelInfo,
		"GET /model_info":              h.modelInfo,

		"POST /update_weights_from_disk": h.updateWeights,

		"GET /metrics":           h.metrics.handler().ServeHTTP,
		"GET /admin/state":       h.showState,
		"GET /admin/kv":          h.showCache,
		"GET /admin/faults":      h.armed.handleList,
		"POST /admin/faults":     h.armed.handleArm,
		"GET /kv_transfer/{key}": h.hand,
		"GET /kv_rooms/{room}":   h.meet,
		"DELETE /admin/faults":   h.armed.handleClear,
	} {
		mux.HandleFunc(pattern, handle)
	}
	h.serveDoors(mux)
	return mux
}
