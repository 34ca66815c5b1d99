package app

import (
	"log/slog"

	"octet/engine/openai"
	"octet/internal/certs"
	"octet/routing/fleet"
)

// logsHealth returns a func that logs each time that a replica goes down or comes back.
func logsHealth(log *slog.Logger) func(*fleet.Replica, bool) {
	return func(r *fleet.Replica, healthy bool) {
		if healthy {
			log.Info("replica recovered", "replica", r.Spec().Name)
		} else {
			log.Warn("replica down", "replica", r.Spec().Name)
		}
	}
}

// logsWithdrawal returns a func that logs each time that a replica is withdrawn or returns.
func logsWithdrawal(log *slog.Logger) func(*fleet.Replica, bool, string) {
	return func(r *fleet.Replica, withdrawn bool, why string) {
		if withdrawn {
			log.Warn("replica withdrawn: no new requests", "replica", r.Spec().Name, "why", why)
		} else {
			log.Info("replica returned", "replica", r.Spec().Name, "why", why)
		}
	}
}

// logFailure logs a failed probe: once for each kind of failure in a row, and apart for an engine that is still loading
// its model.
func (r *replica) logFailure(log *slog.Logger, err error) {
	what, why := "probe failed", certs.Why(err)
	switch {
	case openai.IsLoading(err):
		what = "replica loads its model"
	case why != "":
		what = "replica cannot be spoken to by TLS: " + why
	}
	if was := r.failing.Swap(&what); was != nil && *was == what {
		return
	}
	if openai.IsLoading(err) {
		log.Info(what, "replica", r.key.name)
		return
	}
	log.Warn(what, "replica", r.key.name, "error", err)
}
