package fabric

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"octet/config"
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

// resyncStale asks the engines of stale replicas, one after the other, for snapshots of what they hold, and the peer
// for what it knows of those whose engines do not tell, until ctx ends.
func (f *Fabric) resyncStale(ctx context.Context, c config.Events) {
	if c.ResyncPath == "" && c.Snapshot.Peer == "" {
		return
	}
	r := repairs{f: f, config: c, engine: map[index.HostID]time.Time{}, peer: map[index.HostID]time.Time{}}
	contain.Every(ctx, resyncEvery, func(time.Time) { r.look(ctx) })
}

// repairs is when stale replicas are asked for again.
type repairs struct {
	f            *Fabric
	config       config.Events
	engine, peer map[index.HostID]time.Time // not before; by slot
}

func (r *repairs) look(ctx context.Context) {
	stale := r.f.index.Stale()
	for _, due := range []map[index.HostID]time.Time{r.engine, r.peer} {
		for id := range due {
			if !stale.Has(id) {
				delete(due, id)
			}
		}
	}
	for id := range stale.All() {
		if again, asked := r.engine[id]; r.config.ResyncPath != "" && !time.Now().Before(again) {
			r.engine[id] = time.Now().Add(r.f.repair(ctx, id, r.config.ResyncPath, loudAtFirst(asked)))
		}
	}
	r.askPeer(ctx, r.f.index.Stale())
}

// askPeer takes over what the peer knows of stale replicas, all in one answer.
func (r *repairs) askPeer(ctx context.Context, stale index.HostBitmap) {
	if r.config.Snapshot.Peer == "" {
		return
	}
	wanted, askedAll := map[string]bool{}, true
	for id := range stale.All() {
		again, asked := r.peer[id]
		rep, ok := r.f.replicaAt(id)
		if !ok || time.Now().Before(again) {
			continue
		}
		askedAll = askedAll && asked
		wanted[rep.Name], r.peer[id] = true, time.Now().Add(resyncAgain)
	}
	if len(wanted) == 0 {
		return
	}
	n, err := r.f.fetchMissed(ctx, r.config.Snapshot, wanted)
	switch {
	case err != nil && ctx.Err() == nil:
		r.f.log.Log(ctx, loudAtFirst(askedAll),
			"index: replicas are stale and the peer does not say what it knows of them",
			"peer", r.config.Snapshot.Peer, "replicas", len(wanted), "error", err)
	case n > 0:
		r.f.log.Info("index: the peer told what it knows of stale replicas", "peer", r.config.Snapshot.Peer,
			"replicas", n)
	}
}

// fetchMissed takes over what the peer knows of replicas. What those publish waits meanwhile, so that it does not
// outdate the answer.
func (f *Fabric) fetchMissed(ctx context.Context, c config.Snapshot, wanted map[string]bool) (replicas int, err error) {
	for name := range wanted {
		defer f.feed.Hold(name)()
	}
	return f.fetch(ctx, c, func(in io.Reader) (int, error) {
		return f.feed.LoadMissed(in, func(name string) bool { return wanted[name] })
	})
}

// loudAtFirst is the level at which it is told that a replica stays stale: an engine that does not say what it holds is
// asked every few seconds, for as long as that may take.
func loudAtFirst(asked bool) slog.Level {
	if asked {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// repair tries to bring one replica up to date, and returns when to try again should it still be stale. That it could
// not is told at level.
func (f *Fabric) repair(ctx context.Context, id index.HostID, path string, level slog.Level) time.Duration {
	rep, ok := f.replicaAt(id)
	if !ok {
		return resyncAgain
	}
	err := f.Resync(ctx, rep, path)
	switch {
	case err == nil:
		f.log.Info("index: the replica was stale, and told what it holds", "replica", rep.Name)
		return resyncAgain
	case errors.Is(err, errNoSnapshot):
		return resyncNever
	case ctx.Err() == nil:
		f.log.Log(ctx, level, "index: the replica is stale and does not say what it holds", "replica", rep.Name,
			"error", err)
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
	if rep.Rank != nil {
		if rep.RankHeader == "" {
			return errNoSnapshot // it would be of any of its ranks
		}
		r.Header.Set(rep.RankHeader, strconv.Itoa(*rep.Rank))
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
	if events, ok := f.feed.Position(rep.Name); ok && events.Epoch != at.Epoch {
		return f.feed.Adopt(rep.Name, held) // its events are numbered here, or by a bridge
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
