package app

import (
	"context"
	"errors"
	"fmt"

	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/internal/certs"
	"octet/routing/fleet"
)

// reportedBlocks returns the size of an engine's KV pool as it tells itself, in blocks of blockSize tokens; 0 if it
// does not, or not in time.
func reportedBlocks(ctx context.Context, c *openai.Client, blockSize int) int {
	m, err := c.Scrape(ctx)
	if err != nil {
		return 0
	}
	return m.Pool(blockSize)
}

// prober asks engines for their health, and healthy ones for what is not known of them yet.
type prober struct{ app *App }

// Probe implements fleet.Prober.
func (p prober) Probe(ctx context.Context, member *fleet.Replica) error {
	name := member.Spec().Name
	r := p.app.replicas.present()[name]
	if r == nil {
		return nil // it is being retired
	}
	err := r.client.Probe(ctx)
	if errors.Is(err, engine.ErrLocal) {
		return fmt.Errorf("%w: %w", fleet.ErrUntold, err)
	}
	if err != nil {
		p.app.tokens.Checks().Away(name)
		p.app.connects.away(name)
		p.app.identities.away(r.key.origin())
		r.client.Away()
		p.app.revisions.away(r.key.origin())
		r.logFailure(p.app.Log, err)
		switch {
		case openai.IsLoading(err):
			member.Says(fleet.Loading)
		case certs.Why(err) != "":
			member.Says(fleet.Untrusted)
		case member.Said() == fleet.Asleep && !r.client.TellsSleep():
			member.Says(fleet.Serving) // it is awake if it has started anew
		}
		r.client.Away()
		if !member.Healthy() {
			p.app.fabric.Feed().Release(name)
			p.adaptersLost(r, err)
		}
		return err
	}
	r.failing.Store(nil)
	if member.Said() == fleet.Untrusted {
		member.Says(fleet.Serving)
	}
	p.learn(ctx, r)
	p.stands(ctx, member, r)
	if member.Said() == fleet.Serving {
		p.app.connects.serves(name)
	}
	if !r.known.Swap(true) {
		p.app.sleepers.Look(r.key.specialist)
	}
	return nil
}

// learn asks a healthy engine what is not known yet: its kind, the size of its pool, how it tokenizes, its adapters.
func (p prober) learn(ctx context.Context, r *replica) {
	sp, rep := p.app.declared(r.key.name)
	if rep == nil {
		return // it is being retired
	}
	if !p.app.identities.current(r.key.origin()) {
		p.learnKind(ctx, rep, r)
	}
	p.learnRevision(ctx, r)
	if r.blocks == 0 {
		if blocks := reportedBlocks(ctx, r.client, r.key.blockSize); blocks > 0 {
			p.fit(r, blocks)
		}
	}
	p.app.tokens.Compare(ctx, r.key.specialist, r.key.name, p.app.Log)
	if keeper := p.app.keepers.of(sp.Name); keeper != nil {
		keeper.Observe(ctx, uint16(r.served.Host))
	}
}

// learnKind asks a healthy engine what it is. A kind that was left to be found out is in force from then on; one that
// contradicts the configuration is logged with the cure.
func (p prober) learnKind(ctx context.Context, rep *config.Replica, r *replica) {
	id, err := r.client.Identify(ctx, r.key.model)
	if err != nil {
		return // the next probe asks again
	}
	p.app.identities.note(r.key.origin(), id)
	p.app.identities.measureContexts()
	if rep.Engine == engine.Auto && id.Kind != r.key.kind() {
		p.app.Log.Info("engine found out", "replica", r.key.name, "engine", id.Kind)
		p.app.discovered.rebuild()
		return
	}
	p.app.identities.warnOf(r.key)
}

// fit gives a replica a Gate of the size that its engine has told. Requests at the old one end there.
func (p prober) fit(r *replica, blocks int) {
	p.app.replicas.report(r, blocks)
	p.app.Log.Info("engine told its pool", "replica", r.key.name, "blocks", blocks)
	p.app.discovered.rebuild()
}

// adaptersLost notes that it is not known what an engine has loaded: it does not answer, or is not well.
func (p prober) adaptersLost(r *replica, err error) {
	keeper := p.app.keepers.of(r.key.specialist)
	if keeper == nil {
		return
	}
	if unwell(err) {
		keeper.Unwell(uint16(r.served.Host))
		return
	}
	keeper.Down(uint16(r.served.Host))
}

// unwell reports whether a probe that failed says that the engine is not well, not only that it is slow: it says so
// itself, or takes no connections, as vLLM while it ends.
func unwell(err error) bool {
	said, is := errors.AsType[*openai.StatusError](err)
	return errors.Is(err, engine.ErrConnect) || is && said.Status >= 500 && !openai.IsLoading(err)
}
