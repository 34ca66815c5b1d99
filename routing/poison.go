package routing

import (
	"octet/internal/poison"
	"octet/kvpool"
	"octet/routing/index"
)

// poison overwrites all that was obtained from c, where that is built in.
func (c *Context) poison() {
	if !poison.On {
		return
	}
	poison.Values(c.ranked)
	poison.Values(c.steps)
	for _, r := range c.records[:cap(c.records)] {
		if r != nil {
			r.poison()
		}
	}
	for _, place := range c.cells {
		if place, ok := place.(interface{ poison() }); ok {
			place.poison()
		}
	}
}

func (r *record) poison() {
	poison.Values(r.cuts)
	poison.Values(r.hosts)
	poison.Values(r.raw)
	poison.Values(r.total)
	poison.Values(r.laps)
}

// poison overwrites buffers, which are the Context's own. Other values are shared, or no memory.
func (c *cell[T]) poison() {
	switch v := any(c.value).(type) {
	case []uint32:
		poison.Words(v)
	case []kvpool.BlockHash:
		poison.Words(v)
	case *[index.MaxHosts]uint16:
		if v != nil {
			poison.Words(v[:])
		}
	}
}
