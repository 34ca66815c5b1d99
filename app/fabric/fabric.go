package fabric

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/app/collectors"
	"octet/config"
	"octet/internal/dialing"
	"octet/kvpool"
	"octet/routing/approx"
	"octet/routing/belief"
	"octet/routing/events"
	"octet/routing/index"
	"octet/routing/index/reference"
	"octet/routing/index/runs"
)

// ErrConfig is a configuration that parses but cannot be built.
var ErrConfig = errors.New("configuration")

// ErrFull is an index without a free slot: replicas that have gone keep theirs until it is swept.
var ErrFull = errors.New("no slot is free in the index")

// Fabric is the gateway's knowledge of engines' caches, and all that brings it. It outlives generations of the
// configuration.
type Fabric struct {
	log     *slog.Logger
	index   index.Indexer
	guesses *approx.Index
	beliefs *belief.Beliefs
	feed    *events.Feed
	sockets *sockets
	schemes schemes
	lives   Lives        // may be nil
	web     *http.Client // to engines' and peers' snapshots
	secure  *tls.Config  // of events.grpc; nil is plain TCP

	shared  atomic.Pointer[map[string]source]        // that all replicas share, by name; nil before Start
	present atomic.Pointer[map[string]Replica]       // by name; replaced whole
	targets atomic.Pointer[map[string]events.Target] // by replica name; replaced whole
	waits   atomic.Pointer[waits]                    // of the generation in force
}

// Config is what a Fabric is made of.
type Config struct {
	Log     *slog.Logger
	Events  config.Events
	Hasher  kvpool.Hasher
	Differ  func() index.HostBitmap // replicas whose engines tokenize otherwise than the gateway
	Cleared func(index.HostID)      // called when a replica's cache is empty
	Lives   Lives                   // nil if it does not matter
	Secure  *tls.Config             // of events.grpc; nil is plain TCP
	Guard   *dialing.Guard          // of connections to engines and peers; nil lets no link-local address through
}

// Lives is told of replicas' lives, as far as their events tell.
type Lives interface {
	events.Lives
	// Silent is called with true while the replica's own event socket has been lost for events.exclude_after.
	Silent(replica string, silent bool)
}

// New returns a Fabric without replicas.
func New(c Config) (*Fabric, error) {
	account := index.NewAccount(int64(c.Events.IndexMemory))
	x, err := newIndex(c.Events.Index, index.Config{Account: account})
	if err != nil {
		return nil, err
	}
	guesses, err := approx.New(approx.Config{TTL: c.Events.Approximate.TTL, Blocks: c.Events.Approximate.Blocks})
	if err != nil {
		return nil, err
	}
	f := &Fabric{log: c.Log, index: x, guesses: guesses, lives: c.Lives, web: newWeb(c.Guard), secure: c.Secure}
	f.beliefs = belief.New(belief.Config{Index: x, Guesses: guesses, TTL: c.Events.Approximate.PredictTTL,
		Differ: c.Differ, Cleared: c.Cleared, Patience: func() time.Duration { return f.waits.Load().trustFor }})
	f.present.Store(&map[string]Replica{})
	f.targets.Store(&map[string]events.Target{})
	f.waits.Store(&waits{})
	f.feed = events.NewFeed(f.beliefs, c.Hasher, f.target)
	f.feed.SnapshotRoom(int64(c.Events.IndexMemory))
	f.feed.Within(account)
	if c.Lives != nil {
		f.feed.Tell(c.Lives)
	}
	f.sockets = &sockets{feed: f.feed, log: c.Log, guard: c.Guard, open: map[string]*socket{}}
	return f, nil
}

// newIndex returns the block index that events.index names.
func newIndex(kind string, c index.Config) (index.Indexer, error) {
	if kind == "sharded" {
		return reference.New(c)
	}
	return runs.New(c)
}

// newWeb returns the client that asks engines and peers for snapshots. It follows no redirect: one would carry the key
// to where the configuration does not point.
func newWeb(guard *dialing.Guard) *http.Client {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: (&net.Dialer{Control: guard.Control}).DialContext}, CheckRedirect: stay}
}

// Index returns the index of known blocks.
func (f *Fabric) Index() index.Indexer { return f.index }

// Guesses returns the index of blocks that count since prompts were routed.
func (f *Fabric) Guesses() *approx.Index { return f.guesses }

// Beliefs returns what is known and guessed together.
func (f *Fabric) Beliefs() *belief.Beliefs { return f.beliefs }

// Feed returns what takes cache events in.
func (f *Fabric) Feed() *events.Feed { return f.feed }

// Collectors returns the metrics of sources, feed and guesses.
func (f *Fabric) Collectors() []prometheus.Collector {
	return []prometheus.Collector{collectors.Events{Sources: f.SourceStats, Feed: f.feed.Stats,
		Guesses: f.guesses.Stats, Known: f.known}}
}

// Start opens the configured sources, takes over what was known before and starts what keeps it up to date, until ctx
// ends. wait returns when all of that has ended.
func (f *Fabric) Start(ctx context.Context, c config.Events) (wait func(), err error) {
	shared, err := openSources(c, f.secure)
	if err != nil {
		return nil, err
	}
	f.shared.Store(&shared)
	f.Restore(ctx, c.Snapshot)
	var running sync.WaitGroup
	for name, s := range shared {
		running.Go(func() { takeIn(ctx, s, f.feed.From(name)) })
	}
	running.Go(func() { f.keep(ctx, c.Snapshot) })
	running.Go(func() { f.resyncStale(ctx, c) })
	running.Go(func() { f.watchSources(ctx) })
	running.Go(func() { f.sweepSlots(ctx) })
	unplug := f.sockets.start(ctx)
	return func() {
		unplug()
		running.Wait()
	}, nil
}

func (f *Fabric) target(replica string) (events.Target, bool) {
	t, ok := (*f.targets.Load())[replica]
	return t, ok
}
