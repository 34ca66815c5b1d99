package calibration

import (
	"context"
	"errors"
)

// Why a judge has no say.
var (
	ErrJudgeSlow = errors.New("calibration: the judge took too long")
	ErrJudgeLied = errors.New("calibration: the judge contradicts itself, or says what is no verdict")
)

// Case is what a judge is shown.
type Case struct {
	Intent          string
	Prompt          []byte
	Primary, Shadow []byte
}

// JudgeFault names why a judge has no say: timeout, lied or failed.
func JudgeFault(err error) string {
	switch {
	case errors.Is(err, ErrJudgeSlow), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, ErrJudgeLied):
		return "lied"
	}
	return "failed"
}
