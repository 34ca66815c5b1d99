package intake

import (
	"errors"
	"strings"

	"octet/gateway/apierr"
)

// ErrLoop is why a request is refused that this gateway has sent itself, or that has come through too many.
var ErrLoop = errors.New("the request has come through this gateway already")

// mostHops is how many gateways a request may have come through.
const mostHops = 8

// checkVia refuses a request that comes back: a replica's URL leads to this gateway, by whatever way, and each round
// would begin another.
func checkVia(values []string, self string) *apierr.Error {
	if len(values) == 0 {
		return nil
	}
	hops := hopsOf(values)
	for _, hop := range hops {
		if hop == self || len(hops) > mostHops {
			return &apierr.Error{Code: apierr.UpstreamProtocolError,
				Message: "the request has come back to a gateway that it came through: a replica is that gateway",
				Cause:   ErrLoop}
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
