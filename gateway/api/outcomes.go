package api

import (
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
	r, ok := h.judgeable(rt, t, o.Receipt)
	if !ok {
		return false, "", apierr.New(apierr.ReceiptNotFound, "receipt", "no receipt of that id is kept for this key")
	}
	if err := rt.Judges.Permit(t); err != nil {
		return false, "", err
	}
	verdict := receipt.Outcome{Kind: o.Kind, Pass: *o.Pass, Time: h.Now(), By: t.Name}
	if o.Specialist == "" || o.Specialist == r.Result.Specialist {
		return h.Verdicts.OnAnswer(rt, r, verdict), r.ID, nil
	}
	verdict.Specialist = o.Specialist
	counted, err := h.onCopy(rt, r, verdict)
	return counted, r.ID, err
}

// judgeable returns the receipt of that id, and false if the tenant may not judge any such.
func (h Outcomes) judgeable(rt *ensemble.Runtime, t *tenant.Tenant, id string) (*receipt.Receipt, bool) {
	if rt.Judges.Whose == ensemble.VerdictsTenants && !t.Keyless {
		return h.Rings.Search(id)
	}
	return h.Rings.Find(t.Name, id)
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
