package messages

import (
	"bytes"
	"fmt"

	"octet/gateway/doors"
	"octet/gateway/wire"
)

// Whole implements doors.Answer.
func (a *Answer) Whole(body []byte) ([]byte, error) {
	k := &a.whole
	if err := k.Read(body); err != nil {
		return nil, err
	}
	a.out = append(append(a.out[:0], `{"id":"msg_`...), k.ID...)
	a.out = append(append(a.out, `","type":"message","role":"assistant","model":"`...), k.Model...)
	a.out = append(a.out, `","content":[`...)
	a.wholeText(`{"type":"thinking","signature":"","thinking":"`, k.Reasoning)
	a.wholeText(`{"type":"text","text":"`, k.Text)
	a.wholeText(`{"type":"text","text":"`, k.Refusal)
	for i := range k.Calls {
		err := a.wholeUse(&k.Calls[i], k.ID, i, i == len(k.Calls)-1 && string(k.Finish) == "length")
		if err != nil {
			return nil, err
		}
	}
	a.out = appendStop(append(a.out, `],`...), k.Finish, k.StopString, len(k.Calls) > 0)
	a.out = append(appendUsage(append(a.out, `,"usage":`...), k.Usage), '}')
	return a.out, nil
}

// inputDepth is how deep the arguments of a call may nest.
const inputDepth = 256

func (a *Answer) wholeText(opening string, raw []byte) {
	if len(raw) > 0 {
		a.out = doors.AppendComma(a.out, '[')
		a.out = append(append(append(a.out, opening...), raw...), `"}`...)
	}
}

// wholeUse appends a call, whose arguments must be an object. A call that may have been cut is left out unless it is
// whole: nothing can be called by the half of its arguments, and the stop_reason says that there was more.
func (a *Answer) wholeUse(c *doors.Call, message []byte, n int, cut bool) error {
	input := bytes.TrimSpace(wire.AppendUnquoted(nil, c.Arguments))
	object := len(input) > 0 && input[0] == '{' && wire.Valid(input, inputDepth)
	switch {
	case object:
	case cut:
		return nil
	case len(input) == 0:
		input = []byte("{}")
	default:
		return fmt.Errorf("%w: the arguments of call %d are no JSON object", doors.ErrNoWords, n)
	}
	a.out = doors.AppendComma(a.out, '[')
	a.out = append(appendCallID(append(a.out, `{"type":"tool_use","id":`...), c.ID, message, n), `,"name":`...)
	a.out = append(doors.AppendRaw(a.out, c.Name), `,"input":`...)
	a.out = append(append(a.out, input...), '}')
	return nil
}
