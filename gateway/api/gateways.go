package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
)

// Gateways answers GET /admin/gateways.
type Gateways struct {
	Refuse Refuse
	Of     func() any // what is known of other gateways, for JSON; nil where this one is the only one
}

// Handle answers with the other gateways and what each has at the replicas.
func (h Gateways) Handle(c *gin.Context) {
	if h.Of == nil {
		h.Refuse(c, apierr.New(apierr.RouteNotFound, "", "this gateway is the only one: gateways is not configured"))
		return
	}
	c.JSON(http.StatusOK, h.Of())
}
