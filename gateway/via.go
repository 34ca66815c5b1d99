package gateway

import (
	"errors"
	"strings"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
)

// errLoop is why a request is refused that this gateway has sent itself, or that has come through too many.
var errLoop = errors.New("the request has come through this gateway already")

// mostHops is how many gateways a request may have come through.
const mostHops = 8

// checkVia refuses a request that comes back: a replica's URL leads to this gateway, by whatever way, and each round
// would begin another.
func (x *exchange) checkVia() *apierr.Error {
	if len(x.heads.via) == 0 {
		return nil
	}
	hops := hopsOf(x.heads.via)
	for _, hop := range hops {
		if hop == x.s.via || len(hops) > mostHops {
			return &apierr.Error{Code: apierr.UpstreamProtocolError,
				Message: "the request has come back to a gateway that it came through: a replica is that gateway",
				Cause:   errLoop}
		}
	}
	return nil
}

// hopsOf returns the gateways that a request has come through.
func hopsOf(values []string) (hops []string) {
	for _, value := range values {
		for hop := range strings.SplitSeq(value, ",") {
			hops = append(hops, strings.TrimSpace(hop))
		}
	}
	return hops
}

// passVia adds the gateways before this one to what a replica is sent. This one's own name is its client's to send.
func (x *exchange) passVia(hop *ensemble.Hop) {
	if len(x.heads.via) == 0 {
		return
	}
	for _, name := range hopsOf(x.heads.via) {
		if wellFormed(name) {
			hop.AddField(engine.Via, name)
		}
	}
}
