package api

import (
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/tenant"
)

// Operator lets only operators' requests pass to the admin listener.
type Operator struct {
	Refuse Refuse
	Token  string   // empty if none is configured: then only names of this machine are answered
	Hosts  []string // what the admin listener is called besides loopback names, in lower case
}

// Handle stops a request that does not know the token, or that a page of another site has had sent.
func (h Operator) Handle(c *gin.Context) {
	err := h.fromPage(c.Request)
	if len(c.Request.Header["Authorization"]) > 1 {
		err = apierr.Repeated("Authorization")
	}
	if err == nil && !h.Knows(c.GetHeader("Authorization")) {
		err = apierr.New(apierr.InvalidAPIKey, "Authorization", "the admin token is required")
	}
	if err != nil {
		h.Refuse(c, err)
		c.Abort()
	}
}

// Knows reports whether an Authorization header has the admin token, if there is one.
func (h Operator) Knows(authorization string) bool {
	key, _ := tenant.BearerKey(authorization)
	return h.Token == "" || subtle.ConstantTimeCompare([]byte(key), []byte(h.Token)) == 1
}

// fromPage refuses what a page of another site has an operator's browser send to the admin listener: a foreign Origin,
// a form, or, without a token, a name of that site's own that it has led here (DNS rebinding).
func (h Operator) fromPage(r *http.Request) *apierr.Error {
	switch {
	case tenant.CrossSite(r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site"), r.Host, nil):
		return apierr.New(apierr.PermissionDenied, "Origin", "the admin listener answers no pages of other sites")
	case r.Method == http.MethodPost && formType(r.Header.Get("Content-Type")):
		return apierr.New(apierr.UnsupportedMediaType, "Content-Type", "a body must be application/json")
	case h.Token == "" && !h.called(r.Host):
		return apierr.New(apierr.PermissionDenied, "Host",
			"without admin.token the admin listener is called by a loopback name, its address, or one of admin.hosts")
	}
	return nil
}

// formType reports whether a page may send such a body to another site without asking.
func formType(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType) // what cannot be parsed is no form
	return media == "text/plain" || media == "application/x-www-form-urlencoded" || media == "multipart/form-data"
}

// called reports whether host, with or without a port, is what the admin listener is called here.
func (h Operator) called(host string) bool {
	name := hostname(host)
	if ip, err := netip.ParseAddr(name); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	return name == "localhost" || slices.Contains(h.Hosts, name)
}

// hostname is a Host header without its port, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
