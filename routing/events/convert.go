package events

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"octet/routing/events/octetkvpb"
	"octet/routing/index"
)

var (
	kindToWire = [...]octetkvpb.Event_Kind{
		Registered: octetkvpb.Event_REGISTERED,
		Evicted:    octetkvpb.Event_EVICTED,
		Cleared:    octetkvpb.Event_CLEARED,
		Shutdown:   octetkvpb.Event_SHUTDOWN,
	}
	tierToWire = [...]octetkvpb.Event_Tier{
		index.GPU: octetkvpb.Event_GPU,
		index.CPU: octetkvpb.Event_CPU,
		index.SSD: octetkvpb.Event_SSD,
	}
)

// toWire returns the message of a batch that passed Check. It shares the batch's hashes and tokens.
func toWire(b Batch) *octetkvpb.Batch {
	m := &octetkvpb.Batch{Replica: b.Replica, Epoch: b.Epoch, Seq: b.Seq,
		Events: make([]*octetkvpb.Event, len(b.Events))}
	if !b.At.IsZero() {
		m.At = timestamppb.New(b.At)
	}
	all := make([]octetkvpb.Event, len(b.Events))
	for i, e := range b.Events {
		w := &all[i]
		w.Kind, w.Tier, w.Adapter, w.Salt = kindToWire[e.Kind], tierToWire[e.Tier], e.Adapter, e.Salt
		w.Hashes, w.Parent, w.Root = e.Hashes, e.Parent, e.Root
		w.Tokens, w.BlockSize = e.Tokens, uint32(e.BlockSize)
		m.Events[i] = w
	}
	return m
}

// fromWire returns the batch of a message, still to be checked. It takes over the message's hashes and tokens.
func fromWire(m *octetkvpb.Batch) (Batch, error) {
	b := Batch{Replica: m.Replica, Epoch: m.Epoch, Seq: m.Seq, Events: make([]Event, len(m.Events))}
	if m.At != nil {
		if err := m.At.CheckValid(); err != nil {
			return Batch{}, refuse(ErrInvalid, "%v", err)
		}
		b.At = m.At.AsTime()
	}
	for i, w := range m.Events {
		kind, tier, err := known(w)
		if err != nil {
			return Batch{}, err
		}
		b.Events[i] = Event{
			Kind: kind, Tier: tier, Adapter: w.Adapter, Salt: w.Salt,
			Hashes: w.Hashes, Parent: w.Parent, Root: w.Root, Tokens: w.Tokens, BlockSize: int(w.BlockSize),
		}
	}
	return b, nil
}

// noTier is that of an event whose tier has no name here.
const noTier = index.Tier(index.Tiers)

// known returns the kind and tier of w in our terms; enums of the wire are open, ours are not.
func known(w *octetkvpb.Event) (Kind, index.Tier, error) {
	if w.Kind <= octetkvpb.Event_UNSPECIFIED || int(w.Kind) > len(kindToWire) {
		return 0, 0, refuse(ErrInvalid, "kind %v", w.Kind)
	}
	if w.Tier < 0 || int(w.Tier) >= len(tierToWire) {
		return Kind(w.Kind - octetkvpb.Event_REGISTERED), noTier, nil
	}
	return Kind(w.Kind - octetkvpb.Event_REGISTERED), index.Tier(w.Tier), nil
}
