package adminclient

import (
	"context"
	"net/http"
	"time"

	"octet/gateway/api"
	"octet/gateway/receipt"
	"octet/slo"
)

// State returns the state of all specialists and replicas.
func (c *Client) State(ctx context.Context) (*api.EnsembleState, error) {
	s := new(api.EnsembleState)
	return s, c.Get(ctx, s, "admin", "state")
}

// Receipt returns the receipt of that id, of whichever tenant's; ErrUnknown if it is kept no more.
func (c *Client) Receipt(ctx context.Context, id string) (*receipt.Receipt, error) {
	r := new(receipt.Receipt)
	return r, c.Get(ctx, r, "admin", "receipts", id)
}

// Drain begins to drain a replica, or ends it, and returns its state then.
func (c *Client) Drain(ctx context.Context, replica string, on bool) (*api.ReplicaState, error) {
	method := http.MethodPost
	if !on {
		method = http.MethodDelete
	}
	r := new(api.ReplicaState)
	return r, c.call(ctx, method, nil, r, join([]string{"admin", "drain", replica}))
}

// knobs are the answer of every call to knobs.
type knobs struct {
	Knobs []slo.KnobState `json:"knobs"`
}

// Override is a knob's value as SetKnob takes it.
type Override struct {
	Value   float64
	By, Why string
	For     time.Duration // 0 is until it is unset
}

// Knobs returns all knobs.
func (c *Client) Knobs(ctx context.Context) ([]slo.KnobState, error) {
	var k knobs
	err := c.Get(ctx, &k, "admin", "knobs")
	return k.Knobs, err
}

// SetKnob overrides a knob, and returns all.
func (c *Client) SetKnob(ctx context.Context, name string, o Override) ([]slo.KnobState, error) {
	body := map[string]any{"value": o.Value, "by": o.By, "why": o.Why}
	if o.For > 0 {
		body["for"] = o.For.String()
	}
	var k knobs
	err := c.call(ctx, http.MethodPut, body, &k, join([]string{"admin", "knobs", name}))
	return k.Knobs, err
}

// UnsetKnob ends the override of a knob, and returns all.
func (c *Client) UnsetKnob(ctx context.Context, name string) ([]slo.KnobState, error) {
	var k knobs
	err := c.call(ctx, http.MethodDelete, nil, &k, join([]string{"admin", "knobs", name}))
	return k.Knobs, err
}
