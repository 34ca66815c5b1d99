package app_test

import (
	"io"
	"strings"
	"testing"
)

// What an engine said before what a door has no words for reaches the client, and the error follows it: an SDK reads
// none ahead of the beginning of a response, and numbers of events have no gap.
func TestWhatIsSaidBeforeThereAreNoWordsIsTold(t *testing.T) {
	chunk := func(delta string) string {
		return `data: {"id":"c","model":"x","choices":[{"index":0,"delta":{` + delta +
			`},"finish_reason":null}]}` + "\n\n"
	}
	stream := chunk(`"role":"assistant","content":"a"`) +
		chunk(`"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"{"}}]`) + chunk(`"content":"b"`) +
		chunk(`"tool_calls":[{"index":0,"function":{"arguments":"}"}}]`) + "data: [DONE]\n\n"
	e := newDoorEngine(t, map[string]string{chatPath: stream})
	w := e.world(t, ", engine: openai, doors: []")
	for path, c := range map[string]struct{ body, first, last string }{
		messagesPath: {`"max_tokens":9,"messages":[{"role":"user","content":"q"}]`, "event: message_start\n",
			`"text":"b"`},
		responsesPath: {`"input":"q"`, "event: response.created\n", `"sequence_number":15,"request_id"`},
	} {
		resp := w.Ask(t.Context(), path, `{"model":"debug","stream":true,`+c.body+`}`)
		raw, err := io.ReadAll(resp.Body)
		got := string(raw)
		if err == nil || !strings.HasPrefix(got, c.first) || !strings.Contains(got, c.last) ||
			strings.Count(got, "event: error\n") != 1 || !strings.Contains(got, "upstream_protocol_error") {
			t.Errorf("%s: %v\n%s", path, err, got)
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}
