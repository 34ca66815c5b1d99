package pairs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// heard is one request as an engine was sent it.
type heard struct {
	engine, id, model, salt string
	priority                int // as the client would say it: larger is more urgent
	head                    http.Header
	tools, results          int
	image                   string // the URL of the last one
}

// turn is a message, or an item of Responses.
type turn struct {
	Role, Type string
	Content    any
}

// hear notes what an engine is sent.
func (c *cell) hear(engine string, head http.Header, body []byte) {
	var said struct {
		Model    string
		Priority int
		Salt     string `json:"cache_salt"`
		Loads    string `json:"lora_name"` // an adapter that the gateway has it load or unload
		Tools    []any
		Messages []turn
		Input    []turn
	}
	if err := json.Unmarshal(body, &said); err != nil {
		c.t.Errorf("%s is sent %v: %s", engine, err, body)
	}
	if said.Loads != "" {
		return
	}
	h := heard{engine: engine, id: head.Get("X-Request-Id"), model: said.Model, salt: said.Salt,
		priority: -said.Priority, head: head.Clone(), tools: len(said.Tools)}
	for _, m := range append(said.Messages, said.Input...) {
		if m.Role == "tool" || m.Type == "function_call_output" {
			h.results++
		}
		if _, url, found := strings.Cut(fmt.Sprint(m.Content), "url:https:"); found {
			h.image = "https:" + url[:strings.IndexAny(url, "] ")]
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, h)
}

// auditHeard holds what engines were sent against what the tenants may send.
func (c *cell) auditHeard() {
	asked := map[string]*answer{}
	for _, a := range c.asked {
		asked[a.id] = a
	}
	salts := map[string]string{} // the tenant and its client's word, by the salt that was sent
	for _, h := range c.heard {
		a := asked[h.id]
		if strings.HasPrefix(h.id, left) && ofReplica(h.engine) != c.lead {
			continue
		}
		if a == nil {
			c.t.Errorf("%s is sent %q, which was not asked", h.engine, h.id)
			continue
		}
		sp := ofReplica(h.engine)
		if !permits(a.tenant, sp) {
			c.t.Errorf("%s is asked for %s, which may not use it", h.engine, h.id)
		}
		if h.priority > ceilings[a.tenant] {
			c.t.Errorf("%s: priority %d reaches %s", h.id, h.priority, h.engine)
		}
		word, _ := a.members["cache_salt"].(string)
		whose := a.tenant + "|" + word
		if h.salt == "" || word != "" && h.salt == word {
			c.t.Errorf("%s reaches %s under the salt %q", h.id, h.engine, h.salt)
		}
		if was := salts[h.salt]; was != "" && was != whose {
			c.t.Errorf("%s: the salt of %s is that of %s", h.id, whose, was)
		}
		salts[h.salt] = whose
		c.auditModel(a, h)
		for name := range h.head {
			if strings.HasPrefix(name, "Authorization") || name == "Idempotency-Key" || name == "X-Session-Id" {
				c.t.Errorf("%s: %s reaches %s", h.id, name, h.engine)
			}
		}
	}
	if words := map[string]string{}; len(salts) > 0 {
		for salt, whose := range salts { // one word of one tenant is one salt
			if other, ok := words[whose]; ok && other != salt {
				c.t.Errorf("%s is sent as %q and as %q", whose, salt, other)
			}
			words[whose] = salt
		}
	}
}

// auditModel holds the model that an engine was asked for, and whether it was to be asked, against the receipt.
func (c *cell) auditModel(a *answer, h heard) {
	r, sp := a.receipt, ofReplica(h.engine)
	if r == nil {
		c.t.Errorf("%s reaches %s and has no receipt", h.id, h.engine)
		return
	}
	answers := false // it is asked for the answer, not for a shadow's
	for _, at := range r.Attempts {
		answers = answers || at.Replica == h.engine
	}
	if shadow := r.Decision.Shadow == sp; !answers && !shadow && !a.forgone(sp) {
		c.t.Errorf("%s reaches %s, of which the receipt says nothing: %+v", h.id, h.engine, r.Attempts)
	}
	if !answers && h.priority >= -100 {
		c.t.Errorf("%s: its shadow at %s has priority %d", h.id, h.engine, h.priority)
	}
	want, copied := sp, h.priority < -100
	if own := sp == r.Decision.Specialist; r.Decision.Adapter != "" && own != copied {
		want = r.Decision.Adapter // a copy keeps it, or is none; one at the specialist itself compares without it
	}
	if h.model != want && !(want == r.Decision.Adapter && c.rotated(h.model, want)) {
		c.t.Errorf("%s: %s is asked for %q, not for %q", h.id, h.engine, h.model, want)
	}
}

// forgone reports whether a specialist may have been sent a shadow that was ended: the receipt does not name it then.
func (a *answer) forgone(specialist string) bool {
	return a.receipt.Result.Code != "" || a.receipt.Decision.Second == specialist ||
		a.receipt.Decision.Probe == specialist || a.receipt.Decision.Specialist != a.lead
}

// sent returns true if an engine was sent a request.
func (c *cell) sent(engine, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.heard, func(h heard) bool { return h.engine == engine && h.id == id })
}
