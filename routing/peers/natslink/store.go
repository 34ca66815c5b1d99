package natslink

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"octet/routing/peers/lease"
)

// minLife is the shortest life that a bucket's values can have.
const minLife = 100 * time.Millisecond

// shown is how many bytes of a value are looked at: a stamp has fewer.
const shown = 128

// store is the name's key over one connection. Owned by the goroutine that claims.
type store struct {
	js     jetstream.JetStream
	bucket string
	key    string
	lease  time.Duration
	kv     jetstream.KeyValue // nil until the bucket is found, and after a failure
	life   time.Duration      // of its values; zero for ever
}

func (l *Link) store(conn *nats.Conn) (*store, error) {
	c := l.keeper.Config()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(c.Timeout))
	if err != nil {
		return nil, err
	}
	return &store{js: js, bucket: l.config.Bucket, key: namespace + c.Name, lease: c.Lease}, nil
}

// open finds the bucket, or makes it.
func (s *store) open(ctx context.Context) (jetstream.KeyValue, error) {
	if s.kv != nil {
		return s.kv, nil
	}
	kv, err := bucket(ctx, s.js, jetstream.KeyValueConfig{Bucket: s.bucket, Description: "names of Octet's gateways",
		TTL: max(s.lease, minLife)})
	if err != nil {
		return nil, err
	}
	about, err := kv.Status(ctx)
	if err != nil {
		return nil, err
	}
	s.kv, s.life = kv, about.TTL()
	return kv, nil
}

// bucket finds a bucket, or makes it.
func bucket(ctx context.Context, js jetstream.JetStream, as jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	kv, err := js.KeyValue(ctx, as.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateKeyValue(ctx, as)
		if errors.Is(err, jetstream.ErrBucketExists) { // another gateway was faster
			kv, err = js.KeyValue(ctx, as.Bucket)
		}
	}
	return kv, err
}

// Life implements lease.Store.
func (s *store) Life() time.Duration { return s.life }

// Look implements lease.Store.
func (s *store) Look(ctx context.Context) (lease.Held, error) {
	kv, err := s.open(ctx)
	if err != nil {
		return lease.Held{}, err
	}
	entry, err := kv.Get(ctx, s.key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return lease.Held{}, nil
	}
	if err != nil {
		return lease.Held{}, s.failed(err)
	}
	value := entry.Value()
	return lease.Held{Value: string(value[:min(len(value), shown)]), Revision: entry.Revision()}, nil
}

// Swap implements lease.Store.
func (s *store) Swap(ctx context.Context, seen lease.Held, value string) (lease.Held, error) {
	kv, err := s.open(ctx)
	if err != nil {
		return lease.Held{}, err
	}
	var revision uint64
	if seen.Revision == 0 {
		revision, err = kv.Create(ctx, s.key, []byte(value))
	} else {
		revision, err = kv.Update(ctx, s.key, []byte(value), seen.Revision)
	}
	if err != nil {
		return lease.Held{}, s.failed(err)
	}
	return lease.Held{Value: value, Revision: revision}, nil
}

// Drop implements lease.Store.
func (s *store) Drop(ctx context.Context, seen lease.Held) error {
	kv, err := s.open(ctx)
	if err != nil {
		return err
	}
	if err := kv.Delete(ctx, s.key, jetstream.LastRevision(seen.Revision)); err != nil {
		return s.failed(err)
	}
	return nil
}

// failed returns what an error means. After one that says nothing of the value, the bucket may be another one.
func (s *store) failed(err error) error {
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return lease.ErrOther
	}
	s.kv = nil
	return err
}
