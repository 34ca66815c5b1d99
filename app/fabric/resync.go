package fabric

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"octet/internal/contain"
	"octet/routing/events"
	"octet/routing/index"
)

const (
	resyncEvery   = 200 * time.Millisecond // how often stale replicas are looked for
	resyncAgain   = 2 * time.Second        // after a snapshot could not be had
	resyncNever   = time.Minute            // after an engine said that it has none
	resyncTimeout = 10 * time.Second
	resyncEvents  = 1 << 21 // events of one engine's snapshot, at most
)

// errNoSnapshot is an engine that cannot tell what it holds.
var errNoSnapshot = errors.New("the engine has no snapshot")

// resyncStale asks the engines of stale replicas, one after the other, for snapshots of what they hold, until ctx ends.
func (f *Fabric) resyncStale(ctx context.Context, path string) {
	if path == "" {
		return
	}
	due := map[index.HostID]time.Time{}
	contain.Every(ctx, resyncEvery, func(time.Time) {
		stale := f.index.Stale()
		for id := range due {
			if !stale.Has(id) {
				delete(due, id)
			}
		}
		for id := range stale.All() {
			if time.Now().Before(due[id]) {
				continue
			}
			due[id] = time.Now().Add(f.repair(ctx, id, path))
		}
	})
}

// repair tries to bring one replica up to date, and returns when to try again should it still be stale.
func (f *Fabric) repair(ctx context.Context, id index.HostID, path string) time.Duration {
	rep, ok := f.replicaAt(id)
	if !ok {
		return resyncAgain
	}
	if rep.Events != nil && rep.Events.ZMQ != "" {
		return resyncNever // its epochs are numbered here, and its replays repair what they can
	}
	err := f.Resync(ctx, rep, path)
	switch {
	case err == nil:
		f.log.Info("index: the replica was stale, and told what it holds", "replica", rep.Name)
		return resyncAgain
	case errors.Is(err, errNoSnapshot):
		return resyncNever
	case ctx.Err() == nil:
		f.log.Warn("index: the replica is stale and does not say what it holds", "replica", rep.Name, "error", err)
	}
	return resyncAgain
}

// Resync takes in the snapshot that the engine of a replica answers at path.
func (f *Fabric) Resync(ctx context.Context, rep Replica, path string) error {
	ctx, cancel := context.WithTimeout(ctx, resyncTimeout)
	defer cancel()
	defer f.feed.Hold(rep.Name)()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(rep.URL, "/")+path, nil)
	if err != nil {
		return err
	}
	if rep.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+rep.APIKey)
	}
	resp, err := f.web.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusUnauthorized,
		http.StatusForbidden:
		return errNoSnapshot
	default:
		return fmt.Errorf("it answers %s", resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, events.MaxMessageBytes)
	at, held, err := readSnapshot(rep.Name, lines)
	if err != nil {
		return err
	}
	return f.feed.Resync(rep.Name, at.Epoch, at.Seq, held)
}

// readSnapshot reads a snapshot: batches in JSON, one a line, all of the same epoch and number.
func readSnapshot(name string, lines *bufio.Scanner) (at events.Position, held []events.Event, err error) {
	first := true
	for lines.Scan() {
		b, err := events.UnmarshalJSON(lines.Bytes())
		if err != nil {
			return at, nil, err
		}
		if first {
			at, first = events.Position{Epoch: b.Epoch, Seq: b.Seq}, false
		}
		if b.Replica != name || b.Epoch != at.Epoch || b.Seq != at.Seq {
			return at, nil, fmt.Errorf("it tells of %q, batch %d of epoch %d", b.Replica, b.Seq, b.Epoch)
		}
		if held = append(held, b.Events...); len(held) > resyncEvents {
			return at, nil, fmt.Errorf("more than %d events", resyncEvents)
		}
	}
	if err := lines.Err(); err != nil {
		return at, nil, err
	}
	if first {
		return at, nil, errors.New("it says nothing")
	}
	return at, held, nil
}
