package app

import (
	"context"
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
			log.Log(context.Background(), alarm(r.Left()), "replica down", "replica", r.Spec().Name)
		}
	}
}

// logsWithdrawal returns a func that logs each time that a replica is withdrawn or returns.
func logsWithdrawal(log *slog.Logger) func(*fleet.Replica, bool, string) {
	return func(r *fleet.Replica, withdrawn bool, why string) {
		if withdrawn {
			log.Log(context.Background(), alarm(why == fleet.WhyLeft), "replica withdrawn: no new requests", "replica",
				r.Spec().Name, "why", why)
		} else {
			log.Info("replica returned", "replica", r.Spec().Name, "why", why)
		}
	}
}

// alarm is how loud a replica's end is told: one that is found no more is expected to end, and that a fleet is scaled
// down is no alarm.
func alarm(left bool) slog.Level {
	if left {
		return slog.LevelInfo
	}
	return slog.LevelWarn
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
	log.Log(context.Background(), alarm(r.served != nil && r.served.Fleet.Left()), what, "replica", r.key.name, "error",
		err)
}
