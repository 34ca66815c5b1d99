package cmd

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"octet/engine/openai"
	"octet/routing/fleet"
)

// logsHealth tells the log once each time that a replica goes down or comes back.
func logsHealth(log *slog.Logger) func(*fleet.Replica, bool) {
	return func(r *fleet.Replica, healthy bool) {
		if healthy {
			log.Info("replica recovered", "replica", r.Spec().Name)
		} else {
			log.Warn("replica down", "replica", r.Spec().Name)
		}
	}
}

// tellFailure tells the log of a failed probe: once for each kind of failure in a row, and of an engine that is still
// loading its model as such.
func (r *resident) tellFailure(log *slog.Logger, err error) {
	what := "probe failed"
	if loading(err) {
		what = "replica loads its model"
	}
	if was := r.failing.Swap(&what); was != nil && *was == what {
		return
	}
	if loading(err) {
		log.Info(what, "replica", r.key.name)
		return
	}
	log.Warn(what, "replica", r.key.name, "error", err)
}

// loading reports whether an engine says that its model is not loaded yet, as llama.cpp does.
func loading(err error) bool {
	var said *openai.StatusError
	return errors.As(err, &said) && said.Status == http.StatusServiceUnavailable &&
		strings.Contains(strings.ToLower(said.Message), "loading")
}
