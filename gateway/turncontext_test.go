package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A turn's context does what context.WithCancelCause does, whoever ends it, in whatever order it is watched.
func TestATurnsContextEndsAsTheStandardOneDoes(t *testing.T) {
	ours, theirs := errors.New("the turn's"), errors.New("the request's")
	ends := map[string]func(turn, request func(error)){
		"turn": func(turn, _ func(error)) { turn(ours) }, "plainly": func(turn, _ func(error)) { turn(nil) },
		"request":             func(_, request func(error)) { request(theirs) },
		"turn then request":   func(turn, request func(error)) { turn(ours); request(theirs) },
		"request, then turn":  func(turn, request func(error)) { request(theirs); turn(ours) },
		"turn twice":          func(turn, _ func(error)) { turn(ours); turn(theirs) },
		"nobody":              func(_, _ func(error)) {},
		"request, for nought": func(_, request func(error)) { request(nil) },
	}
	watches := map[string]func(ctx context.Context, fired *int) func() bool{
		"AfterFunc": func(ctx context.Context,
			fired *int) func() bool {
			return context.AfterFunc(ctx, func() { *fired++ })
		},
		"its own": func(ctx context.Context, fired *int) func() bool {
			if own, ok := ctx.(*turnContext); ok {
				return own.AfterFunc(func() { *fired++ })
			}
			return context.AfterFunc(ctx, func() { *fired++ })
		},
		"a child": func(ctx context.Context, fired *int) func() bool {
			child, cancel := context.WithTimeout(ctx, time.Hour)
			stop := context.AfterFunc(child, func() { *fired++ })
			return func() bool { s := stop(); cancel(); return s }
		},
	}
	type seen struct {
		err, cause, again error
		done, stopped     bool
		fired             int
	}
	observe := func(make func(context.Context) (context.Context, func(error), func() error),
		end func(turn, request func(error)), watch func(context.Context, *int) func() bool, late bool) (s seen) {
		synctest.Test(t, func(*testing.T) {
			parent, request := context.WithCancelCause(context.Background())
			ctx, turn, cause := make(parent)
			var fired int
			if late {
				end(turn, request)
				synctest.Wait()
			}
			stop := watch(ctx, &fired)
			if !late {
				end(turn, request)
				synctest.Wait()
			}
			synctest.Wait()
			select {
			case <-ctx.Done():
				s.done = true
			default:
			}
			s.err, s.cause, s.fired, s.stopped = ctx.Err(), cause(), fired, stop()
			turn(nil)
			request(nil)
			synctest.Wait()
			s.again = cause()
		})
		return s
	}
	for how, end := range ends {
		for who, watch := range watches {
			for _, late := range []bool{false, true} {
				want := observe(func(p context.Context) (context.Context, func(error), func() error) {
					ctx, cancel := context.WithCancelCause(p)
					return ctx, cancel, func() error { return context.Cause(ctx) }
				}, end, watch, late)
				got := observe(func(p context.Context) (context.Context, func(error), func() error) {
					c := newTurnContext(p)
					return c, func(why error) { c.cancel(why) }, c.cause
				}, end, watch, late)
				if got != want {
					t.Errorf("ended by %s, watched by %s, late %v: %+v, want %+v", how, who, late, got, want)
				}
			}
		}
	}
}

func TestAStoppedHookOfATurnIsNotCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTurnContext(t.Context())
		var fired [3]int
		var stops [3]func() bool
		for i := range fired {
			stops[i] = c.AfterFunc(func() { fired[i]++ })
		}
		if !stops[1]() || stops[1]() {
			t.Error("a hook was not stopped once")
		}
		c.cancel(nil)
		synctest.Wait()
		if fired != [3]int{1, 0, 1} || stops[0]() {
			t.Errorf("called %v", fired)
		}
	})
}
