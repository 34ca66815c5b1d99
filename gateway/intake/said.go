package intake

import (
	"octet/gateway/apierr"
	"octet/gateway/wire"
)

// Headers that name a session, by their canonical names.
const (
	sessionHeader       = "X-Session-Id"
	claudeSessionHeader = "X-Claude-Code-Session-Id"
	dynamoSessionHeader = "X-Dynamo-Session-Id"
)

// said completes the intent by what only the body says. Headers that speak to this gateway go before it, and it goes
// before those that are meant for others.
func (q *Request) said() *apierr.Error {
	if err := q.findSession(); err != nil {
		return err
	}
	return q.readTier()
}

// findSession finds the key of the request's session: X-Session-Id, else prompt_cache_key of the body, else what coding
// agents and other routers send of their own accord.
func (q *Request) findSession() (err *apierr.Error) {
	in, h := &q.Intent, &q.headers
	if in.Session != "" {
		return nil
	}
	if in.Session = q.text("prompt_cache_key"); in.Session != "" || h.claudeSession == nil && h.dynamoSession == nil {
		return nil
	}
	if in.Session, err = headerToken(h.claudeSession, claudeSessionHeader); err != nil || in.Session != "" {
		return err
	}
	in.Session, err = headerToken(h.dynamoSession, dynamoSessionHeader)
	return err
}

// tiers are the priorities that service_tier stands for where there is no X-Priority. All other tiers are 0.
var tiers = map[string]int{"flex": -10, "priority": 10}

func (q *Request) readTier() *apierr.Error {
	in := &q.Intent
	if len(q.headers.priority) > 0 {
		return nil
	}
	asked := tiers[q.text("service_tier")]
	if asked == in.Asked {
		return nil
	}
	clamped, err := q.Tenant.Clamp(asked)
	if err != nil {
		err.Param = "service_tier"
		return err
	}
	in.Asked, in.Priority = asked, clamped
	return nil
}

// text returns the value of a member of the body; "" for any that is no string.
func (q *Request) text(member string) string {
	raw := q.Parsed.Raw(member)
	if len(raw) <= len(`""`) || raw[0] != '"' {
		return ""
	}
	return string(wire.AppendUnquoted(nil, raw[1:len(raw)-1]))
}
