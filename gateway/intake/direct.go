package intake

import (
	"context"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/tenant"
)

// replicaHeader names the one replica that is to answer: for tenants that may, and with the admin token as the key.
const replicaHeader = "X-Octet-Replica"

// identify returns the tenant of a request at a time. The admin token is a key only with a replica that it names.
func identify(ctx context.Context, h *headers, tenants *tenant.Table, now time.Time) (*tenant.Tenant, *apierr.Error) {
	if len(h.replica) > 0 {
		if operator := tenants.ByToken(h.authorization); operator != nil {
			return operator, nil
		}
	}
	return tenants.ByFields(ctx, h.authorization, h.apiKey, now)
}

// readReplica returns the replica that a request names, "" if it names none. A tenant without the right does not learn
// whether there is such a replica.
func readReplica(h *headers, t *tenant.Tenant) (string, *apierr.Error) {
	name, err := headerToken(h.replica, replicaHeader)
	if err == nil && name != "" && !t.MayDirect {
		return "", apierr.New(apierr.PermissionDenied, replicaHeader, "this key may not name a replica")
	}
	return name, err
}

// UnknownReplica is the error of a request that names a replica which is not there, or not where the request goes.
func UnknownReplica(message string) *apierr.Error {
	return apierr.New(apierr.ModelNotFound, replicaHeader, message)
}

// NoReplicaNamed is the error of a request that has to name a replica, and does not.
func NoReplicaNamed(specialist string) *apierr.Error {
	return apierr.New(apierr.MissingParameter, replicaHeader,
		"the profile of "+specialist+" serves only requests that name a replica")
}
