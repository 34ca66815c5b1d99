package sse

import (
	"fmt"
	"sync/atomic"
)

// Unary is what an answer says that was not streamed.
type Unary struct {
	Usage  Usage  // zero without one
	Finish string // of its last choice
	Text   []byte // of choice 0, as the inside of a JSON string in the answer's memory; nil without one
	Calls  []Call // of an answer that is not a chat completion; of one that is, see Calls
}

// ScanUnary reads an answer that was not streamed. It fails with ErrGarbage when body is not a JSON object that has
// choices, and with an *EngineError when it is an error.
func ScanUnary(body []byte) (Unary, error) {
	var k chunk
	return k.unary(body)
}

func (k *chunk) unary(body []byte) (Unary, error) {
	switch {
	case !k.read(body):
		return Unary{}, ErrGarbage
	case k.failed:
		return Unary{}, k.engineError(body)
	case k.choices == 0:
		return Unary{}, fmt.Errorf("%w: an answer without choices", ErrGarbage)
	}
	if string(k.finish) == aborted {
		return Unary{}, Aborted()
	}
	return Unary{Usage: k.usage, Finish: finishName(k.finish), Text: k.text}, nil
}

// Answers reads an engine's answers. They mostly differ in a few values, and comparing is many times cheaper than
// walking: what was walked lends its outline to the next. The zero value is ready. Safe for concurrent use.
type Answers struct {
	known  [2]atomic.Pointer[outline] // an engine that speaks and calls tools in turn has two
	walked atomic.Uint32
}

// relearn is how many answers are walked before another outline is taken on, once there are two.
const relearn = 32

// Scan is ScanUnary.
func (a *Answers) Scan(body []byte) (u Unary, err error) {
	for i := range a.known {
		if o := a.known[i].Load(); o != nil && o.match(body, &u) {
			if u.Finish == aborted {
				return Unary{}, Aborted()
			}
			return u, nil
		}
	}
	var k chunk
	if u, err = k.unary(body); err != nil {
		return u, err
	}
	if n := a.walked.Add(1); n <= 2 || n%relearn == 0 {
		if o := outlineOf(body, &k); o != nil {
			a.known[(n+n/relearn)%2].Store(o)
		}
	}
	return u, nil
}
