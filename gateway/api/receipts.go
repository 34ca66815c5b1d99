package api

import (
	"context"
	"net/http"
	"time"

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
	// Elsewhere has the receipts of other gateways; nil if there are none.
	Elsewhere Elsewhere
}

// Elsewhere is the other gateways before the same replicas.
type Elsewhere interface {
	// Receipt returns the receipt that the gateway named in id keeps, as JSON for its client or for operators, with the
	// tenant that it belongs to; false if that gateway keeps no such receipt, or cannot be asked.
	Receipt(ctx context.Context, id string, forClient bool) (tenant string, text []byte, ok bool)
	// Judge has the gateway named in j's receipt count j. found is false if that gateway keeps no such receipt for j's
	// tenant, or cannot be asked; refused says in words why j cannot count, "" if it can.
	Judge(ctx context.Context, j receipt.Judgement) (counted, found bool, refused string)
}

// askFor is how long other gateways are waited for.
const askFor = time.Second

// elsewhere answers with the receipt of another gateway, if whose says that it may be shown. It returns false if there
// is none.
func (h Receipts) elsewhere(c *gin.Context, forClient bool, whose func(tenant string) bool) bool {
	if h.Elsewhere == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), askFor)
	defer cancel()
	tenant, text, ok := h.Elsewhere.Receipt(ctx, c.Param("id"), forClient)
	if !ok || !whose(tenant) {
		return false
	}
	c.Data(http.StatusOK, "application/json; charset=utf-8", text)
	return true
}

// Own answers with a receipt of the tenant's.
func (h Receipts) Own(c *gin.Context, _ *ensemble.Runtime, t *tenant.Tenant) {
	r, ok := h.Rings.Find(t.Name, c.Param("id"))
	if !ok {
		var whose string
		whose, r, ok = h.Rings.Past(c.Param("id"))
		ok = ok && whose == t.Name
	}
	if !ok && h.elsewhere(c, true, func(tenant string) bool { return tenant == t.Name }) {
		return
	}
	if !ok {
		h.Refuse(c, apierr.New(apierr.ReceiptNotFound, "id", "no receipt of that id is kept for this key"))
		return
	}
	c.JSON(http.StatusOK, r.ForClient())
}

// Any answers an operator with a receipt of any tenant's: of that id, else the newest in memory here of a request with
// that id, which is what a client can report. It says in the engines' own words why attempts failed.
func (h Receipts) Any(c *gin.Context) {
	_, r, ok := h.Rings.Lookup(c.Param("id"))
	if !ok && h.elsewhere(c, false, func(string) bool { return true }) {
		return
	}
	if !ok {
		r, ok = h.Rings.Asked(c.Param("id"))
	}
	if !ok {
		h.Refuse(c, apierr.New(apierr.ReceiptNotFound, "id", "no receipt of that id is kept"))
		return
	}
	c.JSON(http.StatusOK, r)
}
