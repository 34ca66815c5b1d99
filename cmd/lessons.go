package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"octet/app"
	"octet/calibration/lessons"
	"octet/classifier/model"
	"octet/classifier/train"
	"octet/config"
)

// lessonFlags are those flags of `octet train` that speak of calibration records.
type lessonFlags struct {
	streamFlags
	from  []string // each a STREAM
	model string   // that is in use: adjusted without --data, compared with in any case
	hold  float64
	json  string
}

func (f *lessonFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.from, "from-calibration", nil,
		"calibration records to learn from: a file of JSON lines (gzipped or not, - is standard input), "+
			"redis://HOST:PORT[/STREAM],\nnats://HOST:PORT[/SUBJECT], or config: the stream that --config names. "+
			"Repeatable")
	flags.StringVar(&f.config, "config", "",
		"configuration whose model is in use, and whose labels lead to specialists; with --from-calibration")
	flags.StringVar(&f.model, "model", "",
		"the model in use, builtin or an artefact; default that of --config, else builtin; with --from-calibration")
	flags.Float64Var(&f.hold, "hold-out", 0.3, "share of the calibration texts' groups that are evaluated on alone")
	flags.StringVar(&f.json, "json", "",
		"file for the figures of --from-calibration; - is standard output, without the text")
	f.streamFlags.add(flags)
}

// sources returns what --from-calibration names: files, and the flags of at most one server of each kind.
func (f *lessonFlags) sources() (files []string, from streamFlags, err error) {
	from = f.streamFlags
	from.config = ""
	for _, s := range f.from {
		scheme, rest, server := strings.Cut(s, "://")
		host, path, _ := strings.Cut(rest, "/")
		switch {
		case s == "config":
			if from.config = f.config; f.config == "" {
				return nil, from, usageError{errors.New("--from-calibration config needs --config FILE")}
			}
		case !server:
			files = append(files, s)
		case host == "" || strings.Contains(host, "@"):
			return nil, from, usageError{
				errors.New("a server is HOST:PORT here; one with a password is named by --config")}
		case scheme == "redis" && from.redis == "":
			from.redis = host
			if path != "" {
				from.stream = path
			}
		case scheme == "nats" && from.nats.URL == "":
			from.nats.URL = scheme + "://" + host
			if path != "" {
				from.nats.Subject = path
			}
		default:
			return nil, from, usageError{fmt.Errorf("%q is no calibration stream, or a second one of its kind", s)}
		}
	}
	return files, from, nil
}

// inUse is the model that requests are decided by now, and how specialists' names become its labels.
type inUse struct {
	path     string
	artefact *model.Artefact
	model    *model.Model
	labels   func(specialist string) []string
}

func (f *lessonFlags) inUse() (u inUse, err error) {
	u.path = f.model
	var cfg *config.Config
	if f.config != "" {
		if cfg, err = config.Load(f.config, config.Options{Environ: os.Environ()}); err != nil {
			return u, err
		}
		if u.path == "" {
			u.path = cfg.Router.Classifier.Model
		}
	}
	if u.path == "" {
		u.path = model.BuiltinName
	}
	if u.artefact, err = model.Load(u.path); err != nil {
		return u, err
	}
	if u.model, err = model.New(u.artefact); err != nil {
		return u, err
	}
	if u.labels = u.model.LabelsNamed; cfg == nil {
		return u, nil
	}
	var names []string
	for _, sp := range cfg.Specialists {
		names = append(names, sp.Name)
	}
	named := cfg.Router.Classifier.Labels
	u.labels = func(specialist string) []string { return u.model.LabelsOf(specialist, names, named) }
	return u, nil
}

// lessonsLearnt makes labelled texts of the calibration records.
func (f *lessonFlags) lessonsLearnt(cmd *cobra.Command, u *inUse, seed uint64) (all []lessons.Lesson,
	c lessons.Counts, err error) {
	if !(f.hold > 0 && f.hold < 1) {
		return nil, c, usageError{errors.New("--hold-out is above 0 and below 1")}
	}
	files, from, err := f.sources()
	if err != nil {
		return nil, c, err
	}
	var records lessons.Records
	if err := from.read(cmd, files, records.Line); err != nil {
		return nil, c, err
	}
	return records.Lessons(lessons.Terms{Labels: u.labels, Hold: f.hold, Seed: seed})
}

// replaces refuses an output that is the model in use: a gateway would take it over at once.
func (u *inUse) replaces(out string) error {
	if u.path == model.BuiltinName {
		return nil
	}
	a, errA := os.Stat(u.path)
	b, errB := os.Stat(out)
	if errA == nil && errB == nil && os.SameFile(a, b) || filepath.Clean(u.path) == filepath.Clean(out) {
		return usageError{errors.New(
			"--out is the model in use, which a gateway that runs would replace at once; name another file")}
	}
	return nil
}

// samples are lessons to learn from or to evaluate on. A group is a source, of a family of its own.
func samples(all []lessons.Lesson, held bool) (of []train.Sample) {
	for _, l := range all {
		if l.Held == held {
			of = append(of, train.Sample{Text: l.Text, Label: l.Label, Source: "calibration-" + l.Group})
		}
	}
	return of
}

// anchors are texts of other kinds, on which a model that goes on learning is to stay as it is.
func anchors() (texts []string) {
	for _, s := range train.Examples() {
		texts = append(texts, s.Text)
	}
	for _, topic := range train.TrainedQuestions().Topics {
		for _, q := range topic.Questions {
			texts = append(texts, q.Plain)
		}
	}
	return texts
}

// lessonFault makes what the caller gave and cannot be learnt from a fault of configuration.
func lessonFault(err error) error {
	if errors.Is(err, lessons.ErrNoText) || errors.Is(err, lessons.ErrNoLessons) {
		return fmt.Errorf("%w: %w", app.ErrConfig, err)
	}
	return trainingFault(err)
}

// learnt is what a training from calibration records came to.
type learnt struct {
	Counts   lessons.Counts          `json:"records"`
	Classes  map[string]*lessonClass `json:"classes"`
	Adjusted *train.Adjusted         `json:"adjusted,omitempty"` // absent where a model was trained anew
	HeldOut  *train.Change           `json:"held_out"`
	Learnt   *train.Change           `json:"learnt"`
	Dev      *train.Change           `json:"dev,omitempty"`
	Others   int                     `json:"others"`         // texts of other kinds
	Moved    int                     `json:"others_changed"` // of these: another first choice
	Written  bool                    `json:"written"`
}

// lessonClass is how many texts a label has.
type lessonClass struct {
	Learnt int `json:"learnt"`
	Held   int `json:"held_out"`
}

// compare fills in what the new model would change.
func (l *learnt) compare(before, after *model.Model, learn, held, dev []train.Sample) (err error) {
	if l.HeldOut, err = train.Compare(before, after, held); err != nil {
		return err
	}
	if l.Learnt, err = train.Compare(before, after, learn); err != nil {
		return err
	}
	if len(dev) > 0 {
		if l.Dev, err = train.Compare(before, after, dev); err != nil {
			return err
		}
	}
	other := anchors()
	l.Others, l.Moved = len(other), train.Moved(before, after, other)
	return nil
}

func (l *learnt) count(all []lessons.Lesson) {
	l.Classes = map[string]*lessonClass{}
	for _, x := range all {
		c := l.Classes[x.Label]
		if c == nil {
			c = &lessonClass{}
			l.Classes[x.Label] = c
		}
		if x.Held {
			c.Held++
		} else {
			c.Learnt++
		}
	}
}
