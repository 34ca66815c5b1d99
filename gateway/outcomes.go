package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/ensemble"
	"octet/gateway/receipt"
	"octet/gateway/tenant"
	"octet/gateway/wire"
)

// maxOutcome bounds the body of POST /v1/outcomes, in bytes.
const maxOutcome = 16 << 10

func (s *Server) readOutcome(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) ([]byte, *apierr.Error) {
	client := conn.Of(c.Writer, c.Request)
	u := s.expect(c.Request, client, rt, t)
	defer s.inbound.end(u)
	_ = client.SetReadDeadline(s.now().Add(rt.Limits.BodyTimeout)) // not every transport has deadlines
	body, err := io.ReadAll(io.LimitReader(c.Request.Body, maxOutcome+1))
	refused := s.inbound.grow(u, len(body))
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, bodyError(err)
	case len(body) > maxOutcome:
		return nil, apierr.New(apierr.PayloadTooLarge, "", fmt.Sprintf("an outcome is at most %d bytes", maxOutcome))
	}
	_ = client.SetReadDeadline(time.Time{})
	return body, nil
}

// outcome takes a verdict on an answer into the specialist's correctness window. One verdict of a kind counts for a
// receipt: the same again changes nothing.
func (s *Server) outcome(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) {
	if len(c.Request.Header["Content-Type"]) > 1 {
		s.refuse(c, apierr.Repeated("Content-Type"))
		return
	}
	if err := checkMedia(c.GetHeader("Content-Encoding"), c.GetHeader("Content-Type")); err != nil {
		s.refuse(c, err)
		return
	}
	body, err := s.readOutcome(c, rt, t)
	if err != nil {
		s.refuse(c, err)
		return
	}
	o, bad := parseOutcome(body)
	if bad != nil {
		s.refuse(c, asError(bad))
		return
	}
	r, ok := s.judgeable(rt, t, o.Receipt)
	if !ok {
		s.refuse(c, apierr.New(apierr.ReceiptNotFound, "receipt", "no receipt of that id is kept for this key"))
		return
	}
	if err := rt.Judges.Permit(t); err != nil {
		s.refuse(c, err)
		return
	}
	verdict := receipt.Outcome{Kind: o.Kind, Pass: *o.Pass, Time: s.now(), By: t.Name}
	if o.Specialist != "" && o.Specialist != r.Result.Specialist {
		verdict.Specialist = o.Specialist
		s.outcomeOfCopy(c, rt, r, verdict)
		return
	}
	c.JSON(http.StatusOK, gin.H{"receipt": r.ID, "counted": s.judge(rt, r, verdict)})
}

// judgeable returns the receipt that a tenant may judge; false if there is none.
func (s *Server) judgeable(rt *ensemble.Runtime, t *tenant.Tenant, id string) (*receipt.Receipt, bool) {
	if rt.Judges.Whose == ensemble.VerdictsTenants && !t.Keyless {
		return s.receipts.Search(id)
	}
	return s.receipts.Find(t.Name, id)
}

// outcomeOfCopy takes a verdict on the answer of a specialist that was sent a copy of the request: a reader of the
// calibration stream has seen it. So a demoted specialist recovers where no verifier judges its probes.
func (s *Server) outcomeOfCopy(c *gin.Context, rt *ensemble.Runtime, r *receipt.Receipt, o receipt.Outcome) {
	sp := rt.Specialist(o.Specialist)
	if sp == nil || o.Specialist != r.Decision.Shadow {
		s.refuse(c, apierr.New(apierr.InvalidValue, "specialist",
			fmt.Sprintf("%s neither answered this request nor was sent a copy of it", o.Specialist)))
		return
	}
	c.JSON(http.StatusOK, gin.H{"receipt": r.ID, "counted": weigh(sp, r, o)})
}

// judge counts a verdict for the specialist that answered. It reports whether it did: not a second of its kind, and
// none on a request that has no answer.
func (s *Server) judge(rt *ensemble.Runtime, r *receipt.Receipt, o receipt.Outcome) bool {
	sp := rt.Specialist(r.Result.Specialist)
	if sp == nil || r.Result.Status != http.StatusOK || !weigh(sp, r, o) {
		return false
	}
	s.judged(rt, r, o)
	return true
}

type outcomeBody struct {
	Receipt string `json:"receipt"`
	Kind    string `json:"kind"`
	Pass    *bool  `json:"pass"`

	Specialist string `json:"specialist"` // whose answer it is of; "" is who answered
}

func parseOutcome(body []byte) (o outcomeBody, err error) {
	err = json.Unmarshal(body, &o, json.RejectUnknownMembers(true))
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
