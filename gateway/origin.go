package gateway

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
)

// crossSite reports whether a browser says that another site's page sends a request to host. Programs say nothing of
// that.
func crossSite(origin, fetchSite, host string, allowed []string) bool {
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
		return false // "null" is nobody's
	}
	return strings.EqualFold(withoutPort(u.Host, u.Scheme), withoutPort(host, u.Scheme))
}

// withoutPort leaves out the port that a scheme has by itself.
func withoutPort(host, scheme string) string {
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return strings.TrimSuffix(host, port)
}

// checkOrigin refuses requests without a key that a page of another site has its visitor's browser send. With a key no
// browser sends any without asking first, and the answer to that is no.
func (x *exchange) checkOrigin() *apierr.Error {
	if x.tenant.Keyless && crossSite(x.heads.origin, x.heads.fetchSite, x.r.Host, x.rt.Origins) {
		return apierr.New(apierr.PermissionDenied, "Origin",
			"pages of other sites need a key here, or their origin under auth.origins")
	}
	return nil
}

// fromPage refuses what a page of another site has an operator's browser send to the admin listener: a foreign Origin,
// a form, or, without a token, a name of that site's own that it has led here (DNS rebinding).
func (s *Server) fromPage(r *http.Request) *apierr.Error {
	switch {
	case crossSite(r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site"), r.Host, nil):
		return apierr.New(apierr.PermissionDenied, "Origin", "the admin listener answers no pages of other sites")
	case r.Method == http.MethodPost && formType(r.Header.Get("Content-Type")):
		return apierr.New(apierr.UnsupportedMediaType, "Content-Type", "a body must be application/json")
	case s.adminToken == "" && !s.knownHost(r.Host):
		return apierr.New(apierr.PermissionDenied, "Host",
			"without admin.token the admin listener is called by a loopback name, its address, or one of admin.hosts")
	}
	return nil
}

// formType reports whether a page may send such a body to another site without asking.
func formType(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType) // what is no media type is no form's
	return media == "text/plain" || media == "application/x-www-form-urlencoded" || media == "multipart/form-data"
}

// knownHost reports whether host, with or without a port, is what the admin listener is called here.
func (s *Server) knownHost(host string) bool {
	name := hostname(host)
	if ip, err := netip.ParseAddr(name); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	return name == "localhost" || slices.Contains(s.adminHosts, name)
}

// hostname is a Host header without its port, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// operator lets pass requests that know the admin token, and none of other sites' pages.
func (s *Server) operator(c *gin.Context) {
	err := s.fromPage(c.Request)
	if len(c.Request.Header["Authorization"]) > 1 {
		err = apierr.Repeated("Authorization")
	}
	if err == nil && !s.knowsToken(c.GetHeader("Authorization")) {
		err = apierr.New(apierr.InvalidAPIKey, "Authorization", "the admin token is required")
	}
	if err != nil {
		s.refuse(c, err)
		c.Abort()
	}
}
