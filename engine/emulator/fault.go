package emulator

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// ErrFault is the sentinel of a Fault that cannot be armed.
var ErrFault = errors.New("emulator: invalid fault")

// The kinds of faults. All strike a completion or chat request, streamed or not.
const (
	DieBeforeHeaders = "die_before_headers" // the connection is reset instead of an answer
	DieAfterHeaders  = "die_after_headers"  // status and headers arrive, then a reset
	DieAfterTokens   = "die_after_tokens"   // K tokens arrive, then a reset; half the body when not streamed
	Hang             = "hang"               // not a byte, until the client leaves
	HangAfterTokens  = "hang_after_tokens"  // K tokens, then not a byte until the client leaves
	// K tokens, then bytes that are neither SSE nor JSON, and a clean end of the body
	Garbage    = "garbage"
	ErrorEvent = "error_event" // K tokens, then an error object and [DONE]; status 500 when not streamed
	// K tokens, then the finish reason "abort" and a good end: what vLLM makes of all that it has where it is stopped;
	// not streamed, the whole body with that reason
	Abort = "abort"
	Slow  = "slow"  // ten steps between two tokens
	Close = "close" // K tokens, then the connection closes, and the body is not at its end
	// K tokens, then a proper end of the body, without [DONE]; nothing of a body that is not streamed
	Cut       = "cut"
	HalfEvent = "half_event" // K tokens, then half of an event, then a reset
	Flood     = "flood"      // K tokens, then two MiB of an event or a body that has no end
	BadFrame  = "bad_frame"  // K tokens, then bytes where the length of a chunk should be
	Overrun   = "overrun"    // K tokens more than were asked for
	Status    = "status"     // status K and an error object instead of an answer
	BadHead   = "bad_head"   // bytes that are no HTTP instead of an answer
	HugeHead  = "huge_head"  // a head of two MiB
	HalfHead  = "half_head"  // half of a head, then the connection closes
)

var faultKinds = []string{
	DieBeforeHeaders, DieAfterHeaders, DieAfterTokens, Hang, HangAfterTokens, Garbage, ErrorEvent, Slow,
	Close, Cut, HalfEvent, Flood, BadFrame, Overrun, Status, BadHead, HugeHead, HalfHead, Abort,
	LoadRefused, LoadDies, LoadCut, LoadKills, LoadLost,
}

// Fault is something that goes wrong with the next Times requests; 0 is with every one until the faults are cleared.
// An answer that is shorter than K tokens is struck after its last token, before [DONE].
type Fault struct {
	Kind string `json:"kind"`
	// tokens of all choices that pass first, where the kind lets tokens pass; see the kinds for others
	K     int `json:"k"`
	Times int `json:"times"`
}

func (f Fault) check() error {
	switch {
	case !slices.Contains(faultKinds, f.Kind):
		return fmt.Errorf("%w: kind %q is none of %q", ErrFault, f.Kind, faultKinds)
	case f.K < 0 || f.Times < 0:
		return fmt.Errorf("%w: k %d, times %d: neither may be negative", ErrFault, f.K, f.Times)
	case f.Kind == Status && (f.K < 300 || f.K > 599):
		return fmt.Errorf("%w: status %d is none that refuses", ErrFault, f.K)
	}
	return nil
}

const maxFaults = 1024 // armed at once

// armed holds the faults that wait for their requests, oldest first. Safe for concurrent use.
type armed struct {
	faultsMu sync.Mutex
	faults   []Fault
}

// arm adds f behind the others.
func (a *armed) arm(f Fault) error {
	if err := f.check(); err != nil {
		return err
	}
	a.faultsMu.Lock()
	defer a.faultsMu.Unlock()
	if len(a.faults) >= maxFaults {
		return fmt.Errorf("%w: %d are armed already", ErrFault, maxFaults)
	}
	a.faults = append(a.faults, f)
	return nil
}

// take returns the fault that strikes the next request; the zero Fault means that nothing fails.
func (a *armed) take() Fault { return a.takeOf(func(f Fault) bool { return !f.ofLoad() }) }

// takeOf is take for faults of some kinds.
func (a *armed) takeOf(fits func(Fault) bool) Fault {
	a.faultsMu.Lock()
	defer a.faultsMu.Unlock()
	i := slices.IndexFunc(a.faults, fits)
	if i < 0 {
		return Fault{}
	}
	f := a.faults[i]
	if f.Times == 1 {
		a.faults = slices.Delete(a.faults, i, i+1)
	} else if f.Times > 1 {
		a.faults[i].Times--
	}
	return f
}

func (a *armed) clear() {
	a.faultsMu.Lock()
	defer a.faultsMu.Unlock()
	a.faults = nil
}

func (a *armed) list() []Fault {
	a.faultsMu.Lock()
	defer a.faultsMu.Unlock()
	return append([]Fault{}, a.faults...)
}

// handleArm takes a Fault; without "times" it strikes once.
func (a *armed) handleArm(w http.ResponseWriter, r *http.Request) {
	f := Fault{Times: 1}
	err := readBody(r, &f)
	if err == nil {
		err = a.arm(f)
	}
	if err != nil {
		writeProblem(w, err)
		return
	}
	a.handleList(w, r)
}

func (a *armed) handleClear(w http.ResponseWriter, r *http.Request) {
	a.clear()
	a.handleList(w, r)
}

func (a *armed) handleList(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, mustJSON(map[string][]Fault{"faults": a.list()}))
}
