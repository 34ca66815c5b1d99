package emulator

import (
	"errors"
	"io"
	"testing"

	"octet/engine"
	"octet/scheduler"
	"octet/scheduler/core"
)

// What the scheduler must never do is noticed when it does: promise 1 is about tokens of the right request, each once,
// in order.
func TestALostRepeatedOrForeignTokenEndsTheAnswer(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	id := func(request string, i int) uint32 {
		return engine.TokenID(indexScript{request: request}.Text(nil, i))
	}
	for _, c := range []struct {
		name string
		out  core.Output
		err  error // from the stream
		ok   bool
	}{
		{"its own", core.Output{Index: 3, Token: id("r", 3)}, nil, true},
		{"a foreign one", core.Output{Index: 3, Token: id("s", 3)}, nil, false},
		{"a repeated one", core.Output{Index: 2, Token: id("r", 2)}, nil, false},
		{"one after a lost one", core.Output{Index: 4, Token: id("r", 4)}, nil, false},
		{"an end too soon", core.Output{}, io.EOF, false},
	} {
		an := &answer{e: e, ask: &ask{prompts: []prompt{{}}}}
		ch := &choice{seq: &sequence{script: indexScript{request: "r"}}, tokens: 3}
		taken := 0
		_, err := an.deliver(ch, c.out, c.err, func(token) error { taken++; return nil })
		if (err == nil) != c.ok || (taken == 1) != c.ok || !c.ok && !errors.Is(err, scheduler.ErrEngine) {
			t.Errorf("%s: taken %d times, %v", c.name, taken, err)
		}
	}
}
