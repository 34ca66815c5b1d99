package plugins

import (
	"context"

	"github.com/zeebo/xxh3"

	"octet/routing"
)

// tenant writes the tenant of the request's key, and the priority after its ceiling.
type tenant struct{ named }

func newTenant(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin { return tenant{named{"tenant", nil}} }
}

// Writes implements routing.Preparer.
func (tenant) Writes() []routing.AnySlot { return reads(Tenant) }

// Prepare implements routing.Preparer. It never fails.
func (tenant) Prepare(_ context.Context, c *routing.Context) error {
	f := c.View().Facts()
	Tenant.Put(c, Asker{Name: f.Tenant, Key: xxh3.HashString(f.Tenant), Priority: f.Priority})
	return nil
}
