package api

import (
	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
)

// Refuse answers a request with a typed error.
type Refuse func(c *gin.Context, e *apierr.Error)

// Current returns the configuration in force.
type Current func() *ensemble.Runtime

// TenantHandler answers a request of a tenant, under the configuration that identified it.
type TenantHandler func(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant)

// NewEngine returns a gin engine whose every answer, to unknown routes also, is in the contract's shape.
func NewEngine(refuse Refuse) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.RedirectTrailingSlash = false
	e.RedirectFixedPath = false
	e.HandleMethodNotAllowed = true
	e.NoRoute(func(c *gin.Context) {
		refuse(c, apierr.New(apierr.RouteNotFound, "", apierr.NothingAt+asked(c)))
	})
	e.NoMethod(func(c *gin.Context) {
		refuse(c, apierr.New(apierr.MethodNotAllowed, "", c.Request.Method+" is not possible at "+asked(c)))
	})
	return e
}

// longestPath is how much of a path is told, in bytes.
const longestPath = 256

// asked returns the path of a request as far as it is told.
func asked(c *gin.Context) string {
	path := c.Request.URL.Path
	return path[:min(len(path), longestPath)]
}
