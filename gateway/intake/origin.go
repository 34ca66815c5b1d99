package intake

import (
	"octet/gateway/apierr"
	"octet/gateway/tenant"
)

// checkOrigin refuses requests without a key that a page of another site has its visitor's browser send. With a key no
// browser sends any without asking first, and the answer to that is no.
func checkOrigin(h *headers, host string, t *tenant.Tenant, allowed []string) *apierr.Error {
	if t.Keyless && tenant.CrossSite(h.origin, h.fetchSite, host, allowed) {
		return apierr.New(apierr.PermissionDenied, "Origin",
			"pages of other sites need a key here, or their origin under auth.origins")
	}
	return nil
}
