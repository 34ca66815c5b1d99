package gateway

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
	"octet/slo"
)

// model is one entry of /v1/models.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	Parent  string `json:"parent,omitempty"`        // the specialist of an adapter
	Context int    `json:"max_model_len,omitempty"` // tokens of prompt and answer together
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

func (s *Server) listModels(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	c.JSON(http.StatusOK, gin.H{"object": "list", "data": models(rt, t)})
}

func (s *Server) oneModel(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	id := c.Param("id")
	for _, m := range models(rt, t) {
		if m.ID == id {
			c.JSON(http.StatusOK, m)
			return
		}
	}
	s.refuse(c, apierr.New(apierr.ModelNotFound, "model", fmt.Sprintf("there is no model %q", id)))
}

func (s *Server) oneReceipt(c *gin.Context, _ *ensemble.Runtime, t *tenant.Tenant) {
	r, ok := s.receipts.Find(t.Name, c.Param("id"))
	if !ok {
		s.refuse(c, apierr.New(apierr.ReceiptNotFound, "id", "no receipt of that id is kept for this key"))
		return
	}
	c.JSON(http.StatusOK, r.ForClient())
}

// anyReceipt tells an operator any tenant's receipt, with what its attempts failed of in the engines' own words.
func (s *Server) anyReceipt(c *gin.Context) {
	r, ok := s.receipts.Search(c.Param("id"))
	if !ok {
		s.refuse(c, apierr.New(apierr.ReceiptNotFound, "id", "no receipt of that id is kept"))
		return
	}
	c.JSON(http.StatusOK, r)
}

func (s *Server) allSLOs(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	reports := make(map[string]slo.Report, len(rt.Specialists))
	for _, sp := range rt.Specialists {
		if t.Permits(sp.Name) {
			reports[sp.Name] = sp.Board.Report()
		}
	}
	c.JSON(http.StatusOK, gin.H{"specialists": reports})
}

func (s *Server) oneSLO(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	name := c.Param("specialist")
	sp := rt.Specialist(name)
	if sp == nil || !t.Permits(name) {
		s.refuse(c, apierr.New(apierr.ModelNotFound, "specialist", fmt.Sprintf("there is no specialist %q", name)))
		return
	}
	c.JSON(http.StatusOK, sp.Board.Report())
}
