package emulator

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The kinds of faults that strike the load of an adapter, and nothing else.
const (
	LoadRefused = "load_refused" // status 500 after the time of the load, and nothing is loaded
	LoadDies    = "load_dies"    // the connection is reset half way, and nothing is loaded
	LoadCut     = "load_cut"     // the adapter is loaded, and the connection is reset instead of the answer
	// the engine is dead after the time of the load, and answers it never, as vLLM 0.32 whose core is killed by one
	LoadKills = "load_kills"
	LoadLost  = "load_lost" // the answer says that it is loaded, and it is not
)

func (f Fault) ofLoad() bool {
	return slices.Contains([]string{LoadRefused, LoadDies, LoadCut, LoadKills, LoadLost}, f.Kind)
}

// loadAdapter loads an adapter, which takes as long as it is configured to.
func (h handlers) loadAdapter(w http.ResponseWriter, r *http.Request) {
	var b loraBody
	if err := readBody(r, &b); err != nil {
		answerText(w, err, "")
		return
	}
	fault := h.armed.takeOf(Fault.ofLoad)
	wait := h.cfg.AdapterLoad
	if fault.Kind == LoadDies {
		wait /= 2
	}
	if wait > 0 {
		loading := time.NewTimer(wait)
		defer loading.Stop()
		select {
		case <-loading.C:
		case <-r.Context().Done():
			return // nothing was loaded
		}
	}
	if fault.Kind == LoadDies {
		panic(http.ErrAbortHandler)
	}
	var err error
	switch fault.Kind {
	case LoadLost:
	case LoadKills:
		h.end()
		<-r.Context().Done()
		return
	case LoadRefused:
		err = &problem{Code: http.StatusInternalServerError, Type: "InternalServerError",
			Message: "The lora adapter could not be loaded."}
	default:
		if err = unfound(b); err == nil {
			err = h.loras.loadAs(b)
		}
	}
	if fault.Kind == LoadCut {
		panic(http.ErrAbortHandler)
	}
	answerText(w, err, fmt.Sprintf("Success: LoRA adapter '%s' added successfully.", b.Name))
}

// missing is under which paths nothing is found.
const missing = "/missing/"

// unfound returns what vLLM answers where there is no adapter at a path; nil if there is one.
func unfound(b loraBody) error {
	if !strings.HasPrefix(b.Path, missing) {
		return nil
	}
	return &problem{Code: http.StatusNotFound, Type: "NotFoundError",
		Message: fmt.Sprintf("Loading lora %s failed: No adapter found for %s", b.Name, b.Path)}
}
