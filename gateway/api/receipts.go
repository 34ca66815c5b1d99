package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/receipt"
	"octet/gateway/tenant"
)

// Receipts answers /v1/receipts/{id} and /admin/receipts/{id}.
type Receipts struct {
	Refuse Refuse
	Rings  *receipt.Rings
}

// Own answers with a receipt of the tenant's.
func (h Receipts) Own(c *gin.Context, _ *ensemble.Runtime, t *tenant.Tenant) {
	r, ok := h.Rings.Find(t.Name, c.Param("id"))
	if !ok {
		var whose string
		whose, r, ok = h.Rings.Past(c.Param("id"))
		ok = ok && whose == t.Name
	}
	if !ok {
		h.Refuse(c, apierr.New(apierr.ReceiptNotFound, "id", "no receipt of that id is kept for this key"))
		return
	}
	c.JSON(http.StatusOK, r.ForClient())
}

// Any answers an operator with a receipt of any tenant's. It says in the engines' own words why attempts failed.
func (h Receipts) Any(c *gin.Context) {
	r, ok := h.Rings.Search(c.Param("id"))
	if !ok {
		_, r, ok = h.Rings.Past(c.Param("id"))
	}
	if !ok {
		h.Refuse(c, apierr.New(apierr.ReceiptNotFound, "id", "no receipt of that id is kept"))
		return
	}
	c.JSON(http.StatusOK, r)
}
