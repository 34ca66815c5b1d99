package api

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
	"octet/slo"
)

// SLOs answers /v1/slo.
type SLOs struct{ Refuse Refuse }

// List answers with the reports of all specialists that the tenant may use.
func (h SLOs) List(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	reports := make(map[string]slo.Report, len(rt.Specialists))
	for _, sp := range rt.Specialists {
		if t.Permits(sp.Name) {
			reports[sp.Name] = sp.Board.Report()
		}
	}
	c.JSON(http.StatusOK, gin.H{"specialists": reports})
}

// One answers with the report of the specialist of the path.
func (h SLOs) One(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	name := c.Param("specialist")
	sp := rt.Specialist(name)
	if sp == nil || !t.Permits(name) {
		h.Refuse(c, apierr.New(apierr.ModelNotFound, "specialist", fmt.Sprintf("there is no specialist %q", name)))
		return
	}
	c.JSON(http.StatusOK, sp.Board.Report())
}
