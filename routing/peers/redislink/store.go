package redislink

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"octet/routing/peers/lease"
)

// see sets there to what stands for the key's value: its beginning, or the type of what is no string; false if there is
// none.
const see = `
local kind = redis.call('TYPE', KEYS[1]).ok
local there = kind
if kind == 'none' then there = false elseif kind == 'string' then there = redis.call('GETRANGE', KEYS[1], 0, 127) end
`

var (
	look = redis.NewScript(see + `return there`)
	// swap replaces ARGV[2], which was there (or nothing, if ARGV[1] is 0), by ARGV[3] for ARGV[4] milliseconds; by
	// nothing, if these are 0.
	swap = redis.NewScript(see + `
if (ARGV[1] == '0') ~= (there == false) or there and there ~= ARGV[2] then return 0 end
if ARGV[4] == '0' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
return 1`)
)

// store is the name's key.
type store struct {
	client *redis.Client
	key    string
	lease  time.Duration
}

func (l *Link) store(client *redis.Client) *store {
	c := l.keeper.Config()
	return &store{client: client, key: l.config.Prefix + "gateway:" + c.Name, lease: c.Lease}
}

// Life implements lease.Store: values are kept for the lease.
func (s *store) Life() time.Duration { return s.lease }

// Look implements lease.Store.
func (s *store) Look(ctx context.Context) (lease.Held, error) {
	value, err := look.Run(ctx, s.client, []string{s.key}).Text()
	if errors.Is(err, redis.Nil) {
		return lease.Held{}, nil
	}
	if err != nil {
		return lease.Held{}, err
	}
	return lease.Held{Value: value, Revision: 1}, nil
}

// Swap implements lease.Store.
func (s *store) Swap(ctx context.Context, seen lease.Held, value string) (lease.Held, error) {
	return lease.Held{Value: value, Revision: 1}, s.swap(ctx, seen, value, s.lease)
}

// Drop implements lease.Store.
func (s *store) Drop(ctx context.Context, seen lease.Held) error { return s.swap(ctx, seen, "", 0) }

func (s *store) swap(ctx context.Context, seen lease.Held, value string, life time.Duration) error {
	done, err := swap.Run(ctx, s.client, []string{s.key}, min(seen.Revision, 1), seen.Value, value,
		life.Milliseconds()).Int()
	if err == nil && done != 1 {
		return lease.ErrOther
	}
	return err
}
