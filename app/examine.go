package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"octet/app/doctor"
	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/engine/tokenizers"
	"octet/gateway/api"
	"octet/internal/dialing"
	"octet/routing/events"
)

// Examine returns what is found of the engines that a configuration lists, without serving it: they are dialled from
// here. It takes some seconds.
func Examine(ctx context.Context, cfg *config.Config, kinds engine.Table) ([]api.Finding, error) {
	if kinds == nil {
		kinds = engine.AllKinds()
	}
	guard := new(dialing.Guard)
	guard.Allow(cfg.Fleet.Allowed())
	locals, err := loadLocals(cfg, func(string) *tokenizers.Local { return nil })
	if err != nil {
		return nil, err
	}
	x := examiner{cfg: cfg, kinds: kinds, guard: guard,
		trust:  newCertificates(slog.New(slog.DiscardHandler)),
		locals: func(sp string) *tokenizers.Local { return locals[sp] }}
	if c := cfg.Auth.JWT; c != nil {
		x.issuer = func(ctx context.Context) *doctor.Issuer { return askIssuer(ctx, c, x.trust) }
	}
	return doctor.Examine(ctx, x.cell()), nil
}

// examiner makes of a configuration what doctor takes.
type examiner struct {
	cfg    *config.Config
	kinds  engine.Table
	guard  *dialing.Guard
	trust  *certificates
	dial   Dialer // nil means TCP
	via    string
	locals func(specialist string) *tokenizers.Local
	known  func(replica string) *doctor.Known   // nil where no gateway is asked
	issuer func(context.Context) *doctor.Issuer // nil without auth.jwt
}

func (x examiner) cell() *doctor.Cell {
	c := &doctor.Cell{Events: x.cfg.Events, Control: openai.Config{Guard: x.guard,
		Bearer: x.cfg.Events.Snapshot.PeerToken}, Issuer: x.issuer}
	for i := range x.cfg.Specialists {
		for j := range x.cfg.Specialists[i].Replicas {
			c.Subjects = append(c.Subjects, x.subject(i, j))
		}
	}
	return c
}

// named is the replica of that name; false if the configuration has none.
func (x examiner) named(replica string) (doctor.Subject, bool) {
	i, j, known := placeOf(x.cfg, replica)
	if !known {
		return doctor.Subject{}, false
	}
	return x.subject(i, j), true
}

// subject is one replica of the configuration.
func (x examiner) subject(i, j int) doctor.Subject {
	sp := &x.cfg.Specialists[i]
	rep := &sp.Replicas[j]
	path := fmt.Sprintf("specialists[%d].replicas[%d]", i, j)
	if rep.Source != "" {
		path = "what " + rep.Source + " says of " + rep.Name
	}
	kind, _ := x.kinds.Named(strings.Replace(rep.Engine, engine.Auto, engine.Default, 1))
	s := doctor.Subject{Path: path, Specialist: sp, Replica: rep, Kinds: x.kinds, Tokens: sourceOf(sp, &kind),
		Local: x.locals(sp.Name), Control: x.guard.Control}
	s.Blocks, _ = poolSize(sp, rep) // 0 where the arithmetic fails, which the configuration's check tells
	s.Dial = func(kind string) (*openai.Client, error) {
		c := clientConfig(x.cfg, rep, x.trust)
		c.Engine, c.Kinds, c.Via, c.Guard, c.MaxIdle = kind, x.kinds, x.via, x.guard, 2
		return openai.New(x.dial.reaching(rep.URL, c))
	}
	if x.known != nil {
		s.Known = x.known(rep.Name)
	}
	return s
}

// keepFindings is how long what was found is answered again: asking engines has a price.
const keepFindings = 5 * time.Second

// examination is what a running gateway has found last. One is made at a time.
type examination struct {
	room  chan struct{} // holds one token while an examination runs
	found []api.Finding // guarded by room, as is at
	at    time.Time
}

func newExamination() *examination { return &examination{room: make(chan struct{}, 1)} }

// latest returns what make brings, or what it brought a moment ago. Others wait, until their ctx ends.
func (e *examination) latest(ctx context.Context, examine func() []api.Finding) ([]api.Finding, error) {
	select {
	case e.room <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-e.room }()
	if e.found != nil && time.Since(e.at) < keepFindings {
		return e.found, nil
	}
	found := examine()
	if err := ctx.Err(); err != nil {
		return nil, err // what it found is that nothing answered
	}
	e.found, e.at = found, time.Now()
	return found, nil
}

// Examine returns what is found of the replicas in force: by asking their engines, and by what the gateway knows.
func (a *App) Examine(ctx context.Context) ([]api.Finding, error) {
	return a.examined.latest(ctx, func() []api.Finding { return doctor.Examine(ctx, a.examiner().cell()) })
}

func (a *App) examiner() examiner {
	x := examiner{cfg: a.Config(), kinds: a.Source.Engines, guard: a.guard, dial: a.Dial, via: a.replicas.via,
		trust: a.certificates, locals: a.tokens.LocalOf, known: a.known}
	if v := a.tenancy.issuer.verifier.Load(); v != nil && x.cfg.Auth.JWT != nil {
		x.issuer = func(context.Context) *doctor.Issuer { return issuerOf(x.cfg.Auth.JWT, v.State(time.Now())) }
	}
	return x
}

// known returns what is known of a replica; nil if it has gone.
func (a *App) known(name string) *doctor.Known {
	r := a.replicas.present()[name]
	if r == nil {
		return nil
	}
	at, hits := a.fabric.Index().Host(r.served.Host), r.served.Accuracy.Read()
	k := &doctor.Known{Trust: a.fabric.Trust(r.served.Host), Misfit: a.fabric.Misfit(r.served.Host),
		Stale: at.Stale, Gaps: at.Gaps, All: hits.All, Part: hits.Part, Missing: hits.None,
		Publishers: a.fabric.Feed().Publishers()[name], Position: func() (events.Position, bool) {
			return a.fabric.Feed().Position(name)
		}}
	if part, ok := a.fabric.Beliefs().Known(r.served.Host); ok {
		k.Share = &part
	}
	source := "zmq/" + name
	if _, own := a.fabric.SourceStats()[source]; own {
		k.Connected = func() bool { return a.fabric.SourceStats()[source].Connected }
	}
	return k
}
