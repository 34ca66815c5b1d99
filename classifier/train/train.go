package train

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"octet/classifier/model"
)

// repeats is how often each of the extra examples is seen in an epoch: they are few, and of many kinds.
const repeats = 8

// Config is a training run.
type Config struct {
	Train    []Sample
	Dev      []Sample // calibrates, and is not trained on, without Folds
	Extra    []Sample // more to train on; those of labels that Train does not have are left out
	Concepts string
	Seed     uint64

	// Subjects and Questions are short: they are seen in many forms, with courtesy around them, and weigh a share of
	// their own. Questions of a topic, their Source, stand in one fold. Those of labels that Train does not have are
	// left out.
	Subjects  []Subject
	Questions []Sample

	// Folds has Dev trained on as well. What calibrates, and the report, are then what each text is said to be by
	// models that have seen nothing of its family of sources: the families are dealt into so many folds, and all but
	// one trained on in turn. Zero means no folds; else at least 2.
	Folds int
}

const maxFolds = 100

// Run trains a model, calibrates it and returns it with its report: on Dev, or on what Folds left out. Errors wrap
// ErrData or model.ErrConcepts.
func Run(c Config) (*model.Artefact, *Report, error) {
	samples := c.Train
	if c.Folds > 0 {
		samples = slices.Concat(c.Train, c.Dev)
	}
	if c.Folds < 0 || c.Folds == 1 || c.Folds > maxFolds {
		return nil, nil, fmt.Errorf("%w: %d folds: want none, or 2 to %d", ErrData, c.Folds, maxFolds)
	}
	labels, err := labelsOf(samples)
	if err != nil {
		return nil, nil, err
	}
	reader, err := model.NewReader(c.Concepts)
	if err != nil {
		return nil, nil, err
	}
	c.Questions = known(c.Questions, labels)
	c.Subjects = slices.DeleteFunc(slices.Clone(c.Subjects),
		func(s Subject) bool { return !slices.Contains(labels, s.Label) })
	l := lessons{withExtra(samples, c.Extra, labels), c.Subjects, c.Questions}
	a := l.fitted(labels, reader, c.Seed)
	a.Labels, a.Concepts = labels, c.Concepts
	a.Origin = model.Origin{Seed: c.Seed, Data: digest(samples), Samples: len(samples), Folds: c.Folds}
	a.Origin.Keys = sourceKeys(samples)
	a.Origin.Sources = len(a.Origin.Keys)
	r, err := c.calibrate(a, samples, reader)
	if err != nil {
		return nil, nil, err
	}
	a.Origin.Figures = map[string]float64{
		"macro_f1": r.MacroF1, "top1": r.Top1, "top2": r.Top2, "ece": r.ECE, "coverage_at_95": r.CoverageAt,
		"reject_precision": r.Reject.Precision, "reject_recall": r.Reject.Recall,
	}
	return a, r, nil
}

// calibrate gives the artefact its settings, and reports on the texts that they are from.
func (c Config) calibrate(a *model.Artefact, samples []Sample, reader *model.Reader) (*Report, error) {
	reject := slices.Index(a.Labels, model.Reject)
	if c.Folds == 0 {
		m, err := model.New(a)
		if err != nil {
			return nil, err
		}
		answers, err := ask(m, c.Dev)
		if err != nil {
			return nil, err
		}
		set(a, settleBoth(answers, reject), reject)
		if m, err = model.New(a); err != nil {
			return nil, err
		}
		return Evaluate(m, c.Dev)
	}
	answers, of, err := crossed(c, samples, a.Labels, reader)
	if err != nil {
		return nil, err
	}
	set(a, settleBoth(answers, reject), reject)
	return foldReport(nested(answers, of, reject), of, a.Labels), nil
}

func set(a *model.Artefact, s both, reject int) {
	a.Bias[reject] += s.rest.shift
	a.Temperature, a.Doubt = s.rest.temperature, s.rest.doubt
	a.Prose = model.Setting{Shift: s.prose.shift - s.rest.shift, Temperature: s.prose.temperature, Doubt: s.prose.doubt}
}

// known are the samples of labels that are known.
func known(samples []Sample, labels []string) []Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return !slices.Contains(labels, s.Label) })
}

// withExtra adds the extra samples of known labels.
func withExtra(samples, extra []Sample, labels []string) []Sample {
	all := slices.Clone(samples)
	for _, s := range known(extra, labels) {
		all = append(all, slices.Repeat([]Sample{s}, repeats)...)
	}
	return all
}

// labelsOf are the labels in the order of the alphabet, reject the last.
func labelsOf(samples []Sample) ([]string, error) {
	var labels []string
	for _, s := range samples {
		if s.Label != model.Reject && !slices.Contains(labels, s.Label) {
			labels = append(labels, s.Label)
		}
	}
	slices.Sort(labels)
	if len(labels) == 0 || len(labels) > 63 {
		return nil, fmt.Errorf("%w: %d labels beside %s: want 1 to 63", ErrData, len(labels), model.Reject)
	}
	return append(labels, model.Reject), nil
}

func digest(samples []Sample) string {
	h := xxh3.New()
	for _, s := range samples {
		_, _ = h.WriteString(s.Source + "\x00" + s.Label + "\x00" + s.Text + "\x00") // a hash never fails
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func sourceKeys(samples []Sample) []uint32 {
	keys := map[uint32]bool{}
	for _, s := range samples {
		keys[model.SourceKey(s.Source)] = true
	}
	return slices.Sorted(maps.Keys(keys))
}
