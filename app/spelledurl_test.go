package app_test

import (
	"testing"
	"testing/synctest"
)

// Gateways that spell the URL of a replica differently know it for one: they count each other's load there.
func TestAReplicaIsOneHoweverItsURLIsSpelt(t *testing.T) {
	const one = `
auth: {anonymous: true}
specialists: [{name: debug, replicas: [{name: debug-0, url: "http://debug-0"}]}]`
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, awake("debug-0"))
		b.Serve(one)
		key := b.App.PeersKey("debug-0")
		for url, same := range map[string]bool{"http://debug-0/": true, "http://Debug-0": true,
			"http://debug-0:80": true, "http://debug-0:81": false, "http://debug-0/v2": false,
			"http://debug-1": false} {
			if err := b.App.Apply(t.Context(), b.Config(one, "specialists[0].replicas[0].url="+url)); err != nil {
				t.Fatal(err)
			}
			if got := b.App.PeersKey("debug-0"); got == key != same {
				t.Errorf("%s: one replica %t, want %t", url, got == key, same)
			}
		}
	})
}
