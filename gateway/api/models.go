package api

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
)

// Models answers /v1/models.
type Models struct{ Refuse Refuse }

// model is one entry of /v1/models.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	Parent  string `json:"parent,omitempty"`        // the specialist of an adapter
	Context int    `json:"max_model_len,omitempty"` // tokens of prompt and answer together
}

// List answers with all models that the tenant may name.
func (h Models) List(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	c.JSON(http.StatusOK, gin.H{"object": "list", "data": models(rt, t)})
}

// One answers with the model of the path.
func (h Models) One(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	id := c.Param("id")
	for _, m := range models(rt, t) {
		if m.ID == id {
			c.JSON(http.StatusOK, m)
			return
		}
	}
	h.Refuse(c, apierr.New(apierr.ModelNotFound, "model", fmt.Sprintf("there is no model %q", id)))
}

// models lists what a tenant may name as `model`: octet, then the specialists and their adapters in configured order.
func models(rt *ensemble.Runtime, t *tenant.Tenant) []model {
	list := []model{{ID: "octet", Object: "model", OwnedBy: "octet"}}
	for _, sp := range rt.Specialists {
		if !t.Permits(sp.Name) {
			continue
		}
		list = append(list, model{ID: sp.Name, Object: "model", Created: sp.Created, OwnedBy: "octet",
			Context: sp.MaxContext()})
		for _, adapter := range sp.Adapters {
			list = append(list, model{ID: sp.Name + ":" + adapter, Object: "model", Created: sp.Created,
				OwnedBy: "octet", Parent: sp.Name, Context: sp.MaxContext()})
		}
		list[0].Created = max(list[0].Created, sp.Created)
	}
	return list
}
