package sharedrates

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"octet/gateway/tenant/budget"
)

// sum adds what is owed to two counts, and n to both if that keeps them within their limits, at once. A count that is
// not there, as of a Redis that has lost its memory, begins at what the gateway knows. It is dropped long after its
// period.
var sum = redis.NewScript(`
local fits, n = 1, tonumber(ARGV[1])
for i = 1, 2 do
	redis.call('SET', KEYS[i], ARGV[7 + i], 'NX')
	local used = redis.call('INCRBY', KEYS[i], ARGV[2 * i])
	local limit = tonumber(ARGV[2 * i + 1])
	if limit > 0 and used + n > limit then fits = 0 end
end
local said = {fits}
for i = 1, 2 do
	said[i + 1] = redis.call('INCRBY', KEYS[i], fits * n)
	redis.call('PEXPIRE', KEYS[i], ARGV[5 + i])
end
return said`)

// Sum implements budget.Shared.
func (r *Rates) Sum(s budget.Sum) (counts [2]int64, added bool, err error) {
	keys := []string{r.cfg.Prefix + s.Keys[0], r.cfg.Prefix + s.Keys[1]}
	err = r.ask(func(ctx context.Context) error {
		said, err := sum.Run(ctx, r.client, keys, s.N, s.Owed[0], s.Limits[0], s.Owed[1], s.Limits[1],
			int64(s.Lasts[0]/time.Millisecond), int64(s.Lasts[1]/time.Millisecond), s.Known[0], s.Known[1]).Int64Slice()
		if err != nil {
			return err
		}
		if len(said) != 3 {
			return fmt.Errorf("%d numbers, not 3", len(said))
		}
		added, counts = said[0] == 1, [2]int64{said[1], said[2]}
		return nil
	})
	return counts, added, err
}
