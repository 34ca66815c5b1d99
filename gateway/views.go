package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"octet/gateway/wire"
	"octet/slo"
)

// model is one entry of /v1/models.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	Parent  string `json:"parent,omitempty"` // the specialist of an adapter
}

// models lists what a tenant may name as `model`: octet, then the specialists and their adapters in configured order.
func (rt *Runtime) models(t *Tenant) []model {
	list := []model{{ID: "octet", Object: "model", OwnedBy: "octet"}}
	for _, sp := range rt.Specialists {
		if !t.Permits(sp.Name) {
			continue
		}
		list = append(list, model{ID: sp.Name, Object: "model", Created: sp.Created, OwnedBy: "octet"})
		for _, adapter := range sp.Adapters {
			list = append(list, model{ID: sp.Name + ":" + adapter, Object: "model", Created: sp.Created, OwnedBy: "octet", Parent: sp.Name})
		}
		list[0].Created = max(list[0].Created, sp.Created)
	}
	return list
}

func (s *Server) listModels(c *gin.Context, rt *Runtime, t *Tenant) {
	c.JSON(http.StatusOK, gin.H{"object": "list", "data": rt.models(t)})
}

func (s *Server) oneModel(c *gin.Context, rt *Runtime, t *Tenant) {
	id := c.Param("id")
	for _, m := range rt.models(t) {
		if m.ID == id {
			c.JSON(http.StatusOK, m)
			return
		}
	}
	s.refuse(c, fail(CodeModelNotFound, "model", fmt.Sprintf("there is no model %q", id)))
}

func (s *Server) oneReceipt(c *gin.Context, _ *Runtime, t *Tenant) {
	r := s.receipts.find(t.Name, c.Param("id"))
	if r == nil {
		s.refuse(c, fail(CodeReceiptNotFound, "id", "no receipt of that id is kept for this key"))
		return
	}
	c.JSON(http.StatusOK, r)
}

func (s *Server) allSLOs(c *gin.Context, rt *Runtime, t *Tenant) {
	reports := make(map[string]slo.Report, len(rt.Specialists))
	for _, sp := range rt.Specialists {
		if t.Permits(sp.Name) {
			reports[sp.Name] = sp.Board.Report()
		}
	}
	c.JSON(http.StatusOK, gin.H{"specialists": reports})
}

func (s *Server) oneSLO(c *gin.Context, rt *Runtime, t *Tenant) {
	name := c.Param("specialist")
	sp := rt.Specialist(name)
	if sp == nil || !t.Permits(name) {
		s.refuse(c, fail(CodeModelNotFound, "specialist", fmt.Sprintf("there is no specialist %q", name)))
		return
	}
	c.JSON(http.StatusOK, sp.Board.Report())
}

// maxOutcome bounds the body of POST /v1/outcomes, in bytes.
const maxOutcome = 16 << 10

func (s *Server) readOutcome(c *gin.Context, within time.Duration) ([]byte, *Error) {
	ctl := http.NewResponseController(c.Writer)
	_ = ctl.SetReadDeadline(s.now().Add(within)) // not every transport has deadlines
	body, err := io.ReadAll(io.LimitReader(c.Request.Body, maxOutcome+1))
	switch {
	case err != nil:
		return nil, bodyError(err)
	case len(body) > maxOutcome:
		return nil, fail(CodePayloadTooLarge, "", fmt.Sprintf("an outcome is at most %d bytes", maxOutcome))
	}
	_ = ctl.SetReadDeadline(time.Time{})
	return body, nil
}

// outcome takes a verdict on an answer into the specialist's correctness window. One verdict of a kind counts for a receipt:
// the same again changes nothing.
func (s *Server) outcome(c *gin.Context, rt *Runtime, t *Tenant) {
	if len(c.Request.Header["Content-Type"]) > 1 {
		s.refuse(c, repeated("Content-Type"))
		return
	}
	if err := checkMedia(c.GetHeader("Content-Encoding"), c.GetHeader("Content-Type")); err != nil {
		s.refuse(c, err)
		return
	}
	body, err := s.readOutcome(c, rt.Limits.BodyTimeout)
	if err != nil {
		s.refuse(c, err)
		return
	}
	o, bad := parseOutcome(body)
	if bad != nil {
		s.refuse(c, asError(bad))
		return
	}
	if len(rt.Judges) > 0 && !slices.Contains(rt.Judges, t.Name) {
		s.refuse(c, fail(CodePermissionDenied, "", "the verdicts of this key do not count here"))
		return
	}
	r := s.receipts.find(t.Name, o.Receipt)
	if r == nil {
		s.refuse(c, fail(CodeReceiptNotFound, "receipt", "no receipt of that id is kept for this key"))
		return
	}
	if o.Specialist != "" && o.Specialist != r.Result.Specialist {
		s.outcomeOfCopy(c, rt, r, &o)
		return
	}
	c.JSON(http.StatusOK, gin.H{"receipt": r.ID, "counted": s.judge(rt, r, o.Kind, *o.Pass)})
}

// outcomeOfCopy takes a verdict on the answer of whoever was sent a copy of the request: who reads the calibration stream has seen
// it. So a demoted specialist recovers where no verifier judges its probes.
func (s *Server) outcomeOfCopy(c *gin.Context, rt *Runtime, r *Receipt, o *outcomeBody) {
	sp := rt.Specialist(o.Specialist)
	if sp == nil || o.Specialist != r.Decision.Shadow {
		s.refuse(c, fail(CodeInvalidValue, "specialist", fmt.Sprintf("%s neither answered this request nor was sent a copy of it", o.Specialist)))
		return
	}
	counted := r.verdicts.add(Outcome{Kind: o.Kind, Specialist: o.Specialist, Pass: *o.Pass, Time: s.now()})
	if counted {
		sp.judged(slo.Verdict{Answered: r.Time, Pass: *o.Pass})
	}
	c.JSON(http.StatusOK, gin.H{"receipt": r.ID, "counted": counted})
}

// judge counts a verdict for the specialist that answered. It reports whether it did: not a second of its kind, and none on a
// request that has no answer.
func (s *Server) judge(rt *Runtime, r *Receipt, kind string, pass bool) bool {
	sp := rt.Specialist(r.Result.Specialist)
	verdict := Outcome{Kind: kind, Pass: pass, Time: s.now()}
	if sp == nil || r.Result.Status != http.StatusOK || !r.verdicts.add(verdict) {
		return false
	}
	sp.judged(slo.Verdict{Answered: r.Time, Pass: pass})
	s.judged(rt, r, verdict)
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
		return o, fail(CodeDuplicateKey, "", err.Error())
	case !wire.Valid(body, 8):
		return o, fail(CodeInvalidJSON, "", "the body is not one JSON object")
	case err != nil:
		return o, fail(CodeInvalidRequest, "", "the body must be {\"receipt\", \"kind\", \"pass\", optionally \"specialist\"}: "+err.Error())
	}
	for _, f := range []struct {
		name    string
		missing bool
	}{{"receipt", o.Receipt == ""}, {"kind", o.Kind == ""}, {"pass", o.Pass == nil}} {
		if f.missing {
			return o, fail(CodeMissingParameter, f.name, f.name+" is required")
		}
	}
	if len(o.Kind) > 64 {
		return o, fail(CodeInvalidValue, "kind", "kind is at most 64 bytes")
	}
	return o, nil
}
