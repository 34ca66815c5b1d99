package app_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A gateway that has just started is ready once an engine has answered it, and not on trust: one that reaches no engine
// never says that it is.
func TestAGatewayIsReadyOnceAnEngineHasAnswered(t *testing.T) {
	for name, c := range map[string]struct{ sets, replica string }{
		"any": {"fleet.ready_when=any", "debug-0"}, "all": {"fleet.ready_when=all", "debug-0"}, "none": {"", "nowhere"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, awake("debug-0"))
			var sets []string
			if c.sets != "" {
				sets = append(sets, c.sets)
			}
			b.Serve(strings.ReplaceAll(sleeperWorld, "http://debug-0", "http://"+c.replica), sets...)
			for i := range 30 {
				synctest.Wait()
				resp, err := b.Ask(t.Context(), http.MethodGet, "http://data/readyz", "")
				if err != nil {
					t.Fatal(err)
				}
				whole(t, resp)
				if ready := resp.StatusCode == 200; ready != (name != "none") {
					t.Errorf("%s: /readyz is %d after %d ms", name, resp.StatusCode, 100*i)
				}
				time.Sleep(100 * time.Millisecond) // in a bubble
			}
		})
	}
}

// A gateway that was ready stays so while a reload brings replicas that no probe has reached yet.
func TestAReloadKeepsAGatewayReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, awake("debug-0"))
		b.Serve(sleeperWorld)
		ready := func() int {
			resp, err := b.Ask(t.Context(), http.MethodGet, "http://data/readyz", "")
			if err != nil {
				t.Fatal(err)
			}
			whole(t, resp)
			return resp.StatusCode
		}
		synctest.Wait()
		if n := ready(); n != 200 {
			t.Fatalf("/readyz is %d", n)
		}
		next := b.Config(strings.ReplaceAll(sleeperWorld, "debug-0", "later-0"))
		if err := b.App.Apply(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		if n := ready(); n != 200 {
			t.Errorf("/readyz is %d as a reload has replaced all", n)
		}
	})
}
