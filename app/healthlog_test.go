package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/openai"
	"octet/gateway/ensemble"
	"octet/routing/fleet"
)

// scripted answers probes one after the other.
type scripted struct {
	results []error
	r       replica
	log     *slog.Logger
}

func (s *scripted) Probe(context.Context, *fleet.Replica) error {
	err := s.results[0]
	if len(s.results) > 1 {
		s.results = s.results[1:]
	}
	if err == nil {
		s.r.failing.Store(nil)
		return nil
	}
	s.r.logFailure(s.log, err)
	return err
}

// A replica that fails, loads and recovers is told of once each time, however often it is probed.
func TestRecoveriesAndLoadingAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		f := fleet.New(fleet.WithHealthChange(logsHealth(log)))
		if _, err := f.Put(fleet.Spec{Name: "debug-0", Specialist: "debug", Host: 1}); err != nil {
			t.Fatal(err)
		}
		gone := errors.New("connection refused")
		load := &openai.StatusError{Status: 503, Message: "Loading model"}
		s := &scripted{results: []error{nil, gone, gone, gone, load, load, load, nil, nil, nil, gone, gone, gone, nil},
			log: log}
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		fleet.Monitor{Fleet: f, Prober: s, Interval: time.Second, Unhealthy: 2, HealthyAfter: 2}.Run(ctx)
		for what, want := range map[string]int{"probe failed": 2, "replica down": 2, "replica loads its model": 1,
			"replica recovered": 2} {
			if n := strings.Count(out.String(), what); n != want {
				t.Errorf("%q was logged %d times, want %d:\n%s", what, n, want, out.String())
			}
		}
	})
}

// A replica that is found no more ends without an alarm: that a fleet is scaled down wakes no operator.
func TestAReplicaThatIsFoundNoMoreEndsQuietly(t *testing.T) {
	for _, left := range []bool{true, false} {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, nil))
		f := fleet.New(fleet.WithHealthChange(logsHealth(log)), fleet.WithWithdrawal(logsWithdrawal(log)))
		member, err := f.Put(fleet.Spec{Name: "debug-0", Specialist: "debug", Host: 1})
		if err != nil {
			t.Fatal(err)
		}
		member.SetLeft(left)
		r := &replica{key: replicaKey{name: "debug-0"}, served: &ensemble.Replica{Fleet: member}}
		r.logFailure(log, errors.New("connection refused"))
		logsHealth(log)(member, false)
		if quiet := !strings.Contains(out.String(), "WARN"); quiet != left {
			t.Errorf("found no more: %v\n%s", left, out.String())
		}
	}
}
