package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/adapters"
)

// stub is an engine that loads what it is told to, a moment later. It notices an unload under a request.
type stub struct {
	t     *testing.T
	slots int
	hangs atomic.Bool // loads do not end before their context
	fails atomic.Int32
	dies  atomic.Bool // of the next load
	dead  atomic.Bool
	away  atomic.Bool

	mu     sync.Mutex // guards all below
	loaded map[string]bool
	users  map[string]int
}

func newStub(t *testing.T, slots int) *stub {
	return &stub{t: t, slots: slots, loaded: map[string]bool{}, users: map[string]int{}}
}

func (s *stub) Load(ctx context.Context, name, _ string) error {
	if s.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.away.Load() {
		return adapters.ErrAway
	}
	if s.dies.Load() {
		s.dead.Store(true)
	}
	if s.dead.Load() || s.fails.Add(-1) >= 0 {
		return errBroken
	}
	time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded[name] = true; len(s.loaded) > s.slots {
		s.t.Errorf("%d adapters in %d slots", len(s.loaded), s.slots)
	}
	return nil
}

func (s *stub) Unload(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[name] > 0 {
		s.t.Errorf("%s is unloaded under %d requests", name, s.users[name])
	}
	delete(s.loaded, name)
	return nil
}

func (s *stub) Probe(context.Context) error {
	if s.dead.Load() || s.away.Load() {
		return errBroken
	}
	return nil
}

func (s *stub) List(context.Context) ([]adapters.Listed, error) {
	if s.away.Load() {
		return nil, errBroken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []adapters.Listed
	for name := range s.loaded {
		all = append(all, adapters.Listed{Name: name})
	}
	return all, nil
}

// use is one request's use of an adapter that it holds.
func (s *stub) use(name string, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[name] += by; by > 0 && !s.loaded[name] {
		s.t.Errorf("%s is held and not loaded", name)
	}
}

func kept(t *testing.T, r adapters.Rules, declared []adapters.Adapter, engines ...*stub) *adapters.Keeper {
	k := adapters.NewKeeper(slog.New(slog.DiscardHandler), adapters.NewResidency(adapters.Bounds{}))
	t.Cleanup(k.Close)
	k.Configure(r, declared, members(engines...))
	for h := range engines {
		k.Observe(t.Context(), uint16(h))
	}
	return k
}

func members(engines ...*stub) map[uint16]adapters.Member {
	all := map[uint16]adapters.Member{}
	for h, e := range engines {
		all[uint16(h)] = adapters.Member{Name: fmt.Sprint("r", h), Engine: e,
			HostTerms: adapters.HostTerms{Loads: true, Lists: true, MaxRunning: 8}}
	}
	return all
}

// Many requests share few slots, adapters are rotated and replicas leave and join meanwhile: nothing is unloaded under
// a request, and every hold is granted or refused. It is meant for the race detector.
func TestNothingIsUnloadedUnderARequest(t *testing.T) {
	rules := adapters.Rules{Slots: 2, Swaps: 6000, Patience: time.Millisecond, Linger: time.Millisecond,
		Retry: time.Millisecond}
	var engines sync.Map // by host
	join := func(all map[uint16]adapters.Member, h uint16) {
		e := newStub(t, 2)
		engines.Store(h, e)
		maps.Copy(all, map[uint16]adapters.Member{h: members(e)[0]})
	}
	all := map[uint16]adapters.Member{}
	for h := range uint16(3) {
		join(all, h)
	}
	k := kept(t, rules, nil)
	declared := declare(8, 1)
	k.Configure(rules, declared, all)
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	var running sync.WaitGroup
	var held atomic.Int64
	for range 12 {
		running.Go(func() {
			for ctx.Err() == nil {
				name := k.Edition(fmt.Sprintf("a%03d", rand.IntN(8)))
				hosts, _ := k.Serving(name, func(uint16) bool { return true })
				if len(hosts) == 0 {
					continue
				}
				host := hosts[rand.IntN(len(hosts))]
				h, _, err := k.Hold(ctx, adapters.Ask{Host: host, Served: name})
				if err != nil {
					continue
				}
				held.Add(1)
				e, _ := engines.Load(host)
				e.(*stub).use(name, 1)
				time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
				e.(*stub).use(name, -1)
				h.Release()
				h.Release()
			}
		})
	}
	running.Go(func() {
		for ctx.Err() == nil {
			k.Tick()
			k.Observe(ctx, uint16(rand.IntN(20)))
			time.Sleep(time.Millisecond)
		}
	})
	running.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			declared[i%8].Version = fmt.Sprint(i)
			delete(all, uint16(i))
			join(all, uint16(i+3))
			k.Configure(rules, declared, all)
			time.Sleep(20 * time.Millisecond)
		}
	})
	running.Wait()
	if n := held.Load(); n < 200 {
		t.Errorf("%d holds", n)
	}
	if c := k.Counts(); c.Loads < 10 || c.Unloads[adapters.ForRoom] == 0 || c.Waiting != 0 {
		t.Errorf("%+v", c)
	}
}

// A load that hangs ends with its time; what waits for it is told, each once, and in the end no later than it said.
func TestALoadThatHangsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newStub(t, 2)
		k := kept(t, adapters.Rules{Timeout: 10 * time.Second, Retry: time.Second}, declare(1, 1), engine)
		engine.hangs.Store(true)
		began := time.Now()
		_, atOnce, err := k.Hold(t.Context(), adapters.Ask{Served: "a000"})
		if !errors.Is(err, adapters.ErrLoad) || atOnce || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		var no *adapters.Refusal
		if !errors.As(err, &no) || no.RetryAfter != time.Second || no.Adapter != "a000" {
			t.Errorf("%+v", no)
		}
		_, atOnce, err = k.Hold(t.Context(), adapters.Ask{Served: "a000"})
		if !errors.Is(err, adapters.ErrLoad) || !atOnce {
			t.Errorf("while it is left alone: %v", err)
		}
		if v := k.Views(0); len(v) != 1 || v[0].Failures != 1 || v[0].Error == "" || v[0].RetryMs != 1000 {
			t.Errorf("shown as %+v", v)
		}
		time.Sleep(time.Second)
		began = time.Now()
		_, _, err = k.Hold(t.Context(), adapters.Ask{Served: "a000", Most: 3 * time.Second})
		if !errors.Is(err, adapters.ErrLate) || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		engine.hangs.Store(false)
		time.Sleep(time.Minute)
		h, _, err := k.Hold(t.Context(), adapters.Ask{Served: "a000"})
		if err != nil || !h.Held() {
			t.Errorf("once it does not hang: %v", err)
		}
		h.Release()
		if c := k.Counts(); c.Loads != 1 || c.Failures != 2 || c.Waited != 1 || c.Late != 1 || c.Refused != 2 {
			t.Errorf("%+v", c)
		}
	})
}

// What a replica that leaves was to load is refused there, and a hold that is left outlives it.
func TestAReplicaLeavesUnderItsHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newStub(t, 2)
		k := kept(t, adapters.Rules{}, declare(2, 1), engine)
		h, _, err := k.Hold(t.Context(), adapters.Ask{Served: "a000"})
		if err != nil {
			t.Fatal(err)
		}
		engine.hangs.Store(true)
		waited := make(chan error)
		go func() {
			_, _, err := k.Hold(t.Context(), adapters.Ask{Served: "a001"})
			waited <- err
		}()
		synctest.Wait()
		k.Configure(adapters.Rules{}, declare(2, 1), nil)
		if err := <-waited; !errors.Is(err, adapters.ErrGone) {
			t.Error(err)
		}
		h.Release()
		if c := k.Counts(); c.Waiting != 0 || c.Loaded != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// refusing is an engine that loads nothing.
type refusing struct{}

func (refusing) Load(context.Context, string, string) error      { return adapters.ErrRefused }
func (refusing) Unload(context.Context, string) error            { return errBroken }
func (refusing) Probe(context.Context) error                     { return nil }
func (refusing) List(context.Context) ([]adapters.Listed, error) { return nil, nil }

// lines counts what is logged.
type lines struct {
	slog.Handler
	all *[]string
}

func (l lines) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	*l.all = append(*l.all, text)
	return nil
}

func (l lines) Enabled(context.Context, slog.Level) bool { return true }

// A load that fails is logged with its adapter, replica and cause, so many times a minute, whatever is asked for.
func TestLoadsThatFailAreLoggedAtABoundedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged []string
		k := adapters.NewKeeper(slog.New(lines{slog.DiscardHandler, &logged}), adapters.NewResidency(adapters.Bounds{}))
		defer k.Close()
		k.Configure(adapters.Rules{Retry: time.Second, RetryMost: time.Second}, declare(30, 1),
			map[uint16]adapters.Member{7: {Name: "r7", Engine: refusing{}, HostTerms: adapters.HostTerms{Loads: true,
				Lists: true, MaxRunning: 8}}})
		k.Observe(t.Context(), 7)
		for range 600 {
			k.Tick()
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if n := k.Counts().Failures; n < 300 || len(logged) > 10*20+20 || len(logged) < 20 {
			t.Errorf("%d failures, %d lines", n, len(logged))
		}
		want := "adapter not loaded replica=r7 adapter=a000 error=adapters: the engine refuses the adapter not_logged=0"
		if logged[0] != want || strings.HasSuffix(logged[20], "not_logged=0") {
			t.Errorf("%q, then %q", logged[0], logged[20])
		}
	})
}
