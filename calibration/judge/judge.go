// Package judge asks a command or an HTTP service which of two answers is better.
//
//	Case ─▶ {"intent","prompt","a","b"} ─▶ judge ─▶ {"better": "a" | "b" | "same" | "unclear"}
//
// Invariants:
//
//  1. A judge does not know which answer the client got: they are a and b, and it is asked a second time with the two
//     swapped. One that contradicts itself has no say (calibration.ErrJudgeLied).
//  2. A judge that hangs is ended when its time is over, with all that it has started (calibration.ErrJudgeSlow).
//  3. What it says is read up to maxVerdict bytes; anything but the one object is a lie.
package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"octet/calibration"
)

// maxVerdict bounds what a judge may say, in bytes.
const maxVerdict = 64 << 10

// asker puts one question to a judge.
type asker interface {
	ask(ctx context.Context, question []byte) (answer []byte, err error)
}

// Judge is one that has a time for each question.
type Judge struct {
	asker   asker
	timeout time.Duration // of one question
}

// question is what a judge is shown.
type question struct {
	Intent string `json:"intent"`
	Prompt string `json:"prompt"`
	A      string `json:"a"`
	B      string `json:"b"`
}

// Judge implements gateway.Judge: it asks twice, the second time with the answers swapped.
func (j *Judge) Judge(ctx context.Context, c calibration.Case) (calibration.Class, error) {
	q := question{Intent: c.Intent, Prompt: string(c.Prompt), A: string(c.Primary), B: string(c.Shadow)}
	there, err := j.once(ctx, q)
	if err != nil {
		return "", err
	}
	q.A, q.B = q.B, q.A
	back, err := j.once(ctx, q)
	if err != nil {
		return "", err
	}
	if there != back.Swapped() {
		return "", fmt.Errorf("%w: %s, and %s when the two are swapped", calibration.ErrJudgeLied, there, back)
	}
	return there, nil
}

func (j *Judge) once(ctx context.Context, q question) (calibration.Class, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, j.timeout)
	defer cancel()
	said, err := j.asker.ask(limited, body)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case limited.Err() != nil:
		return "", fmt.Errorf("%w: %v", calibration.ErrJudgeSlow, j.timeout)
	case err != nil:
		return "", err
	}
	return verdict(said)
}

// verdict reads what a judge says of a and b, as if a were the primary's.
func verdict(said []byte) (calibration.Class, error) {
	var v struct {
		Better string `json:"better"`
	}
	if err := json.Unmarshal(said, &v); err != nil {
		return "", fmt.Errorf("%w: %w", calibration.ErrJudgeLied, err)
	}
	switch v.Better {
	case "a":
		return calibration.PrimaryBetter, nil
	case "b":
		return calibration.ShadowBetter, nil
	case "same":
		return calibration.Agree, nil
	case "unclear":
		return calibration.Differ, nil
	}
	return "", fmt.Errorf("%w: %.32q", calibration.ErrJudgeLied, v.Better)
}

// errTooMuch is a judge that does not stop talking.
var errTooMuch = errors.Join(calibration.ErrJudgeLied, errors.New("it says more than a verdict"))

// readVerdict reads all of r, which is short.
func readVerdict(r io.Reader) ([]byte, error) {
	said, err := io.ReadAll(io.LimitReader(r, maxVerdict+1))
	if err == nil && len(said) > maxVerdict {
		return nil, errTooMuch
	}
	return said, err
}
