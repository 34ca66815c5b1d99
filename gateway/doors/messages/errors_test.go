package messages

import (
	"encoding/json"
	"errors"
	"testing"

	"octet/gateway/apierr"
	"octet/gateway/doors/doorstest"
	"octet/gateway/wire"
)

// A conversation that is to be held is refused so that the SDKs' loops of tools, which ask for it first, go on without.
// No other refusal says so.
func TestAThreadIsRefusedAsSDKsUnderstandIt(t *testing.T) {
	for member, want := range map[string]string{
		`"thread":{"type":"create"}`:                                 "thread_unsupported_request",
		`"thread":{"type":"continue","previous_message_id":"msg_1"}`: "thread_unsupported_request",
		`"thread":false`:   "thread_unsupported_request",
		`"threads":{}`:     "",
		`"mcp_servers":[]`: "",
	} {
		_, _, err := doorstest.Translate(Door{}, body(hi+","+member))
		var bad *wire.Error
		if !errors.As(err, &bad) {
			t.Fatalf("%s: %v", member, err)
		}
		spelled := Door{}.AppendError(nil, apierr.New(apierr.Code(bad.Code), bad.Param, bad.Message), "r")
		var said struct {
			Error struct {
				Code    string
				Details struct {
					Code string `json:"error_code"`
				}
			}
		}
		if err := json.Unmarshal(spelled, &said); err != nil || said.Error.Code != wire.CodeUnsupportedParameter ||
			said.Error.Details.Code != want {
			t.Errorf("%s: %v: %s", member, err, spelled)
		}
	}
}
