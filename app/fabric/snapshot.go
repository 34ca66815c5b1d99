package fabric

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"octet/config"
	"octet/internal/files"
)

const (
	peerTimeout = 30 * time.Second
	peerBytes   = 4 << 30 // of a peer's snapshot, at most
)

// Restore takes over what was known before from the file, else from a peer. Neither needs to exist: what is missing
// comes by the sources.
func (f *Fabric) Restore(ctx context.Context, c config.Snapshot) {
	if c.File != "" {
		n, err := f.load(c.File)
		if err == nil {
			f.log.Info("index restored", "file", c.File, "replicas", n)
			return
		}
		if !errors.Is(err, os.ErrNotExist) {
			f.log.Warn("the index was not restored", "file", c.File, "error", err)
		}
	}
	if c.Peer == "" {
		return
	}
	n, err := f.Fetch(ctx, c)
	if err != nil {
		f.log.Warn("the index was not taken over", "peer", c.Peer, "error", err)
		return
	}
	f.log.Info("index taken over", "peer", c.Peer, "replicas", n)
}

func (f *Fabric) load(path string) (replicas int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return f.feed.Load(file)
}

// Fetch takes over what the gateway at c.Peer knows.
func (f *Fabric) Fetch(ctx context.Context, c config.Snapshot) (replicas int, err error) {
	return f.fetch(ctx, c, f.feed.Load)
}

// fetch has load read the snapshot of the gateway at c.Peer.
func (f *Fabric) fetch(ctx context.Context, c config.Snapshot, load func(io.Reader) (int, error)) (replicas int,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, peerTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.Peer, "/")+"/admin/index/snapshot",
		nil)
	if err != nil {
		return 0, err
	}
	if c.PeerToken != "" {
		r.Header.Set("Authorization", "Bearer "+c.PeerToken)
	}
	resp, err := f.web.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("it answers %s", resp.Status)
	}
	return load(io.LimitReader(resp.Body, peerBytes))
}

// keep writes the snapshot file at every interval, until ctx ends, and then once more.
func (f *Fabric) keep(ctx context.Context, c config.Snapshot) {
	if c.File == "" {
		return
	}
	files.SaveEvery(ctx, c.Interval, func() {
		if err := f.SaveFile(c.File); err != nil {
			f.log.Warn("the index was not saved", "file", c.File, "error", err)
		}
	})
}

// SaveFile writes all that is known to a snapshot file, as a whole or not at all.
func (f *Fabric) SaveFile(path string) error { return files.Replace(path, files.Private, f.feed.Save) }
