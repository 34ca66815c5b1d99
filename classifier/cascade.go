package classifier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Routed is the model that lets the cascade choose; an empty model means the same.
const Routed = "octet"

// Unspecified is the intent of a request that declares none. An entry of this name in Config.Intents holds its
// thresholds.
const Unspecified = "unspecified"

// Errors of Classify, each about what the request declared.
var (
	ErrUnknownModel   = errors.New("unknown model")
	ErrUnknownIntent  = errors.New("unknown intent")
	ErrUnknownAdapter = errors.New("unknown adapter")
	ErrNoSpecialist   = errors.New("no specialist for this request")
)

// ErrNoModel is why a verdict is degraded when no trained model was given.
var ErrNoModel = errors.New("no classifier model")

// Model is a trained classifier. It is safe for concurrent use, costs a bounded time for any text, and keeps nothing.
type Model interface {
	// Classify fills out, one probability a specialist in the order of Config.Specialists, and returns the probability
	// that the text belongs to none of them. An error says that the model could not say; out is then worthless.
	Classify(text []byte, out []float64) (reject float64, err error)
}

// IntentConfig is what a declared intent means.
type IntentConfig struct {
	Specialist      string  // where it goes directly; empty = routed by the text
	ShadowThreshold float64 // below this confidence the second choice gets a shadow copy
	DivertThreshold float64 // below it, under load, the second choice answers instead
	PriorityFloor   int     // least priority that is served
}

// Config is an ensemble as the cascade sees it.
type Config struct {
	Specialists   []string            // names, in the order of Model's probabilities; at least one
	Adapters      map[string][]string // the adapters of each specialist
	Intents       map[string]IntentConfig
	Rules         []Rule  // of the operator, asked before the detectors whether these are on or not
	Detectors     bool    // structural detectors decide before Model, and hints where it cannot
	Fallback      string  // the specialist of requests that no step decides
	RejectRefuses bool    // a rejected text is refused; else it goes to the fallback
	Outside       Outside // asked before Model; nil if there is none
	Model         Model   // nil: none was trained
	DryModel      Model   // asked in place of Model for dry requests; nil if Model is
	Asides        Asides  // beside those that are known
	Viable        float64 // the least probability of a second choice that may answer instead of the first
}

// Input is what a request says about where it wants to go.
type Input struct {
	Model   string // as in the body
	Intent  string // X-Intent
	Adapter string // X-Adapter
	Text    []byte // the prompt; read only where there are no Turns
	Turns   []Turn // the conversation, oldest first
	Dry     bool   // nothing is counted: DryModel is asked
	// Able returns true for the specialists that take what the request holds beside text; nil if all do.
	Able func(specialist string) bool

	asides Asides
}

// Turn is one message of a conversation.
type Turn struct {
	Role string // user, assistant, system, tool …
	Text []byte
}

// Cascade decides which specialist answers. The first rule that can say decides, and none after it is asked:
// declared model, declared intent, structural detectors, trained model. It is immutable and safe for concurrent use.
type Cascade struct {
	cfg       Config
	models    map[string]*lane
	intents   map[string]*intent // that are declared
	detectors []*detector        // those whose target is in the ensemble, in order of precedence
	hints     []*detector        // likewise; asked where the model could not say

	unspecified intent
}

// lane is what a model's name stands for: a specialist, and its adapter or none.
type lane struct{ specialist, adapter, rule string }

// lanesOf returns every model that may be declared, "specialist" and "specialist:adapter".
func lanesOf(c *Config) map[string]*lane {
	lanes := map[string]*lane{}
	for _, s := range c.Specialists {
		lanes[s] = &lane{s, "", "model " + s}
		for _, a := range c.Adapters[s] {
			lanes[s+":"+a] = &lane{s, a, "model " + s + ":" + a}
		}
	}
	return lanes
}

// intent is what a declared intent means, and what a verdict says of it.
type intent struct {
	IntentConfig
	name, rule string
}

func intentsOf(c *Config) map[string]*intent {
	intents := map[string]*intent{}
	for name, cfg := range c.Intents {
		intents[name] = &intent{cfg, name, "intent " + name}
	}
	return intents
}

// New checks c: at least one specialist, unique names, and no reference to a specialist that is not there. The cascade
// keeps c: its maps and slices must not change afterwards.
func New(c Config) (*Cascade, error) {
	if len(c.Specialists) == 0 {
		return nil, errors.New("classifier: an ensemble needs a specialist")
	}
	for i, s := range c.Specialists {
		if s == "" || s == Routed || strings.Contains(s, ":") || slices.Contains(c.Specialists[:i], s) {
			return nil, fmt.Errorf("classifier: %q cannot be the name of specialist %d", s, i)
		}
	}
	if !slices.Contains(c.Specialists, c.Fallback) {
		return nil, fmt.Errorf("classifier: the fallback %q is no specialist", c.Fallback)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Intents)) {
		to := c.Intents[name].Specialist
		if to != "" && (name == Unspecified || !slices.Contains(c.Specialists, to)) {
			return nil, fmt.Errorf("classifier: intent %s cannot lead to %q", name, to)
		}
	}
	if err := checkRules(c.Rules, c.Specialists); err != nil {
		return nil, err
	}
	if c.Asides = slices.Concat(KnownAsides, c.Asides); len(c.Asides) > MaxAsides {
		return nil, fmt.Errorf("classifier: %d asides, at most %d", len(c.Asides), MaxAsides)
	}
	return &Cascade{
		cfg: c, models: lanesOf(&c), intents: intentsOf(&c),
		unspecified: intent{IntentConfig: c.Intents[Unspecified], name: Unspecified},
		detectors:   bind(detectors[:], c.Specialists), hints: bind(hints[:], c.Specialists),
	}, nil
}

// Classify decides. It reads at most 32 KiB of the text, the end of the conversation first, and nothing of it where the
// model or an intent that maps to a specialist was declared. Errors wrap one of the Err values above.
func (c *Cascade) Classify(in Input) (v Verdict, err error) {
	err = c.Decide(context.Background(), &in, &v)
	return v, err
}

// Outside reports whether Classify may ask a classifier out of process, which takes time.
func (c *Cascade) Outside() bool { return c.cfg.Outside != nil }

// Decide is Classify into a Verdict of the caller's. With an error it is left zero, but for the specialist that lacks
// the adapter, where that is the error. A classifier out of process is
// waited for until ctx ends at most; the verdict is then made without it.
func (c *Cascade) Decide(ctx context.Context, in *Input, v *Verdict) error {
	*v, in.asides = Verdict{}, c.cfg.Asides
	err := c.begin(in.Intent, v)
	if err == nil {
		err = c.route(ctx, in, v)
	}
	if err != nil {
		*v = Verdict{}
		return err
	}
	c.amongAble(in, v)
	if err = c.adapt(in.Adapter, v); err != nil {
		*v = Verdict{Specialist: v.Specialist}
	}
	return err
}

// begin makes v a verdict with the declared intent and its thresholds, and no more.
func (c *Cascade) begin(intent string, v *Verdict) error {
	to := c.intent(intent)
	if to == nil {
		return fmt.Errorf("%w: %.64q", ErrUnknownIntent, intent)
	}
	v.Intent, v.ShadowThreshold, v.DivertThreshold, v.PriorityFloor, v.Confidence = to.name, to.ShadowThreshold,
		to.DivertThreshold, to.PriorityFloor, math.NaN()
	return nil
}

// intent finds an intent; nil where it is not declared.
func (c *Cascade) intent(name string) *intent {
	if name == "" || name == Unspecified {
		return &c.unspecified
	}
	return c.intents[name]
}

// route goes down the cascade.
func (c *Cascade) route(ctx context.Context, in *Input, v *Verdict) error {
	if in.Model != "" && in.Model != Routed {
		return c.declared(in.Model, v)
	}
	if to := c.intent(v.Intent); to.Specialist != "" {
		v.Specialist, v.RoutedBy, v.Rule = to.Specialist, ByIntent, to.rule
		return nil
	}
	if c.follow(in, v) {
		return nil
	}
	if !c.cfg.Detectors {
		return c.ask(ctx, in, v)
	}
	var seen sheet
	in.read(func(part []byte) { scan(part, &seen) })
	if fire(c.detectors, &seen, v) {
		return nil
	}
	if err := c.ask(ctx, in, v); err != nil {
		return err
	}
	if v.Degraded != nil {
		fire(c.hints, &seen, v)
	}
	return nil
}

// Reads reports whether Classify would look at the text of a request that declares this model and this intent: where
// not, it need not be given any.
func (c *Cascade) Reads(model, intent string) bool {
	if model != "" && model != Routed {
		return false
	}
	to := c.intent(intent)
	return to == nil || to.Specialist == ""
}

// declared follows a model's name, "specialist" or "specialist:adapter".
func (c *Cascade) declared(model string, v *Verdict) error {
	to := c.models[model]
	if to == nil {
		return fmt.Errorf("%w: %.64q", ErrUnknownModel, model)
	}
	v.Specialist, v.Adapter, v.RoutedBy, v.Rule = to.specialist, to.adapter, ByModel, to.rule
	return nil
}

// adapt settles which adapter the specialist runs with.
func (c *Cascade) adapt(adapter string, v *Verdict) error {
	switch {
	case adapter == "":
		return nil
	case v.Adapter != "" && v.Adapter != adapter:
		return fmt.Errorf("%w: the model asks for %.64q, X-Adapter for %.64q", ErrUnknownAdapter, v.Adapter, adapter)
	case !slices.Contains(c.cfg.Adapters[v.Specialist], adapter):
		return fmt.Errorf("%w: %s has no %.64q", ErrUnknownAdapter, v.Specialist, adapter)
	}
	v.Adapter = adapter
	v.SecondViable = v.SecondViable && slices.Contains(c.cfg.Adapters[v.Second], adapter)
	return nil
}
