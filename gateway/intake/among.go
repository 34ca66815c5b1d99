package intake

import (
	"fmt"
	"slices"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/routing/index"
)

// Among are the endpoints, host:port each, to which a request may go: the proxy that holds the connections has no
// other. A nil Among has all; an empty one has none.
type Among []string

// Of returns those of hosts that are among a. The error says that there are hosts, and that none of them is.
func (a Among) Of(rt *ensemble.Runtime, hosts index.HostBitmap, sp string) (index.HostBitmap, *apierr.Error) {
	if a == nil || hosts.Empty() {
		return hosts, nil
	}
	some := hosts
	for h := range hosts.All() {
		if r := rt.Replicas[h]; r == nil || !a.Has(r) {
			some.Clear(h)
		}
	}
	if some.Empty() {
		return some, apierr.New(apierr.NoHealthyReplica, "",
			fmt.Sprintf("no replica of %s is among the endpoints that the proxy offers", sp))
	}
	return some, nil
}

// Has reports whether a replica's endpoint is among a.
func (a Among) Has(r *ensemble.Replica) bool { return a == nil || slices.Contains(a, r.Endpoint()) }
