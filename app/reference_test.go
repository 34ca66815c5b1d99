package app_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// referenceWorld returns the reference configuration and the changes by which its engines are those of a bubble.
func referenceWorld(t *testing.T) (yaml string, sets []string, engines []emulator.Config) {
	t.Helper()
	text, err := os.ReadFile("../config/reference.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range strings.Fields("template stl algo memory concurrency systems build debug") {
		for j := range 2 {
			host := fmt.Sprint(name, "-", j)
			sets = append(sets, fmt.Sprintf("specialists[%d].replicas[%d].url=http://%s", i, j, host))
			engines = append(engines, emulator.Config{Name: host, Model: name, Blocks: 4096, MaxRunning: 64,
				Step: 20 * time.Millisecond})
		}
	}
	return string(text), sets, engines
}

// MOD3-07: the reference's own file serves with its own profile, whose cap is what its replicas run: requests over it
// wait in the replicas' queues, and all are answered.
func TestTheReferencesOwnProfileQueuesWhatIsOverItsCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		yaml, sets, engines := referenceWorld(t)
		b := newBubble(t, engines)
		b.Serve(yaml, append(sets, "specialists[7].profile=mine")...)
		time.Sleep(time.Second)
		const places, more = 2 * 64, 40
		q := customer{stream: true, model: "debug", text: "why does it crash", words: 4, tokens: 100}
		var all sync.WaitGroup
		var mu sync.Mutex
		failed := map[string]int{}
		for i := range places + more {
			all.Go(func() {
				one := q
				one.id = fmt.Sprint("q", i)
				if a := b.served(one); a.failed != "" {
					mu.Lock()
					defer mu.Unlock()
					failed[a.failed]++
				}
			})
			time.Sleep(time.Millisecond)
		}
		waiting, running := 0, 0
		for _, name := range []string{"debug-0", "debug-1"} {
			s := b.Replica(name).Gate.Stats()
			waiting, running = waiting+s.Waiting, running+s.Running
		}
		if waiting != more || running != places {
			t.Errorf("%d run and %d wait, of %d", running, waiting, places+more)
		}
		all.Wait()
		if len(failed) > 0 {
			t.Errorf("%v of %d requests", failed, places+more)
		}
	})
}
