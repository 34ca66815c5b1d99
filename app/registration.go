package app

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"octet/app/discovery"
	"octet/config"
	"octet/gateway/api"
	"octet/gateway/apierr"
)

// registry answers for the replicas that no configuration lists. It implements api.Finder.
type registry struct{ app *App }

// Register implements api.Finder. A replica is held to what one of the file is held to, and to what is in force now.
func (r registry) Register(body []byte) (api.Registration, bool, *apierr.Error) {
	a := r.app
	a.buildMu.Lock()
	defer a.buildMu.Unlock()
	options := config.Options{Engines: a.Source.Engines}
	reg, err := config.ParseRegistration(a.listed, body, discovery.LeaseSource, options)
	if err != nil {
		return api.Registration{}, false, registrationError(err)
	}
	now, d := time.Now(), a.discovered
	if lease, held := d.leases.Of(reg.Replica.Name); held && lease.Specialist != reg.Specialist {
		return api.Registration{}, false, apierr.New(apierr.InvalidValue, "name",
			"a replica of "+lease.Specialist+" is registered by the name")
	}
	one := discovery.Found{Specialist: reg.Specialist, Replica: reg.Replica}
	found, _ := d.found(now)
	found = slices.DeleteFunc(found, func(f discovery.Found) bool {
		return f.Replica.Source == discovery.LeaseSource && f.Replica.Name == reg.Replica.Name
	})
	plan := d.members.Merge(a.listed, append(found, one), inForce{a, a.replicas.present()}, now)
	for _, refusal := range plan.Refused[reg.Specialist][discovery.LeaseSource] {
		if refusal.Replica == reg.Replica.Name {
			return api.Registration{}, false, refusalError(refusal)
		}
	}
	lease, fresh := d.leases.Grant(one, reg.TTL, now)
	if fresh {
		a.Log.Info("replica registered", "replica", reg.Replica.Name, "specialist", reg.Specialist,
			"url", reg.Replica.URL, "ttl", reg.TTL)
	}
	discovery.Poke(d.changed)
	return registrationOf(lease, inForce{a, a.replicas.present()}), fresh, nil
}

// Deregister implements api.Finder.
func (r registry) Deregister(name string) (api.Registration, *apierr.Error) {
	a := r.app
	a.buildMu.Lock()
	defer a.buildMu.Unlock()
	lease, held := a.discovered.leases.Of(name)
	if !held {
		return r.gone(name)
	}
	a.discovered.leases.End(name)
	a.discovered.members.End(name)
	a.Log.Info("registration ended", "replica", name, "specialist", lease.Specialist)
	discovery.Poke(a.discovered.changed)
	lease.TTL, lease.Ends = 0, time.Time{}
	return registrationOf(lease, inForce{a, a.replicas.present()}), nil
}

// gone is the answer for a replica that is not registered: one whose registration has ended and that still has requests
// in flight is told once more.
func (r registry) gone(name string) (api.Registration, *apierr.Error) {
	of := inForce{r.app, r.app.replicas.present()}
	for _, f := range r.app.discovered.members.In() {
		if f.Replica.Name == name && f.Replica.Source == discovery.LeaseSource {
			r.app.discovered.members.End(name)
			discovery.Poke(r.app.discovered.changed)
			return registrationOf(discovery.Lease{Found: f}, of), nil
		}
	}
	if of.all[name] != nil {
		return api.Registration{}, apierr.New(apierr.InvalidRequest, "replica",
			name+" was not registered: take it out of where it is listed or found")
	}
	return api.Registration{}, apierr.New(apierr.ModelNotFound, "replica", "there is no replica "+name)
}

func registrationOf(l discovery.Lease, of inForce) api.Registration {
	out := api.Registration{Name: l.Replica.Name, Specialist: l.Specialist, URL: l.Replica.URL, LeaseEnds: l.Ends}
	if l.TTL > 0 {
		out.TTL = l.TTL.String()
	}
	if r := of.all[l.Replica.Name]; r != nil {
		out.InFlight = r.served.Fleet.Own().Running
	}
	return out
}

// registrationError is the answer to what is no registration.
func registrationError(err error) *apierr.Error {
	var faults *config.Faults
	switch {
	case errors.Is(err, config.ErrNotJSON):
		return apierr.New(apierr.InvalidJSON, "", err.Error())
	case errors.Is(err, config.ErrNoSpecialist):
		return apierr.New(apierr.ModelNotFound, "specialist", err.Error())
	case !errors.As(err, &faults):
		return apierr.New(apierr.InvalidRequest, "", err.Error())
	}
	first := faults.List[0]
	message := first.Message
	if n := len(faults.List) - 1; n > 0 {
		message += fmt.Sprintf(", and %d more faults", n)
	}
	param := first.Path
	if param == "." {
		param = ""
	}
	return apierr.New(codeOfFault(first.Code), param, message)
}

// refusalError is the answer to a registration that the others in force leave no place for.
func refusalError(r discovery.Refusal) *apierr.Error {
	if r.Code == config.CodeTooMany {
		return apierr.New(apierr.Overloaded, "", r.Why)
	}
	return apierr.New(codeOfFault(r.Code), r.Path, r.Why)
}

func codeOfFault(code string) apierr.Code {
	switch code {
	case config.CodeUnknownKey:
		return apierr.UnsupportedParameter
	case config.CodeMissing:
		return apierr.MissingParameter
	case config.CodeDuplicateKey:
		return apierr.DuplicateKey
	case config.CodeSyntax, config.CodeMultiDocument:
		return apierr.InvalidJSON
	case config.CodeTooComplex, config.CodeTooLarge:
		return apierr.InvalidRequest
	}
	return apierr.InvalidValue
}

// LeaseEnds implements api.Finder.
func (r registry) LeaseEnds(name string) time.Time {
	lease, _ := r.app.discovered.leases.Of(name)
	return lease.Ends
}

// mostShown is how many refusals of one source are shown.
const mostShown = 16

// Sources implements api.Finder.
func (r registry) Sources() api.DiscoveryState {
	plan := r.app.discovered.plan.Load()
	out := api.DiscoveryState{Sources: []api.SourceState{}, Left: []string{}, Pending: plan.Pending}
	for name := range plan.Left {
		out.Left = append(out.Left, name)
	}
	slices.Sort(out.Left)
	for _, s := range r.app.discovered.standings() {
		refused := slices.Concat(s.Set.Refused, plan.Refused[s.Specialist][s.Source])
		one := api.SourceState{Specialist: s.Specialist, Source: s.Source, State: "ok", Since: s.Since,
			Failures: s.Failures, Replicas: len(s.Set.Replicas), Refused: len(refused)}
		if len(refused) > 0 {
			one.Why = refused[:min(len(refused), mostShown)]
		}
		if s.Failing != nil {
			one.State, one.Error = "failing", s.Failing.Error()
		}
		out.Sources = append(out.Sources, one)
	}
	return out
}

// standings returns all sources, and the registrations of each specialist that has some as one more.
func (d *discovered) standings() []discovery.Standing {
	all := d.sources.Standings()
	by := map[string]*discovery.Standing{}
	leases, _ := d.leases.Live(time.Now())
	for _, l := range leases {
		s := by[l.Specialist]
		if s == nil {
			s = &discovery.Standing{Specialist: l.Specialist, Source: discovery.LeaseSource}
			by[l.Specialist] = s
		}
		s.Set.Replicas = append(s.Set.Replicas, l.Replica)
	}
	for _, s := range by {
		all = append(all, *s)
	}
	slices.SortStableFunc(all, func(a, b discovery.Standing) int { return cmp.Compare(a.Specialist, b.Specialist) })
	return all
}
