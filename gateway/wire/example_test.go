package wire_test

import (
	"bytes"
	"fmt"

	"octet/gateway/wire"
)

// A body is parsed once; what the router needs is read from it, and what the engine must see otherwise is spliced in.
//
//nolint:lll // raw text that cannot be broken
func Example() {
	body := []byte(
		`{"model": "octet", "messages": [{"role": "user", "content": "is \"it\" leaking?"}], "temperature": 0}`)
	var r wire.Request
	if err := wire.Parse(wire.Chat, body, wire.Limits{}, &r); err != nil {
		fmt.Println(err)
		return
	}
	for _, turn := range r.Turns(nil) {
		fmt.Printf("%s: %s (%s)\n", turn.Role, turn.Text, r.Policy())
	}
	segments, _ := r.Splice([]wire.Edit{{Key: "model", Raw: []byte(`"memory"`)}, {Key: "priority", Raw: []byte("-5")}},
		nil)
	fmt.Printf("%s\n", bytes.Join(segments, nil))

	err := wire.Parse(wire.Chat, []byte(`{"messages": [{"role": "wizard", "content": "x"}]}`), wire.Limits{}, &r)
	fmt.Println(err)
	// Output:
	// user: is "it" leaking? (greedy)
	// {"priority":-5,"model": "memory", "messages": [{"role": "user", "content": "is \"it\" leaking?"}], "temperature": 0}
	// wire: invalid_value: messages[0].role must be one of system, developer, user, assistant, tool, function at byte 23
}
