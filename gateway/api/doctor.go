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

// Connects are what was found of replicas when they were connected: by questions alone, without a request.
type Connects struct {
	Asked    int       `json:"asked"` // of the replicas
	Replicas int       `json:"replicas"`
	Findings []Finding `json:"findings"` // those that warn or fail
}

// Doctor answers GET /admin/doctor and GET /admin/findings.
type Doctor struct {
	Refuse Refuse
	// Examine returns the findings of now, or of a moment ago; an error where there are none in time. A nil Examine:
	// this gateway has no doctor.
	Examine func(ctx context.Context) ([]Finding, error)
	// Connects returns what was found when replicas were connected. It costs nothing. nil likewise.
	Connects func() Connects
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

// Findings answers with what was found at connect.
func (h Doctor) Findings(c *gin.Context) {
	if h.Connects == nil {
		h.Refuse(c, apierr.New(apierr.RouteNotFound, "", "this gateway does not examine its replicas"))
		return
	}
	c.JSON(http.StatusOK, h.Connects())
}
