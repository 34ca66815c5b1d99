package api

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"octet/calibration"
	"octet/gateway/apierr"
)

// Calibrated tells what the newest calibration records are evidence of.
type Calibrated interface {
	Report(g calibration.Goal) (calibration.Report, error)
}

// Calibration answers /admin/calibration, as `octet calibrate --json` does of a whole stream.
type Calibration struct {
	Refuse Refuse
	Of     Calibrated // nil if no records are kept
}

// The goal of a report that does not say another, and the resamples of one that is made while requests are answered.
const (
	usualDisagreement = 0.2
	usualSamples      = 30
	pageResamples     = 100
)

// Handle answers with a report. The parameter disagreement is the share that it aims at.
func (h Calibration) Handle(c *gin.Context) {
	if h.Of == nil {
		h.Refuse(c, apierr.New(apierr.RouteNotFound, "", "no calibration records are kept: shadow.recent is 0"))
		return
	}
	goal := calibration.Goal{Disagreement: usualDisagreement, MinSamples: usualSamples, Resamples: pageResamples,
		Seed: 1}
	if given := c.Query("disagreement"); given != "" {
		share, err := strconv.ParseFloat(given, 64)
		if err != nil {
			share = -1 // which the report refuses
		}
		goal.Disagreement = share
	}
	report, err := h.Of.Report(goal)
	if err != nil {
		h.Refuse(c, apierr.New(apierr.InvalidValue, "disagreement", "disagreement must be between 0 and 1"))
		return
	}
	c.JSON(http.StatusOK, report)
}
