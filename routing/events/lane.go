package events

// Carrier is a Sink for one transport. A transport carries each replica's batches in the order in which they were published;
// it may lose some, and it may begin again from an earlier one. Close tells that nothing more will come this way.
type Carrier interface {
	Sink
	Close()
}

// Merger is a Sink that tells its transports apart, so that it knows whether another one can still bring what one has lost.
type Merger interface {
	Sink
	Open() Carrier
}

// OpenLane returns the Carrier by which one Consume delivers to sink. Every Consumer opens one and closes it in the end; a
// sink that is not a Merger is delivered to as it is.
func OpenLane(sink Sink) Carrier {
	if m, ok := sink.(Merger); ok {
		return m.Open()
	}
	return plain{sink}
}

type plain struct{ Sink }

func (plain) Close() {}
