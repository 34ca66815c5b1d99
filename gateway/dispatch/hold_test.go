package dispatch

import (
	"context"
	"errors"
	"testing"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/intake"
	"octet/gateway/stream"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
	"octet/scheduler/hold"
)

// overtaken is a context that ends once it has been asked whether it has.
type overtaken struct {
	context.Context
	end context.CancelCauseFunc
}

func (o overtaken) Err() error {
	defer o.end(fault.ErrDeadline)
	return o.Context.Err()
}

// A deadline that passes as its request is refused for it is the same refusal: nothing was run.
func TestADeadlineThatPassesAsItsRequestIsRefusedIsARefusal(t *testing.T) {
	ctx, end := context.WithCancelCause(context.Background())
	err := unrun(overtaken{ctx, end}, &scheduler.Refusal{Reason: scheduler.ErrDeadline}, "it waited")
	if no, is := errors.AsType[*scheduler.Refusal](err); !is || !errors.Is(no, scheduler.ErrDeadline) {
		t.Errorf("%v", err)
	}
}

// A replica that comes to serve after the pipeline has found none, and before that is looked at, is routed to: once by
// each Runtime, as the next error is of something else.
func TestAReplicaThatComesAsNoneWasFoundIsRoutedTo(t *testing.T) {
	woken := hold.Terms{For: time.Minute, Wakes: true}
	for name, c := range map[string]struct {
		terms   hold.Terms
		serves  bool
		comes   bool // as the terms are asked for
		dry     bool
		none    routing.NoCandidateError
		again   []bool // asked again and again
		replica string
		before  bool // the request was routed by a Runtime before the replica's
	}{
		"it serves":                    {serves: true, again: []bool{true}},
		"it was to be woken":           {serves: true, again: []bool{true}, terms: woken},
		"it comes a moment later":      {comes: true, again: []bool{true}},
		"it is of a Runtime since":     {serves: true, before: true, again: []bool{true, true}},
		"it is, and does not serve":    {before: true},
		"it does not":                  {},
		"the request is not held":      {serves: true, dry: true},
		"another filter has a say":     {serves: true, none: routing.NoCandidateError{Verdict: routing.Overloaded}},
		"the client names the replica": {serves: true, replica: "debug-0"},
	} {
		t.Run(name, func(t *testing.T) {
			member, err := fleet.New().Put(fleet.Spec{Name: "debug-0", Specialist: "debug", URL: "http://10.1.2.3:1",
				Role: fleet.RoleBoth, BlockSize: 16})
			if err != nil {
				t.Fatal(err)
			}
			if !c.serves {
				member.Says(fleet.Asleep)
			}
			sp := &ensemble.Specialist{Name: "debug", Hold: hold.New(hold.Config{Now: time.Now,
				Terms: func() hold.Terms {
					if c.comes {
						member.Says(fleet.Serving)
					}
					return c.terms
				}})}
			rt := &ensemble.Runtime{Specialists: []*ensemble.Specialist{sp}}
			rt.Replicas[member.Spec().Host] = &ensemble.Replica{Name: "debug-0", Fleet: member}
			rt.Seal()
			d := &Dispatch{Parts: Parts{Shared: &Shared{Newest: func() *ensemble.Runtime { return rt }}, Runtime: rt,
				Request: new(intake.Request), Relay: new(stream.Relay)}}
			d.Request.Dry, d.Request.Intent.Replica = c.dry, c.replica
			d.Plan.Specialist = sp
			if c.before {
				without := &ensemble.Specialist{Name: sp.Name, Hold: sp.Hold}
				d.Runtime, d.Plan.Specialist = &ensemble.Runtime{Specialists: []*ensemble.Specialist{without}}, without
				d.Runtime.Seal()
			}
			for _, want := range append(c.again, false) {
				again, why := d.Hold(t.Context(), &c.none)
				if again != want || again == errors.Is(why, routing.ErrNoCandidate) {
					t.Errorf("routed again %v, want %v; %v", again, want, why)
				}
			}
		})
	}
}
