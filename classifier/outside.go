package classifier

import (
	"context"
	"errors"
)

// Outside is a classifier out of process, which is asked before the Model. It is safe for concurrent use.
type Outside interface {
	// Ask fills out as Model.Classify does, before ctx ends. An error says that there is no distribution; it wraps the
	// Outage that says why.
	Ask(ctx context.Context, text []byte, out []float64) (reject float64, err error)
}

// Outage is why a classifier out of process gave no distribution, in the words of receipts and metrics.
type Outage string

// The outages.
const (
	OutageTimeout     Outage = "timeout"
	OutageUnreachable Outage = "unreachable" // no connection, or one that broke
	OutageStatus      Outage = "status"      // it answered another status than 200
	OutageTooLarge    Outage = "too_large"   // its answer is longer than is read
	OutageMalformed   Outage = "malformed"   // its answer is no distribution over the labels that it was asked about
	OutageSuspended   Outage = "suspended"   // it failed too often in a row, and is not asked for a while
	OutageAbandoned   Outage = "abandoned"   // the request left it no more time, or ended
)

// Outages are all of them.
var Outages = [...]Outage{OutageTimeout, OutageUnreachable, OutageStatus, OutageTooLarge, OutageMalformed,
	OutageSuspended, OutageAbandoned}

// Error implements error.
func (o Outage) Error() string { return "the classifier out of process: " + string(o) }

// outageOf returns the Outage that err wraps; one that wraps none broke its promise.
func outageOf(err error) Outage {
	var o Outage
	if errors.As(err, &o) {
		return o
	}
	return OutageMalformed
}

// Where a distribution comes from, as Verdict.Classifier has it.
const (
	FromHTTP  = "http"
	FromModel = "model"
)

// distribution asks the classifiers in their order, the one out of process first. It leaves in v which of them gave the
// distribution, if there is one out of process.
func (c *Cascade) distribution(ctx context.Context, in *Input, v *Verdict) (p []float64, reject float64, err error) {
	if c.cfg.Outside == nil && c.cfg.Model == nil {
		return nil, 0, ErrNoModel
	}
	text, p := in.gather(), make([]float64, len(c.cfg.Specialists))
	if c.cfg.Outside == nil {
		reject, err = c.askModel(in, text, p)
		return p, reject, err
	}
	if reject, err = c.askOutside(ctx, text, p); err == nil {
		v.Classifier = FromHTTP
		return p, reject, nil
	}
	v.Outage = outageOf(err)
	if c.cfg.Model == nil {
		return nil, 0, err
	}
	if reject, err = c.askModel(in, text, p); err == nil {
		v.Classifier = FromModel
	}
	return p, reject, err
}

func (c *Cascade) askModel(in *Input, text []byte, p []float64) (reject float64, err error) {
	model := c.cfg.Model
	if in.Dry && c.cfg.DryModel != nil {
		model = c.cfg.DryModel
	}
	if reject, err = model.Classify(text, p); err == nil {
		err = distribution(p, reject)
	}
	return reject, err
}

func (c *Cascade) askOutside(ctx context.Context, text []byte, p []float64) (reject float64, err error) {
	if reject, err = c.cfg.Outside.Ask(ctx, text, p); err == nil {
		err = distribution(p, reject)
	}
	return reject, err
}
