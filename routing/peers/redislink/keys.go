package redislink

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"octet/routing/peers"
)

// askers bounds the connections by which gateways put, made as they are needed.
const askers = 8

// put replaces ARGV[1], which was there (or nothing, if it is empty), by ARGV[2] for ARGV[3] milliseconds. It returns
// what is there.
var put = redis.NewScript(`
local there = redis.call('GET', KEYS[1]) or ''
if there ~= ARGV[1] then return there end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return ARGV[2]`)

// Put implements peers.Link.
func (l *Link) Put(ctx context.Context, key string, seen peers.Held, value string) (peers.Held, error) {
	if err := l.keeper.Sendable(0); err != nil {
		return peers.Held{}, err
	}
	client := l.keys.Load()
	if client == nil {
		return peers.Held{}, fmt.Errorf("%w: no connection", peers.ErrAway)
	}
	ctx, cancel := context.WithTimeout(ctx, l.keeper.Config().Timeout)
	defer cancel()
	there, err := put.Run(ctx, client, []string{l.config.Prefix + "key:" + key}, seen.Value, value,
		l.config.Keep.Milliseconds()).Text()
	if err != nil {
		return peers.Held{}, fmt.Errorf("%w: %w", peers.ErrAway, err)
	}
	return peers.Held{Value: there}, nil
}
