package receipt

import (
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
)

// Store keeps records by their keys: the newest ones, over restarts. Append is called by one goroutine, Find by many.
type Store interface {
	Append(key string, record []byte) error
	Find(key string) ([]byte, error)
	Close() error
}

// Archive keeps receipts in a Store, behind requests: what is put into a Ring is written by a goroutine of the
// Archive's own. A request never waits for it: while the queue is full receipts are dropped and counted. Safe for
// concurrent use.
type Archive struct {
	store Store
	queue chan reference // its bound is the configuration's
	done  chan struct{}  // closed by Close
	log   *slog.Logger
	ended sync.WaitGroup

	kept, dropped, failed atomic.Uint64
	toldDrop              atomic.Bool
	failing               bool // owned by run
}

// reference is where a receipt lies that is to be written.
type reference struct {
	ring *Ring
	at   int // receipts in the Ring before it
}

// archived is a receipt as a Store keeps it.
type archived struct {
	Tenant  string   `json:"tenant"`
	Receipt *Receipt `json:"receipt"`
}

// Archived is how many receipts an Archive has written, and how many it has not.
type Archived struct {
	Kept    uint64
	Dropped uint64 // the queue was full, or the Ring had forgotten it
	Failed  uint64 // the Store could not take it
}

// NewArchive returns an Archive with a queue of so many receipts, which ends with Close.
func NewArchive(store Store, queue int, log *slog.Logger) *Archive {
	a := &Archive{store: store, queue: make(chan reference, queue), done: make(chan struct{}), log: log}
	a.ended.Go(a.run)
	return a
}

// Close writes what is queued and closes the Store. What is put into a Ring after it is not written.
func (a *Archive) Close() error {
	close(a.done)
	a.ended.Wait()
	return a.store.Close()
}

// Read returns the counts so far.
func (a *Archive) Read() Archived {
	return Archived{Kept: a.kept.Load(), Dropped: a.dropped.Load(), Failed: a.failed.Load()}
}

// offer queues a receipt, if the queue has room.
func (a *Archive) offer(r reference) {
	select {
	case a.queue <- r:
	default:
		a.drop()
	}
}

// drop counts a receipt that is not written, and tells of the first one.
func (a *Archive) drop() {
	a.dropped.Add(1)
	if a.toldDrop.CompareAndSwap(false, true) {
		a.log.Warn("receipts come faster than receipts.file takes them: some are not in it",
			"metric", "octet_receipts_filed_total")
	}
}

func (a *Archive) run() {
	for {
		select {
		case r := <-a.queue:
			a.take(r)
		case <-a.done:
			for range len(a.queue) {
				a.take(<-a.queue)
			}
			return
		}
	}
}

// take writes a receipt, if it is still in its Ring.
func (a *Archive) take(r reference) {
	kept, ok := r.ring.at(r.at)
	if !ok {
		a.drop()
		return
	}
	a.note(a.write(r.ring.tenant, kept))
}

func (a *Archive) write(tenant string, r *Receipt) error {
	r.render()
	text, err := json.Marshal(archived{tenant, r})
	if err != nil {
		return err
	}
	return a.store.Append(r.ID, text)
}

// note counts what became of a receipt, and tells of the first failure after one that was written.
func (a *Archive) note(err error) {
	if err == nil {
		a.kept.Add(1)
		a.failing = false
		return
	}
	a.failed.Add(1)
	if !a.failing {
		a.log.Warn("a receipt was not written to receipts.file", "error", err)
	}
	a.failing = true
}

// find returns the receipt of that id, and its tenant; false if it is not kept (any more).
func (a *Archive) find(id string) (tenant string, r *Receipt, ok bool) {
	text, err := a.store.Find(id)
	if err != nil {
		return "", nil, false
	}
	var found archived
	if err := json.Unmarshal(text, &found); err != nil || found.Receipt == nil || found.Receipt.ID != id {
		a.log.Warn("a receipt in receipts.file cannot be read", "error", err)
		return "", nil, false
	}
	return found.Tenant, found.Receipt, true
}
