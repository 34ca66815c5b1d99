package zmqstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tinylib/msgp/msgp"

	"octet/routing/events"
)

// An engine that offers a snapshot is asked [empty, "snapshot-v1"] at a ROUTER socket, and answers, of one moment of
// its cache, frame by frame behind an empty one:
//
//	"header"  [version, life, rank, resume_seq, barrier_seq, barrier_id, records]
//	"chunk"   [[parent, [hash]], …]       any number of times; parent is nil at a chain's beginning
//	"end"     empty                       or "error" with a text, instead of any of these
//
// resume_seq is the number of the first batch that is not in it. The format is SGLang's.
const (
	snapshotRequest = "snapshot-v1"
	snapshotVersion = 1
	snapshotFields  = 7
)

const (
	snapshotTimeout = 10 * time.Second // for a whole one
	snapshotAgain   = 2 * time.Second  // after the first that could not be had; twice as long after each further one
	snapshotSeldom  = time.Minute      // at most
)

// errSnapshot is wrapped by what is wrong with a snapshot.
var errSnapshot = errors.New("zmqstream: bad snapshot")

// snapshot is what an engine held at one moment.
type snapshot struct {
	resume  uint64         // the number of the first batch that is not in it
	records int            // that are to come
	blocks  int            // in held
	held    []events.Event // Registered, parents before their children
}

// restore asks the engine for all that it holds, where batches of its life are missing. One that could not be had is
// asked for again later, ever more seldom.
func (f *follower) restore(ctx context.Context) {
	if f.whole == nil || !f.partial || time.Now().Before(f.askAgain) {
		return
	}
	s, err := f.fetch(ctx)
	if err == nil && f.started && s.resume <= f.last {
		err = fmt.Errorf("%w: it ends before batch %d, and batch %d is known", errSnapshot, s.resume, f.last)
	}
	if err != nil {
		f.meter.Failed(err)
		f.pause = min(max(2*f.pause, snapshotAgain), snapshotSeldom)
		f.askAgain = time.Now().Add(f.pause)
		return
	}
	f.pause, f.partial = 0, false
	if s.resume > 0 {
		f.adopt(s)
	}
}

// adopt has a life begin with what a snapshot holds: whatever was known of the engine is gone, and nothing is missing.
func (f *follower) adopt(s snapshot) {
	f.epoch = max(f.epoch+1, uint64(time.Now().UnixNano()))
	f.started, f.unsure, f.owed, f.doubt, f.last, f.mark = true, false, false, false, s.resume-1, 0
	f.meter.Restored()
	f.deliver(events.Batch{Replica: f.config.Replica, Epoch: f.epoch, Seq: f.last,
		Events: append([]events.Event{{Kind: events.Cleared}}, s.held...)})
}

// fetch asks once.
func (f *follower) fetch(ctx context.Context) (s snapshot, err error) {
	ctx, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	conn, err := f.whole.Dial(ctx, "DEALER", limits())
	if err != nil {
		return s, err
	}
	defer func() { _ = conn.Close() }() // nothing more is wanted of it
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.Send(nil, []byte(snapshotRequest)); err != nil {
		return s, err
	}
	for at := before; at != over; {
		if err := conn.SetReadDeadline(time.Now().Add(replyTimeout)); err != nil {
			return s, err
		}
		frames, err := conn.Receive()
		if err != nil {
			return s, fmt.Errorf("zmqstream: reading a snapshot: %w", err)
		}
		if at, err = s.take(at, frames, f.config.Rank); err != nil {
			return s, err
		}
	}
	return s, nil
}

// progress is how far a snapshot has been read.
type progress uint8

const (
	before progress = iota // its header
	within
	over
)

// take reads one message of a snapshot.
func (s *snapshot) take(at progress, frames [][]byte, rank *int) (progress, error) {
	n := len(frames)
	if n < 2 {
		return at, fmt.Errorf("%w: a message of %d frames", errSnapshot, n)
	}
	switch what, body := string(frames[n-2]), frames[n-1]; {
	case what == "error":
		return at, fmt.Errorf("%w: the engine says %.200q", errSnapshot, body)
	case what == "header" && at == before:
		return within, s.header(body, rank)
	case what == "chunk" && at == within:
		return within, s.chunk(body)
	case what == "end" && at == within && s.records > 0:
		return at, fmt.Errorf("%w: %d records are missing", errSnapshot, s.records)
	case what == "end" && at == within:
		return over, nil
	default:
		return at, fmt.Errorf("%w: %.32q in the wrong place", errSnapshot, what)
	}
}

// header reads how many records come, and what they hold. rank is the only one that they may be of; nil if any.
func (s *snapshot) header(b []byte, rank *int) error {
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil || n < snapshotFields {
		return errors.Join(fmt.Errorf("%w: a header of %d fields", errSnapshot, n), err)
	}
	fields := make([][]byte, snapshotFields) // each with what follows it
	for i := range fields {
		fields[i] = b
		if b, err = skip(b, 0); err != nil {
			return errors.Join(errSnapshot, err)
		}
	}
	version, _, wrong := msgp.ReadInt64Bytes(fields[0])
	resume, _, err := msgp.ReadInt64Bytes(fields[3])
	wrong = errors.Join(wrong, err)
	records, _, err := msgp.ReadInt64Bytes(fields[6])
	if wrong = errors.Join(wrong, err); wrong != nil {
		return errors.Join(errSnapshot, wrong)
	}
	of := rankAt(fields[2])
	switch {
	case version != snapshotVersion:
		return fmt.Errorf("%w: version %d", errSnapshot, version)
	case rank != nil && of != noRank && of != int64(*rank):
		return fmt.Errorf("%w: of rank %d", errSnapshot, of)
	case resume < 0 || records < 0 || records > events.MaxHashes:
		return fmt.Errorf("%w: %d records before batch %d", errSnapshot, records, resume)
	}
	s.resume, s.records = uint64(resume), int(records)
	return nil
}

func (s *snapshot) chunk(b []byte) error {
	n, b, err := count(b, s.records)
	if err != nil {
		return errors.Join(errSnapshot, err)
	}
	for range n {
		if b, err = s.record(b); err != nil {
			return errors.Join(errSnapshot, err)
		}
	}
	s.records -= n
	return nil
}

// record reads one block and what it follows.
func (s *snapshot) record(b []byte) (rest []byte, err error) {
	n, b, err := msgp.ReadArrayHeaderBytes(b)
	if err != nil || n < 2 {
		return b, errors.Join(fmt.Errorf("a record of %d fields", n), err)
	}
	e := events.Event{Kind: events.Registered, Root: true}
	if rest, none := isNil(b); none {
		b = rest
	} else if e.Parent, b, err = readHash(b); err != nil {
		return b, err
	}
	e.Root = e.Parent == 0 // some write 0 for none
	if e.Hashes, b, err = readHashes(b); err != nil {
		return b, err
	}
	for range n - 2 {
		if b, err = skip(b, 0); err != nil {
			return b, err
		}
	}
	if s.blocks += len(e.Hashes); len(e.Hashes) == 0 || s.blocks > events.MaxHashes {
		return b, fmt.Errorf("a record of %d blocks, %d in all", len(e.Hashes), s.blocks)
	}
	s.held = events.Append(s.held, e)
	return b, nil
}
