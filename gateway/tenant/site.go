package tenant

import (
	"net/url"
	"slices"
	"strings"
)

// CrossSite reports whether a browser says that another site's page sends a request to host. Programs say nothing of
// that.
func CrossSite(origin, fetchSite, host string, allowed []string) bool {
	if origin != "" && slices.Contains(allowed, origin) {
		return false
	}
	return fetchSite == "cross-site" || origin != "" && !sameHost(origin, host)
}

// sameHost reports whether an Origin is of the host that the request names, whatever stands in between and ends its
// TLS.
func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false // "null" is of no host
	}
	return strings.EqualFold(withoutPort(u.Host, u.Scheme), withoutPort(host, u.Scheme))
}

// withoutPort leaves out the port that a scheme has by itself.
func withoutPort(host, scheme string) string {
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return strings.TrimSuffix(host, port)
}
