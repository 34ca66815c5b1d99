package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
)

// Finding is what one check of doctor's came to, of one replica or of what all share.
type Finding struct {
	Check   string `json:"check"`
	Replica string `json:"replica"` // or redis, nats, peer: what they share
	Status  string `json:"status"`  // pass | warn | fail
	Detail  string `json:"detail"`  // what was seen
	Cure    string `json:"cure"`    // what to paste; empty for pass
}

// Doctor answers GET /admin/doctor.
type Doctor struct {
	Refuse Refuse
	// Examine returns the findings of now, or of a moment ago; an error where there are none in time. A nil Examine:
	// this
	// gateway has no doctor.
	Examine func(ctx context.Context) ([]Finding, error)
}

// Handle answers with a list of findings.
func (h Doctor) Handle(c *gin.Context) {
	if h.Examine == nil {
		h.Refuse(c, apierr.New(apierr.RouteNotFound, "", "this gateway does not examine its replicas"))
		return
	}
	found, err := h.Examine(c.Request.Context())
	if err != nil {
		h.Refuse(c, &apierr.Error{Code: apierr.Overloaded, Message: "the replicas could not be examined in time",
			Cause: err})
		return
	}
	c.JSON(http.StatusOK, found)
}
