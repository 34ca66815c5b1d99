package emulator

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// sleeper is whether the engine has put its model aside, as vLLM's does: the cache is lost, requests are refused, or
// kept, and waking takes as long as Config.LoadTime.
type sleeper struct {
	load   time.Duration
	awaits bool // see Config.AwaitsWake

	mu      sync.Mutex
	asleep  bool          // guarded by mu
	loaded  chan struct{} // closed when the loading under way is over; nil while none is; guarded by mu
	woken   chan struct{} // closed when the engine is awake; nil if no request waits for that; guarded by mu
	boots   bool          // it has not been loaded since the start; guarded by mu
	wakings int           // loads begun after a sleep; guarded by mu
	sleeps  int           // guarded by mu
}

func newSleeper(c Config) sleeper {
	return sleeper{load: c.LoadTime, awaits: c.AwaitsWake, asleep: c.Asleep || c.Boots, boots: c.Boots}
}

// refusal returns why no request is taken; nil if the model is there.
func (s *sleeper) refusal() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.loaded != nil:
		return &problem{Message: "Loading model", Type: "unavailable_error", Code: http.StatusServiceUnavailable}
	case s.asleep:
		return &problem{Message: "The engine is asleep.", Type: "ServiceUnavailableError",
			Code: http.StatusServiceUnavailable}
	}
	return nil
}

// await returns when the engine is awake, if it keeps requests until then.
func (s *sleeper) await(ctx context.Context) error {
	s.mu.Lock()
	if !s.awaits || !s.asleep || s.boots {
		s.mu.Unlock()
		return nil
	}
	if s.woken == nil {
		s.woken = make(chan struct{})
	}
	woken := s.woken
	s.mu.Unlock()
	select {
	case <-woken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// state returns whether the engine sleeps, loading after a sleep included, and whether it loads for the first time.
func (s *sleeper) state() (asleep, boots bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asleep && !s.boots, s.boots
}

// wake begins to load the model, if nothing has begun it, and returns what closes when it is there; nil if it is.
func (s *sleeper) wake() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asleep || s.loaded != nil {
		return s.loaded
	}
	if !s.boots {
		s.wakings++
	}
	loaded := make(chan struct{})
	s.loaded = loaded
	time.AfterFunc(s.load, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asleep, s.boots, s.loaded = false, false, nil
		close(loaded)
		if s.woken != nil {
			close(s.woken)
			s.woken = nil
		}
	})
	return loaded
}

// handleSleep puts the model aside, unless a request is here.
func (h handlers) handleSleep(w http.ResponseWriter, _ *http.Request) {
	h.cacheMu.Lock() // a request comes before or after the whole of this
	defer h.cacheMu.Unlock()
	h.sleeper.mu.Lock()
	defer h.sleeper.mu.Unlock()
	if h.sleeper.loaded != nil || h.sleeper.asleep {
		return
	}
	if !h.emptyCache(!h.cfg.SleepsSilently) {
		writeProblem(w, &problem{Message: "The engine has unfinished requests.", Type: "ConflictError",
			Code: http.StatusConflict})
		return
	}
	h.sleeper.asleep = true
	h.sleeper.sleeps++
}

// handleWake answers when the model is there.
func (h handlers) handleWake(w http.ResponseWriter, r *http.Request) {
	loaded := h.sleeper.wake()
	if loaded == nil {
		return
	}
	select {
	case <-loaded:
	case <-r.Context().Done():
	case <-h.life.Done():
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (h handlers) handleAsleep(w http.ResponseWriter, _ *http.Request) {
	asleep, _ := h.sleeper.state()
	writeJSON(w, http.StatusOK, mustJSON(map[string]bool{"is_sleeping": asleep}))
}

// Sleeps returns how often the engine was put to sleep, and how often it was woken.
func (e *Emulator) Sleeps() (sleeps, wakings int) {
	e.sleeper.mu.Lock()
	defer e.sleeper.mu.Unlock()
	return e.sleeper.sleeps, e.sleeper.wakings
}
