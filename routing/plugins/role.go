package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// role keeps the replicas that can do what the profile selects for: for a whole request those that prefill and decode.
type role struct{ named }

func newRole(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin { return &role{named{"role", reads(Fleet)}} }
}

// Filter implements routing.Filter.
func (*role) Filter(v routing.View, in index.HostBitmap) index.HostBitmap {
	s := Fleet.Get(v)
	switch v.Role() {
	case routing.RolePreprocess:
		return in.And(s.Preprocess())
	case routing.RolePrefill:
		return in.And(s.Prefill())
	case routing.RoleDecode:
		return in.And(s.Decode())
	}
	return in.And(s.Both())
}
