package shadow

import (
	"bytes"
	"encoding/json"

	"octet/calibration"
	"octet/gateway/stream"
)

// answerOf is an answer as it is compared; false if it is longer than most bytes.
func answerOf(r *stream.Relay, most int64) (calibration.Answer, bool) {
	text, ok := r.Transcript.Within(most)
	if !ok {
		return calibration.Answer{}, false
	}
	a := calibration.Answer{Text: text, Finish: r.Finish()}
	for _, c := range r.Transcript.Calls() {
		a.Calls = append(a.Calls, calibration.Call(c))
	}
	return a, true
}

// shown is an answer as a judge reads it: its text, and a line of JSON for each tool call.
func shown(a calibration.Answer) []byte {
	if len(a.Calls) == 0 {
		return a.Text
	}
	out := bytes.NewBuffer(bytes.Clone(a.Text))
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for i := range a.Calls {
		if out.Len() > 0 && out.Bytes()[out.Len()-1] != '\n' {
			out.WriteByte('\n')
		}
		_ = lines.Encode(shownCall(&a.Calls[i])) // a buffer takes all
	}
	return out.Bytes()
}

// callShown is a call as a judge reads it.
type callShown struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

// shownCall has arguments that are no JSON as a string.
func shownCall(c *calibration.Call) callShown {
	if args := bytes.TrimSpace(c.Arguments); !c.Free && json.Valid(args) {
		return callShown{c.Name, json.RawMessage(args)}
	}
	return callShown{c.Name, string(c.Arguments)}
}
