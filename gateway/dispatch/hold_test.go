package dispatch

import (
	"context"
	"errors"
	"testing"

	"octet/gateway/fault"
	"octet/scheduler"
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
	err := heldCause(overtaken{ctx, end}, &scheduler.Refusal{Reason: scheduler.ErrDeadline})
	if no, is := errors.AsType[*scheduler.Refusal](err); !is || !errors.Is(no, scheduler.ErrDeadline) {
		t.Errorf("%v", err)
	}
}
