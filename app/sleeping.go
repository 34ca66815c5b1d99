package app

import (
	"context"

	"octet/app/sleepers"
	"octet/config"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/internal/command"
	"octet/routing/fleet"
	"octet/scheduler/hold"
)

// mostSaid bounds what a program that wakes replicas may write, in bytes. None of it is kept.
const mostSaid = 64 << 10

func newSleepers(a *App) *sleepers.Sleepers {
	run := a.RunProgram
	if run == nil {
		run = runProgram
	}
	return sleepers.New(sleepers.Config{Log: a.Log, Found: waker{prober{a}}.found, Weights: a.tenancy.weight,
		Ceiling: intake.PriorityMost, Run: run})
}

// runProgram runs an operator's program that wakes replicas of a specialist.
func runProgram(ctx context.Context, specialist string, argv []string) error {
	_, err := command.Command{Argv: argv, Env: []string{"OCTET_SPECIALIST=" + specialist}, Most: mostSaid}.Run(ctx)
	return err
}

// hold tells the specialists of a generation where their requests are held, and whether replicas may join by
// themselves.
func (a *App) hold(g *generation) {
	for i, sp := range g.runtime.Specialists {
		declared := &g.found.Specialists[i]
		sp.Hold, sp.Coming = a.holdOf(g.cfg, declared), declared.Discover != nil || g.plan.Coming[sp.Name]
	}
}

// holdOf returns where requests of a specialist are held while none of its replicas serves.
func (a *App) holdOf(cfg *config.Config, sp *config.Specialist) *hold.Queue {
	s := sp.Sleeping()
	t := sleepers.Terms{Hold: s.Hold, After: s.After, Timeout: s.Wake.Timeout, Argv: s.Wake.Argv(),
		Wakes: s.Wakes(), Declared: sp.Sleep != nil,
		MaxWaiting: sp.Scheduler.MaxWaiting, Aging: sp.Scheduler.Aging}
	if cfg.Limits.MaxQueueWait == 0 {
		t.Hold = 0 // nothing may wait
	}
	return a.sleepers.Queue(sp.Name, t)
}

// waker wakes engines, and has them sleep, for the sleepers.
type waker struct{ prober }

// found returns what is in force of a specialist, for its sleepers. All of it is of one Runtime, the newest: a
// request that found no replica in that one is held for those that it says are coming.
func (w waker) found(specialist string) (found sleepers.Found) {
	if w.app.server == nil {
		return found
	}
	rt := w.app.server.Runtime()
	sp := rt.Specialist(specialist)
	if sp == nil {
		return sleepers.Found{Gone: true}
	}
	present := w.app.replicas.present()
	for h := range sp.Snapshot().Hosts.All() {
		served := rt.Replicas[h]
		if r := present[served.Name]; r != nil {
			found.Replicas = append(found.Replicas, w.sleeper(sp.Name, served, r))
		}
	}
	found.Coming = sp.Coming
	return found
}

func (w waker) sleeper(specialist string, served *ensemble.Replica, r *replica) sleepers.Replica {
	return sleepers.Replica{
		Member: served.Fleet, Known: r.known.Load(),
		Wake:  func(ctx context.Context) error { return w.wake(ctx, specialist, r) },
		Sleep: func(ctx context.Context) error { return w.layDown(ctx, r) },
		Busy:  func() bool { return served.Gate.Stats().Running > 0 },
		Idle: func() (bool, uint64) {
			s, told, others := served.Gate.Stats(), served.Fleet.Reported(), served.Fleet.Others()
			nothing := s.Waiting+s.Running+told.Running+told.Waiting+others.Running+others.Waiting == 0
			return nothing && !w.app.keepers.busy(r), s.Admitted + served.Fleet.OthersChanged()
		},
	}
}

// wake asks an engine to wake. What it held before it slept is forgotten before it can hold anything new.
func (w waker) wake(ctx context.Context, specialist string, r *replica) error {
	path := ""
	if sp, _ := w.app.declared(r.key.name); sp != nil {
		path = sp.Sleeping().Wake.Path
	}
	if err := r.client.Wake(ctx, path, r.key.model); err != nil {
		return err
	}
	member, present := w.app.replicas.fleet.Find(r.key.name)
	if !present {
		return nil
	}
	if !r.client.TellsSleep() {
		member.Says(fleet.Serving)
		return nil
	}
	w.stands(ctx, member, r)
	return nil
}

// layDown asks an engine to sleep. One that does not answer in time is taken to sleep: it is woken before it is asked
// for anything.
func (w waker) layDown(ctx context.Context, r *replica) error {
	err := r.client.Sleep(ctx, r.key.model)
	if err != nil && ctx.Err() == nil {
		return err
	}
	if member, present := w.app.replicas.fleet.Find(r.key.name); present {
		w.noteStanding(member, r, fleet.Asleep)
	}
	return nil
}

// onHealth is told of each replica that goes down or comes back.
func (a *App) onHealth(r *fleet.Replica, healthy bool) {
	logsHealth(a.Log)(r, healthy)
	a.sleepers.Look(r.Spec().Specialist)
}

// onWithdrawal is told of each replica that is withdrawn or returns.
func (a *App) onWithdrawal(r *fleet.Replica, withdrawn bool, why string) {
	logsWithdrawal(a.Log)(r, withdrawn, why)
	a.sleepers.Look(r.Spec().Specialist)
}
