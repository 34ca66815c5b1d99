package picker

import (
	"fmt"
	"strings"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"octet/engine"
)

// detailsKey is the attribute by which a proxy says where an answer comes from, if it is configured to.
const detailsKey = "response.code_details"

// What the attribute says.
const (
	viaUpstream   = "via_upstream" // the engine's own answer
	resetUpstream = "upstream_reset_before_response_started"
)

// localReply returns what has become of an engine whose answer the proxy has made up itself: nil if the answer is the
// engine's own, or the proxy does not say. A proxy's own 503 is no engine that is busy.
func localReply(m *extproc.ProcessingRequest) error {
	details := ""
	for _, of := range m.GetAttributes() {
		if said := of.GetFields()[detailsKey].GetStringValue(); said != "" {
			details = said
		}
	}
	what, why, _ := strings.Cut(strings.TrimSuffix(details, "}"), "{")
	kind := engine.ErrLocal // what the proxy refuses by itself, or has no room for
	switch {
	case what == "" || what == viaUpstream:
		return nil
	case what == "upstream_response_timeout", what == "upstream_per_try_timeout":
		kind = engine.ErrTimeout
	case what == "no_healthy_upstream":
		kind = engine.ErrConnect
	case what == resetUpstream && strings.Contains(why, "overflow"): // of connections or requests at the proxy
	case what == resetUpstream && strings.Contains(why, "connection_failure"),
		what == resetUpstream && strings.Contains(why, "connection_timeout"):
		kind = engine.ErrConnect
	case what == resetUpstream && strings.Contains(why, "protocol_error"):
		kind = engine.ErrProtocol
	case what == resetUpstream:
		kind = engine.ErrReset
	}
	return fmt.Errorf("%w: the proxy says %.200q", kind, details)
}
