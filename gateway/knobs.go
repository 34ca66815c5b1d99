package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"octet/gateway/apierr"
	"octet/slo"
)

// knobBody is the body of PUT /admin/knobs/{name}.
type knobBody struct {
	Value *float64 `json:"value"`
	By    string   `json:"by"`
	Why   string   `json:"why"`
	For   string   `json:"for"` // a duration such as 15m; empty is until it is cleared
}

func (s *Server) listKnobs(c *gin.Context) {
	c.JSON(http.StatusOK, gin.H{"knobs": s.knobs.List()})
}

func (s *Server) setKnob(c *gin.Context) {
	o, err := s.override(c.Request.Body)
	if err == nil {
		err = knobError(s.knobs.Set(c.Param("name"), o))
	}
	if err != nil {
		s.refuse(c, asError(err))
		return
	}
	s.log.Info("knob set", "knob", c.Param("name"), "value", o.Value, "by", o.By, "why", o.Why, "until", o.Until)
	s.listKnobs(c)
}

func (s *Server) clearKnob(c *gin.Context) {
	if err := knobError(s.knobs.Clear(c.Param("name"))); err != nil {
		s.refuse(c, asError(err))
		return
	}
	s.log.Info("knob cleared", "knob", c.Param("name"))
	s.listKnobs(c)
}

// override reads a knobBody.
func (s *Server) override(body io.Reader) (slo.Override, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxOutcome))
	if err != nil {
		return slo.Override{}, bodyError(err)
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
		return slo.Override{}, apierr.New(apierr.InvalidValue, "for", fmt.Sprintf("%.32q is not a duration such as 15m", k.For))
	}
	o.Until = s.now().Add(d)
	return o, nil
}

func knobError(err error) error {
	switch {
	case errors.Is(err, slo.ErrUnknownKnob):
		return &apierr.Error{Code: apierr.RouteNotFound, Param: "name", Message: err.Error(), Cause: err}
	case errors.Is(err, slo.ErrOutOfRange), errors.Is(err, slo.ErrExpired):
		return &apierr.Error{Code: apierr.InvalidValue, Param: "value", Message: err.Error(), Cause: err}
	}
	return err
}
