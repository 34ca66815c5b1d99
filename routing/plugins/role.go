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
func (*role) Filter(v routing.View, left *index.HostBitmap) {
	s := Fleet.Get(v)
	able := s.Both()
	switch v.Role() {
	case routing.RolePreprocess:
		able = s.Preprocess()
	case routing.RolePrefill:
		able = s.Prefill()
	case routing.RoleDecode:
		able = s.Decode()
	default: // any replica
	}
	left.Keep(&able)
}
