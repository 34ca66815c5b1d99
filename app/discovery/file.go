package discovery

import (
	"context"
	"sync"
	"time"

	"octet/config"
)

// lookEvery is how soon a file is read again that no watch tells of: one that is gone, or on a file system that tells
// nothing.
const lookEvery = 5 * time.Second

// File is the source of a file with a list like replicas. The options say how it is read.
func File(o config.Options) Kind {
	return Kind{"file", func(sp *config.Specialist) Source {
		if sp.Discover.File == "" {
			return nil
		}
		return file{sp, o}
	}}
}

type file struct {
	sp      *config.Specialist
	options config.Options
}

// Watch implements Source.
func (f file) Watch(ctx context.Context, tell func(Set, error)) {
	changed := make(chan struct{}, 1)
	var watching sync.WaitGroup
	defer watching.Wait()
	// a directory that cannot be watched is looked at by time
	if w, err := config.OpenWatch(f.sp.Discover.File); err == nil {
		watching.Go(func() { _ = w.Run(ctx, func() { Poke(changed) }) })
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		all, err := f.sp.ReadFound(f.sp.Discover.File, "file", f.options)
		tell(Set{Replicas: all}, err)
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-look.C:
		}
	}
}
