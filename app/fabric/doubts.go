package fabric

import (
	"time"

	"octet/routing/events"
	"octet/routing/index"
)

// doubts are the replicas that the log was told are scored approximately, and since when; by name.
type doubts map[string]doubt

type doubt struct {
	host  index.HostID
	since time.Time
}

// tellDoubts logs, once each, that a replica is scored approximately since batches of its life are missing, and that it
// is exact again. What is over within a look is not told.
func (w *sourceWatch) tellDoubts(now time.Time) {
	told, present := w.doubts, *w.present.Load()
	for name, d := range told {
		if r, ok := present[name]; !ok || r.Host != d.host {
			delete(told, name) // another replica has its name, if one has
		}
	}
	for name, r := range present {
		d, was := told[name]
		switch partly := w.beliefs.Partly(r.Host); {
		case partly && !was:
			told[name] = doubt{r.Host, now}
			w.tellDoubt(name, r.Host)
		case was && !partly:
			delete(told, name)
			w.log.Info("index: the replica is exact again", "replica", name, "after",
				now.Sub(d.since).Round(watchEvery), "blocks", w.index.Host(r.Host).Blocks,
				"known", share(w.beliefs.Known(r.Host)))
		}
	}
}

func (w *sourceWatch) tellDoubt(name string, id index.HostID) {
	unknown, missing := w.feed.Unknown(name)
	w.log.Info("index: the replica is scored approximately, until its events tell enough", "replica", name,
		"why", reasonOf(unknown, missing), "from_seq", unknown.Seq, "blocks", w.index.Host(id).Blocks,
		"orphans", unknown.Orphans, "known", share(w.beliefs.Known(id)))
}

// reasonOf returns why not all of a replica's cache is known.
func reasonOf(unknown events.Unknown, missing bool) string {
	switch {
	case !missing:
		return "its engine delivers what its events did not tell of"
	case unknown.Joined:
		return "its engine had published before the gateway listened, and what it holds from then is not told"
	default:
		return "batches of its events are lost"
	}
}
