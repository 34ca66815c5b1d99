package events

import (
	"strings"
	"sync/atomic"
	"time"
)

// ConsumerStats is what one consumer has seen since it was made.
type ConsumerStats struct {
	Connected  bool
	Messages   uint64 // batches handed to the sink
	Bad        uint64 // messages that were no batch, and were skipped
	Refused    uint64 // batches of replicas that their publisher may not speak for, and that were skipped
	OtherRank  uint64 // batches of another data-parallel rank than the replica is, which were left out
	Failures   uint64 // reads and connects that failed; each is followed by a pause and another try
	Reconnects uint64 // times that the connection came back after it was lost
	Rewinds    uint64 // times that the stream was found begun anew, and was read from its start
	// messages for which there was no room; each is a gap that is then read again, where that can be
	Dropped   uint64
	Replayed  uint64 // batches that were asked for again and came
	Snapshots uint64 // times that the engine told all that it holds
	LastError string // of the failure last, since the connection came back; "" if there was none
	Panics    uint64 // of its own code or of a library; each ended a connection
	LastPanic string // with its stack; "" if there was no panic
	// from when the transport took the last message to when it was read here; two machines' clocks
	Lag time.Duration
}

// Meter counts for a Consumer. It is safe for concurrent use; the zero Meter is ready.
type Meter struct {
	connected, ever                                       atomic.Bool
	messages, bad, refused, failures, reconnects, rewound atomic.Uint64
	dropped, replayed, snapshots, panics, otherRank       atomic.Uint64
	lastPanic, lastError                                  atomic.Pointer[string]
	lag                                                   atomic.Int64 // nanoseconds
}

// Up notes that the transport can be read. It may be called again and again.
func (m *Meter) Up() {
	if m.connected.Swap(true) {
		return
	}
	m.lastError.Store(nil)
	if m.ever.Swap(true) {
		m.reconnects.Add(1)
	}
}

// Down notes that the transport cannot be read any more.
func (m *Meter) Down() { m.connected.Store(false) }

// maxErrorBytes is what is kept of an error: parts of some are the peer's words.
const maxErrorBytes = 512

// Failed notes a read or connect that failed, and why.
func (m *Meter) Failed(why error) {
	text := why.Error()
	text = strings.ToValidUTF8(text[:min(len(text), maxErrorBytes)], "")
	m.lastError.Store(&text)
	m.failures.Add(1)
}

// Rewound notes that the stream began anew.
func (m *Meter) Rewound() { m.rewound.Add(1) }

// Took notes a batch that the transport took at sent and that was read at now. A zero sent says nothing about lag.
func (m *Meter) Took(sent, now time.Time) {
	m.messages.Add(1)
	if !sent.IsZero() {
		m.lag.Store(int64(max(now.Sub(sent), 0)))
	}
}

// Skipped notes a message that was no batch.
func (m *Meter) Skipped() { m.bad.Add(1) }

// Denied notes a batch of a replica that its publisher may not speak for.
func (m *Meter) Denied() { m.refused.Add(1) }

// Misdirected notes a batch of another data-parallel rank than the replica is.
func (m *Meter) Misdirected() { m.otherRank.Add(1) }

// Lost notes a message for which there was no room.
func (m *Meter) Lost() { m.dropped.Add(1) }

// Recovered notes a batch that was asked for again and came.
func (m *Meter) Recovered() { m.replayed.Add(1) }

// Restored notes that the engine told all that it holds.
func (m *Meter) Restored() { m.snapshots.Add(1) }

// Panicked notes a panic, by what Guard has made of it.
func (m *Meter) Panicked(err error) {
	text := err.Error()
	m.lastPanic.Store(&text)
	m.panics.Add(1)
}

// Stats returns the counts so far.
func (m *Meter) Stats() ConsumerStats {
	panics := m.panics.Load()
	return ConsumerStats{
		Panics:     panics,
		LastPanic:  textOf(&m.lastPanic),
		LastError:  textOf(&m.lastError),
		Connected:  m.connected.Load(),
		Messages:   m.messages.Load(),
		Bad:        m.bad.Load(),
		Refused:    m.refused.Load(),
		OtherRank:  m.otherRank.Load(),
		Failures:   m.failures.Load(),
		Reconnects: m.reconnects.Load(),
		Rewinds:    m.rewound.Load(),
		Dropped:    m.dropped.Load(),
		Replayed:   m.replayed.Load(),
		Snapshots:  m.snapshots.Load(),
		Lag:        time.Duration(m.lag.Load()),
	}
}

func textOf(p *atomic.Pointer[string]) string {
	if text := p.Load(); text != nil {
		return *text
	}
	return ""
}
