package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"octet/config"
)

const (
	peerTimeout  = 30 * time.Second
	peerBytes    = 4 << 30 // of a peer's snapshot
	privateMode  = 0o600   // of files that tell what clients asked
	artefactMode = 0o644
)

// restore takes over what was known before: from the file, else from a peer. Neither has to be there: what is missing
// comes by the streams.
func (h *house) restore(ctx context.Context, c config.Snapshot) {
	if c.File != "" {
		n, err := h.load(c.File)
		if err == nil {
			h.log.Info("index restored", "file", c.File, "replicas", n)
			return
		}
		if !errors.Is(err, os.ErrNotExist) {
			h.log.Warn("the index was not restored", "file", c.File, "error", err)
		}
	}
	if c.Peer == "" {
		return
	}
	n, err := h.fetch(ctx, c)
	if err != nil {
		h.log.Warn("the index was not taken over", "peer", c.Peer, "error", err)
		return
	}
	h.log.Info("index taken over", "peer", c.Peer, "replicas", n)
}

func (h *house) load(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return h.feed.Load(f)
}

func (h *house) fetch(ctx context.Context, c config.Snapshot) (int, error) {
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
	resp, err := h.web.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("it answers %s", resp.Status)
	}
	return h.feed.Load(io.LimitReader(resp.Body, peerBytes))
}

// keep writes the file at every interval, until ctx ends, and then once more.
func (h *house) keep(ctx context.Context, c config.Snapshot) {
	if c.File == "" {
		return
	}
	atIntervals(ctx, c.Interval, func() {
		if err := h.save(c.File); err != nil {
			h.log.Warn("the index was not saved", "file", c.File, "error", err)
		}
	})
}

// atIntervals calls save at every interval until ctx ends, and then once more.
func atIntervals(ctx context.Context, interval time.Duration, save func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ended = true
		}
		save()
	}
}

// save replaces the file as a whole or not at all.
func (h *house) save(path string) error { return replaceFile(path, privateMode, h.feed.Save) }

// replaceFile writes a file as a whole or not at all: who watches it never reads a part.
func replaceFile(path string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(mode), write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
