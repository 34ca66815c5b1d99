package api

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"octet/gateway/apierr"
	"octet/slo"
)

// Knobs answers /admin/knobs.
type Knobs struct {
	Refuse Refuse
	Knobs  *slo.Knobs
	Now    func() time.Time
	Log    *slog.Logger
}

// knobBody is the body of PUT /admin/knobs/{name}.
type knobBody struct {
	Value *float64 `json:"value"`
	By    string   `json:"by"`
	Why   string   `json:"why"`
	For   string   `json:"for"` // a duration such as 15m; empty means until it is cleared
}

// List answers with all knobs.
func (h Knobs) List(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"knobs": h.Knobs.List()}) }

// Set overrides the knob of the path, and answers with all.
func (h Knobs) Set(c *gin.Context) {
	o, refused := h.override(c.Request.Body)
	if refused == nil {
		refused = knobError(h.Knobs.Set(c.Param("name"), o))
	}
	if refused != nil {
		h.Refuse(c, refused)
		return
	}
	h.Log.Info("knob set", "knob", c.Param("name"), "value", o.Value, "by", o.By, "why", o.Why, "until", o.Until)
	h.List(c)
}

// Clear ends the override of the knob of the path, and answers with all.
func (h Knobs) Clear(c *gin.Context) {
	if refused := knobError(h.Knobs.Clear(c.Param("name"))); refused != nil {
		h.Refuse(c, refused)
		return
	}
	h.Log.Info("knob cleared", "knob", c.Param("name"))
	h.List(c)
}

// override reads a knobBody.
func (h Knobs) override(body io.Reader) (slo.Override, *apierr.Error) {
	text, err := io.ReadAll(io.LimitReader(body, MaxBody))
	if err != nil {
		return slo.Override{}, &apierr.Error{Code: apierr.InvalidRequest, Message: "the body could not be read",
			Cause: err}
	}
	var k knobBody
	if err := json.Unmarshal(text, &k, json.RejectUnknownMembers(true)); err != nil {
		return slo.Override{}, apierr.New(apierr.InvalidRequest, "",
			"the body must be {\"value\", \"by\", \"why\", \"for\"}: "+err.Error())
	}
	if k.Value == nil {
		return slo.Override{}, apierr.New(apierr.MissingParameter, "value", "value is required")
	}
	o := slo.Override{Value: *k.Value, By: k.By, Why: k.Why}
	if k.For == "" {
		return o, nil
	}
	d, err := time.ParseDuration(k.For)
	if err != nil || d <= 0 {
		return slo.Override{}, apierr.New(apierr.InvalidValue, "for",
			fmt.Sprintf("%.32q is not a duration such as 15m", k.For))
	}
	o.Until = h.Now().Add(d)
	return o, nil
}

func knobError(err error) *apierr.Error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, slo.ErrUnknownKnob):
		return &apierr.Error{Code: apierr.RouteNotFound, Param: "name", Message: err.Error(), Cause: err}
	case errors.Is(err, slo.ErrOutOfRange), errors.Is(err, slo.ErrExpired):
		return &apierr.Error{Code: apierr.InvalidValue, Param: "value", Message: err.Error(), Cause: err}
	}
	return &apierr.Error{Code: apierr.Internal, Message: "internal error", Cause: err}
}
