package peers

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"octet/routing/peers/peerspb"
)

// Version is of the messages that are sent. Those of the versions beside it are read as well.
const Version = 1

// Bounds of what is read.
const (
	MaxMessage  = 768 << 10 // bytes: what all of the bounds below and those of what is told beside work come to
	MaxGateways = 256       // that count at a time
	MaxReplicas = 4096      // of one gateway
	maxName     = 64        // bytes
	maxLease    = time.Hour
)

// ErrMessage is what bad messages are refused with.
var ErrMessage = errors.New("peers: bad message")

// Work is what gateways have at one replica, or what waits for it there.
type Work struct {
	Running int           // sequences in its batch
	Waiting int           // requests
	Urgent  int           // the highest priority that waits; 0 where none does
	Tenant  uint64        // whose request waits that is next of these, see TenantKey; 0 is not told
	Had     int           // what that tenant has had, see Shares
	Backlog int           // prompt tokens to compute before the first tokens of all of these
	Left    int           // of Backlog, by now: what is left to compute
	Tokens  int           // of the prompts and answers of all of these
	Blocks  int           // held, and reserved for growth
	Answer  time.Duration // that an answer takes, on average; 0 is not measured
}

// Key names a replica the same at every gateway: by the URL of its engine, the model that it is asked for, and its rank
// among the engine's data-parallel ones, "" where it has none. Names of replicas may differ from file to file.
func Key(url, model, rank string) uint64 { return xxh3.HashString(url + "\n" + model + "\n" + rank) }

// urgentBase is what a priority is told with: 0 says that none waits.
const urgentBase = 101

// parse reads a message, and appends what it tells of replicas to list: see read.
func parse(text []byte, list []told) (*peerspb.Message, []told, error) {
	if len(text) > MaxMessage {
		return nil, list, fmt.Errorf("%w: %d bytes", ErrMessage, len(text))
	}
	m, list, err := read(text, list)
	if err != nil {
		return nil, list, err
	}
	return m, list, check(m)
}

// check checks what is not work.
func check(m *peerspb.Message) error {
	lease := time.Duration(m.GetLeaseMs()) * time.Millisecond
	switch {
	case m.GetVersion() == 0 || m.GetVersion() > Version+1:
		return fmt.Errorf("%w: version %d, this gateway reads 1 to %d", ErrMessage, m.GetVersion(), Version+1)
	case !Named(m.GetFrom()):
		return fmt.Errorf("%w: from %.80q", ErrMessage, m.GetFrom())
	case lease <= 0 || lease > maxLease:
		return fmt.Errorf("%w: a lease of %v", ErrMessage, lease)
	}
	return nil
}

// Named returns true if a gateway may have that name: letters, digits, "-" and "_", 64 at most.
func Named(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for _, c := range []byte(name) {
		if (c|0x20) < 'a' || (c|0x20) > 'z' {
			if (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// Add returns the work of both.
func (w Work) Add(o Work) Work {
	switch {
	case w.Waiting == 0:
		w.Urgent = o.Urgent
	case o.Waiting > 0:
		w.Urgent = max(w.Urgent, o.Urgent)
	}
	if sequences := w.Running + o.Running; sequences > 0 && w.Answer > 0 && o.Answer > 0 {
		w.Answer = time.Duration((float64(w.Answer)*float64(w.Running) + float64(o.Answer)*float64(o.Running)) /
			float64(sequences))
	} else {
		w.Answer = max(w.Answer, o.Answer)
	}
	w.Running, w.Waiting, w.Backlog = w.Running+o.Running, w.Waiting+o.Waiting, w.Backlog+o.Backlog
	w.Left, w.Tokens, w.Blocks = w.Left+o.Left, w.Tokens+o.Tokens, w.Blocks+o.Blocks
	return w
}

// Idle returns true if there is nothing.
func (w Work) Idle() bool { w.Urgent, w.Answer, w.Tenant, w.Had = 0, 0, 0, 0; return w == Work{} }

// Life names a life as people see it.
func lifeName(life uint64) string { return strconv.FormatUint(life, 16) }
