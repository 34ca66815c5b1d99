package app

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"octet/app/doctor"
	"octet/config"
	"octet/gateway/api"
	"octet/internal/contain"
)

const (
	connectsAtOnce = 8                // replicas that are asked at a time
	connectsQueued = 64               // replicas that wait for it; the next probe brings those beyond
	connectsAgain  = 30 * time.Second // after which a replica that did not answer all is asked once more
)

// connects asks replicas, once they serve, what doctor asks without a request, and keeps what was found: once a replica
// and generation, and only where the generation changes the replica; and once it has been away. Each finding is logged
// once for as long as it stands. Safe for concurrent use; nothing of it is on the way of a request.
type connects struct {
	app *App
	due chan string // replicas to be asked

	mu  sync.Mutex
	all map[string]*connected // by replica; guarded by mu
}

// connected is one replica that was asked, or is to be.
type connected struct {
	queued     bool
	life       int         // times that it has been away
	generation uint64      // in which it was asked, or was found to be as it was; 0 = it is to be asked
	as         declaration // when it was asked
	answered   bool        // once at least: found is meaningful
	again      time.Time   // not to be asked before
	found      []api.Finding
}

// declaration is all that a configuration says of a replica.
type declaration struct {
	path       string
	specialist config.Specialist // without its replicas
	replica    config.Replica
}

func newConnects(a *App) *connects {
	return &connects{app: a, due: make(chan string, connectsQueued), all: map[string]*connected{}}
}

func declared(s *doctor.Subject) declaration {
	d := declaration{s.Path, *s.Specialist, *s.Replica}
	d.specialist.Replicas = nil
	return d
}

// run asks what is due until ctx ends.
func (c *connects) run(ctx context.Context) {
	var asking sync.WaitGroup
	defer asking.Wait()
	for range connectsAtOnce {
		asking.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case name := <-c.due:
					contain.Do(contain.Task, func() { c.ask(ctx, name) })
				}
			}
		})
	}
}

// serves is told each time that a replica is found to serve. It never waits.
func (c *connects) serves(name string) {
	f, _ := c.app.watched.get()
	if !f.Examine {
		c.forget()
		return
	}
	generation := c.app.server.Runtime().Generation
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.all[name]
	if one == nil {
		one = &connected{}
		c.all[name] = one
	}
	if one.queued || one.generation == generation || time.Now().Before(one.again) {
		return
	}
	select {
	case c.due <- name:
		one.queued = true
	default:
	}
}

// away has a replica asked anew when it is back: it may have been started otherwise.
func (c *connects) away(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.all[name]; one != nil && one.generation != 0 {
		one.life++
		one.generation, one.as = 0, declaration{}
	}
}

// forget drops what was found.
func (c *connects) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.all)
}

// ask asks one replica, unless it is as it was when it was asked before.
func (c *connects) ask(ctx context.Context, name string) {
	generation := c.app.server.Runtime().Generation
	subject, listed := c.app.examiner().named(name)
	c.mu.Lock()
	c.keep(c.app.replicas.present())
	one := c.all[name]
	if one == nil {
		c.mu.Unlock()
		return
	}
	one.queued = false
	if !listed { // a later probe brings it again
		c.mu.Unlock()
		return
	}
	as, life := declared(&subject), one.life
	if one.answered && reflect.DeepEqual(one.as, as) {
		one.generation = generation
		c.mu.Unlock()
		return
	}
	one.queued = true // it is not asked twice at a time
	c.mu.Unlock()
	found, ok := doctor.Questions(ctx, &subject)
	c.mu.Lock()
	one.queued = false
	var fresh []api.Finding
	if ok && one.life == life {
		fresh = one.fresh(found)
		one.generation, one.as, one.answered, one.found = generation, as, true, found
	} else {
		one.again = time.Now().Add(connectsAgain)
	}
	c.mu.Unlock()
	for _, f := range fresh {
		c.app.Log.Warn("doctor: "+f.Detail, "check", f.Check, "replica", f.Replica, "status", f.Status, "cure", f.Cure)
	}
}

// fresh returns those of found whose check found nothing before.
func (one *connected) fresh(found []api.Finding) (all []api.Finding) {
	for _, f := range found {
		if !slices.ContainsFunc(one.found, func(was api.Finding) bool { return was.Check == f.Check }) {
			all = append(all, f)
		}
	}
	return all
}

// keep forgets replicas that have gone. It needs mu.
func (c *connects) keep(present map[string]*replica) {
	for name := range c.all {
		if present[name] == nil {
			delete(c.all, name)
		}
	}
}

// read returns what was found of the replicas in force when they were connected.
func (c *connects) read() api.Connects {
	present := c.app.replicas.present()
	told := api.Connects{Replicas: len(present), Findings: []api.Finding{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, one := range c.all {
		if present[name] != nil && one.answered {
			told.Asked++
			told.Findings = append(told.Findings, one.found...)
		}
	}
	slices.SortStableFunc(told.Findings, func(a, b api.Finding) int {
		return cmp.Or(cmp.Compare(a.Replica, b.Replica), cmp.Compare(a.Check, b.Check))
	})
	return told
}
