package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"octet/config"
	"octet/routing/events"
	"octet/routing/index"
)

const (
	resyncEvery   = 200 * time.Millisecond // a look at who is stale
	resyncAgain   = 2 * time.Second        // after a snapshot could not be had
	resyncNever   = time.Minute            // after an engine said that it has none
	resyncTimeout = 10 * time.Second
	resyncEvents  = 1 << 21 // blocks' events of one engine
)

// errNoSnapshot is an engine that cannot say what it holds.
var errNoSnapshot = errors.New("the engine has no snapshot")

// resync asks stale replicas what they hold, until ctx ends. One at a time: it is a repair, not a service.
func (h *house) resync(ctx context.Context, c config.Events) {
	if c.ResyncPath == "" {
		return
	}
	due := map[index.HostID]time.Time{}
	periodically(ctx, resyncEvery, func(time.Time) {
		stale := h.index.Stale()
		for id := range due {
			if !stale.Has(id) {
				delete(due, id)
			}
		}
		for id := range stale.All() {
			if time.Now().Before(due[id]) {
				continue
			}
			due[id] = time.Now().Add(h.repair(ctx, id, c.ResyncPath))
		}
	})
}

// repair tries to bring one replica up to date, and returns when to try again should it still be stale.
func (h *house) repair(ctx context.Context, id index.HostID, path string) time.Duration {
	name, rep := h.replicaAt(id)
	if rep == nil {
		return resyncAgain
	}
	if rep.Events != nil && rep.Events.ZMQ != "" {
		return resyncNever // its lives are numbered here, and its replays repair what can be
	}
	err := h.resyncOne(ctx, name, rep, path)
	switch {
	case err == nil:
		h.log.Info("index: the replica was stale, and told what it holds", "replica", name)
		return resyncAgain
	case errors.Is(err, errNoSnapshot):
		return resyncNever
	case ctx.Err() == nil:
		h.log.Warn("index: the replica is stale and does not say what it holds", "replica", name, "error", err)
	}
	return resyncAgain
}

// replicaAt returns who lives in a slot; nil where nobody does.
func (h *house) replicaAt(id index.HostID) (string, *config.Replica) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, r := range h.residents {
		if r.replica.Host == id {
			_, rep := find(h.cfg, name)
			return name, rep
		}
	}
	return "", nil
}

func (h *house) resyncOne(ctx context.Context, name string, rep *config.Replica, path string) error {
	ctx, cancel := context.WithTimeout(ctx, resyncTimeout)
	defer cancel()
	defer h.feed.Hold(name)()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(rep.URL, "/")+path, nil)
	if err != nil {
		return err
	}
	if rep.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+rep.APIKey)
	}
	resp, err := h.web.Do(r)
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
	at, held, err := readSnapshot(name, lines)
	if err != nil {
		return err
	}
	return h.feed.Resync(name, at.Epoch, at.Seq, held)
}

// readSnapshot reads what an engine holds: batches in JSON, one a line, all of the same epoch and number.
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
