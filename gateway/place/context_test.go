package place

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The context of a place does what context.WithCancelCause does, however it ends and in whatever order it is watched.
func TestAPlacesContextEndsAsTheStandardOneDoes(t *testing.T) {
	ours, theirs := errors.New("the place's"), errors.New("the request's")
	ends := map[string]func(place, request func(error)){
		"place": func(place, _ func(error)) { place(ours) }, "plainly": func(place, _ func(error)) { place(nil) },
		"request":             func(_, request func(error)) { request(theirs) },
		"place then request":  func(place, request func(error)) { place(ours); request(theirs) },
		"request, then place": func(place, request func(error)) { request(theirs); place(ours) },
		"place twice":         func(place, _ func(error)) { place(ours); place(theirs) },
		"never":               func(_, _ func(error)) {},
		"request, for nought": func(_, request func(error)) { request(nil) },
	}
	watches := map[string]func(ctx context.Context, fired *int) func() bool{
		"AfterFunc": func(ctx context.Context,
			fired *int) func() bool {
			return context.AfterFunc(ctx, func() { *fired++ })
		},
		"its own": func(ctx context.Context, fired *int) func() bool {
			if own, ok := ctx.(*Context); ok {
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
	observe := func(build func(context.Context) (context.Context, func(error), func() error),
		end func(place, request func(error)), watch func(context.Context, *int) func() bool, late bool) (s seen) {
		synctest.Test(t, func(*testing.T) {
			parent, request := context.WithCancelCause(context.Background())
			ctx, place, cause := build(parent)
			var fired int
			if late {
				end(place, request)
				synctest.Wait()
			}
			stop := watch(ctx, &fired)
			if !late {
				end(place, request)
				synctest.Wait()
			}
			synctest.Wait()
			select {
			case <-ctx.Done():
				s.done = true
			default:
			}
			s.err, s.cause, s.fired, s.stopped = ctx.Err(), cause(), fired, stop()
			place(nil)
			request(nil)
			synctest.Wait()
			s.again = cause()
		})
		return s
	}
	for how, end := range ends {
		for way, watch := range watches {
			for _, late := range []bool{false, true} {
				want := observe(func(p context.Context) (context.Context, func(error), func() error) {
					ctx, cancel := context.WithCancelCause(p)
					return ctx, cancel, func() error { return context.Cause(ctx) }
				}, end, watch, late)
				got := observe(func(p context.Context) (context.Context, func(error), func() error) {
					c := newContext(p)
					return c, func(why error) { c.Cancel(why) }, c.Cause
				}, end, watch, late)
				if got != want {
					t.Errorf("ended by %s, watched by %s, late %v: %+v, want %+v", how, way, late, got, want)
				}
			}
		}
	}
}

func TestAStoppedHookOfAPlaceIsNotCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContext(t.Context())
		var fired [3]int
		var stops [3]func() bool
		for i := range fired {
			stops[i] = c.AfterFunc(func() { fired[i]++ })
		}
		if !stops[1]() || stops[1]() {
			t.Error("a hook was not stopped once")
		}
		c.Cancel(nil)
		synctest.Wait()
		if fired != [3]int{1, 0, 1} || stops[0]() {
			t.Errorf("called %v", fired)
		}
	})
}
