package natslink

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"octet/routing/peers"
)

// keys is the bucket of what gateways put, over one connection. Safe for concurrent use.
type keys struct {
	js     jetstream.JetStream
	bucket string
	life   time.Duration
	opened atomic.Pointer[jetstream.KeyValue] // nil until it is found, and after a failure
}

// Put implements peers.Link.
func (l *Link) Put(ctx context.Context, key string, seen peers.Held, value string) (peers.Held, error) {
	if err := l.keeper.Sendable(0); err != nil {
		return peers.Held{}, err
	}
	k := l.keys.Load()
	if k == nil {
		return peers.Held{}, fmt.Errorf("%w: no connection", peers.ErrAway)
	}
	ctx, cancel := context.WithTimeout(ctx, l.keeper.Config().Timeout)
	defer cancel()
	there, err := k.put(ctx, key, seen, value)
	if err != nil {
		k.opened.Store(nil) // it may be another one
		return peers.Held{}, fmt.Errorf("%w: %w", peers.ErrAway, err)
	}
	return there, nil
}

func (k *keys) put(ctx context.Context, key string, seen peers.Held, value string) (peers.Held, error) {
	kv, err := k.open(ctx)
	if err != nil {
		return peers.Held{}, err
	}
	var revision uint64
	if seen.Revision == 0 {
		revision, err = kv.Create(ctx, key, []byte(value))
	} else {
		revision, err = kv.Update(ctx, key, []byte(value), seen.Revision)
	}
	switch {
	case err == nil:
		return peers.Held{Value: value, Revision: revision}, nil
	case !errors.Is(err, jetstream.ErrKeyExists) && !errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return peers.Held{}, err
	}
	entry, err := kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) { // its time is over
		return peers.Held{}, nil
	}
	if err != nil {
		return peers.Held{}, err
	}
	return peers.Held{Value: string(entry.Value()), Revision: entry.Revision()}, nil
}

func (k *keys) open(ctx context.Context) (jetstream.KeyValue, error) {
	if kv := k.opened.Load(); kv != nil {
		return *kv, nil
	}
	kv, err := bucket(ctx, k.js, jetstream.KeyValueConfig{Bucket: k.bucket, Description: "what Octet's gateways claim",
		TTL: k.life})
	if err != nil {
		return nil, err
	}
	k.opened.Store(&kv)
	return kv, nil
}
