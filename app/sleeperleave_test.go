package app_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// A client that leaves while its request is held has given its place up: no engine is asked.
func TestARequestWhoseClientLeftWhileHeldIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-0")})
		b.Serve(sleeperWorld)
		time.Sleep(3 * time.Second)
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if o := b.outcome(ctx, brief(1)); o.code != "left" {
			t.Errorf("%+v", o)
		}
		time.Sleep(time.Millisecond)
		if n := b.App.Server().Runtime().Specialist("debug").Hold.Len(); n != 0 {
			t.Errorf("%d are held", n)
		}
		time.Sleep(20 * time.Second)
		if n := b.Engines["debug-0"].Asked.Load(); n != 0 {
			t.Errorf("it is asked %d times", n)
		}
	})
}
