package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/receipt"
	"octet/gateway/shadow"
	"octet/gateway/tenant"
	"octet/gateway/wire"
)

// MaxBody bounds the bodies that this room reads, in bytes.
const MaxBody = 16 << 10

// Outcomes answers /v1/outcomes: a verdict on an answer goes into the specialist's correctness window.
type Outcomes struct {
	Refuse   Refuse
	Rings    *receipt.Rings
	Verdicts *shadow.Verdicts
	Now      func() time.Time
	// Elsewhere has the answers of other gateways judged; nil if there are none.
	Elsewhere Elsewhere
	// Body reads a JSON body of at most MaxBody bytes, as one among all bodies that are on their way.
	Body func(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) ([]byte, *apierr.Error)
}

// Handle takes a verdict. One of a kind counts for a receipt: the same again changes nothing.
func (h Outcomes) Handle(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	counted, id, err := h.count(c, rt, t)
	if err != nil {
		h.Refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, gin.H{"receipt": id, "counted": counted})
}

// count returns whether the verdict counted, and for which receipt.
func (h Outcomes) count(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) (bool, string, *apierr.Error) {
	body, err := h.Body(c, rt, t)
	if err != nil {
		return false, "", err
	}
	o, err := parseOutcome(body)
	if err != nil {
		return false, "", err
	}
	j := receipt.Judgement{Receipt: o.Receipt, Kind: o.Kind, Pass: *o.Pass, Specialist: o.Specialist, Tenant: t.Name,
		OfAny: rt.Judges.Whose == ensemble.VerdictsTenants && !t.Keyless}
	r, here := h.judgeable(j)
	if !here && h.Elsewhere == nil {
		return false, "", noReceipt()
	}
	if err := rt.Judges.Permit(t); err != nil {
		return false, "", err
	}
	if here {
		counted, err := h.judge(rt, r, j)
		return counted, r.ID, err
	}
	counted, err := h.elsewhere(c, j)
	return counted, j.Receipt, err
}

func noReceipt() *apierr.Error {
	return apierr.New(apierr.ReceiptNotFound, "receipt", "no receipt of that id is kept for this key")
}

// elsewhere has j counted by the gateway that its receipt names.
func (h Outcomes) elsewhere(c *gin.Context, j receipt.Judgement) (bool, *apierr.Error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), askFor)
	defer cancel()
	counted, found, refused := h.Elsewhere.Judge(ctx, j)
	switch {
	case !found:
		return false, noReceipt()
	case refused != "":
		return false, apierr.New(apierr.InvalidValue, "specialist", refused)
	}
	return counted, nil
}

// Hear counts a verdict that was given at another gateway. found is false if no receipt of that id is kept here for the
// tenant; refused says in words why it cannot count.
func (h Outcomes) Hear(rt *ensemble.Runtime, j receipt.Judgement) (counted, found bool, refused string) {
	r, found := h.judgeable(j)
	if !found {
		return false, false, ""
	}
	counted, err := h.judge(rt, r, j)
	if err != nil {
		refused = err.Message
	}
	return counted, true, refused
}

// judge counts j on the answer that r is of.
func (h Outcomes) judge(rt *ensemble.Runtime, r *receipt.Receipt, j receipt.Judgement) (bool, *apierr.Error) {
	verdict := receipt.Outcome{Kind: j.Kind, Pass: j.Pass, Time: h.Now(), By: j.Tenant}
	if j.Specialist == "" || j.Specialist == r.Result.Specialist {
		return h.Verdicts.OnAnswer(rt, r, verdict), nil
	}
	verdict.Specialist = j.Specialist
	return h.onCopy(rt, r, verdict)
}

// judgeable returns the receipt that j is on, and false if j's tenant may not judge any such.
func (h Outcomes) judgeable(j receipt.Judgement) (*receipt.Receipt, bool) {
	if j.OfAny {
		return h.Rings.Search(j.Receipt)
	}
	return h.Rings.Find(j.Tenant, j.Receipt)
}

// onCopy takes a verdict on the answer of a specialist that was sent a copy of the request: a reader of the calibration
// stream has seen it. So a demoted specialist recovers if no verifier judges its probes.
func (h Outcomes) onCopy(rt *ensemble.Runtime, r *receipt.Receipt, o receipt.Outcome) (bool, *apierr.Error) {
	sp := rt.Specialist(o.Specialist)
	if sp == nil || o.Specialist != r.Decision.Shadow {
		return false, apierr.New(apierr.InvalidValue, "specialist",
			fmt.Sprintf("%s neither answered this request nor was sent a copy of it", o.Specialist))
	}
	return shadow.Count(sp, r, o) != receipt.Refused, nil
}

type outcomeBody struct {
	Receipt string `json:"receipt"`
	Kind    string `json:"kind"`
	Pass    *bool  `json:"pass"`

	Specialist string `json:"specialist"` // of whose answer it is; "" is the one that answered
}

func parseOutcome(body []byte) (o outcomeBody, refused *apierr.Error) {
	err := json.Unmarshal(body, &o, json.RejectUnknownMembers(true))
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return o, apierr.New(apierr.DuplicateKey, "", err.Error())
	case !wire.Valid(body, 8):
		return o, apierr.New(apierr.InvalidJSON, "", "the body is not one JSON object")
	case err != nil:
		return o, apierr.New(apierr.InvalidRequest, "",
			"the body must be {\"receipt\", \"kind\", \"pass\", optionally \"specialist\"}: "+err.Error())
	}
	for _, f := range []struct {
		name    string
		missing bool
	}{{"receipt", o.Receipt == ""}, {"kind", o.Kind == ""}, {"pass", o.Pass == nil}} {
		if f.missing {
			return o, apierr.New(apierr.MissingParameter, f.name, f.name+" is required")
		}
	}
	switch {
	case len(o.Kind) > 64:
		return o, apierr.New(apierr.InvalidValue, "kind", "kind is at most 64 bytes")
	case receipt.Reserved(o.Kind):
		return o, apierr.New(apierr.InvalidValue, "kind",
			fmt.Sprintf("%q is the kind of the gateway's own verdicts", o.Kind))
	}
	return o, nil
}
