package cmd

import (
	"context"
	"os"
	"time"
)

// lookEvery is how soon another artefact at the configured path is noticed.
const lookEvery = time.Second

// stamp tells one content of a file from another.
type stamp struct {
	path     string
	modified time.Time
	size     int64
}

// followModel calls onChange when the file of the configured artefact has become another one, until ctx ends. A file
// that is gone is waited for; one that is half written fails its checksum and is read again once it has changed
// further.
func (h *house) followModel(ctx context.Context, onChange func()) {
	last := h.modelStamp()
	periodically(ctx, lookEvery, func(time.Time) {
		now := h.modelStamp()
		if now.path == last.path && now != last && !now.modified.IsZero() {
			onChange()
		}
		if !now.modified.IsZero() || now.path != last.path {
			last = now
		}
	})
}

// modelStamp is of the artefact in force; without a time where there is no such file.
func (h *house) modelStamp() stamp {
	h.mu.Lock()
	path := h.cfg.Router.Classifier.Model
	h.mu.Unlock()
	if path == builtinModel {
		return stamp{path: path}
	}
	return stampOf(path)
}

// stampOf is of the file at path; without a time where there is none.
func stampOf(path string) stamp {
	about, err := os.Stat(path)
	if err != nil {
		return stamp{path: path}
	}
	return stamp{path, about.ModTime(), about.Size()}
}
