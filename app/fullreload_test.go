package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"octet/config"
)

const listedFarm = `
auth: {anonymous: true}
limits: {max_queue_wait: 10s, retry_budget: 0, retry_burst: 0}
fleet: {probe_interval: 500ms, scrape_interval: 5s}
specialists:
  - name: debug
    tokenizer: none
    profile: least-load
    block_size: 16
    replicas:
%s`

// listed returns the farm's engines from to upto of a block of addresses as a configuration lists them.
func (f *farm) listed(block, from, upto int) string {
	var text strings.Builder
	for i := from; i < upto; i++ {
		fmt.Fprintf(&text, "    - {url: 'http://127.0.%d.%d:%d', blocks: 512, engine: openai, max_running: 8}\n",
			block+i/250, i%250+1, f.port)
	}
	return text.String()
}

// A reload that makes another of every replica of a gateway without a free slot is in force at once; the new replicas
// join as the slots of the old ones are swept, which is shown meanwhile. Streams go on, requests wait for the first of
// the new ones: nothing is lost, and nothing is held after.
func TestAReloadOfAFullGatewayLosesNoStream(t *testing.T) {
	f := newFarm(t, 200*time.Millisecond)
	w := newWorld(t, fmt.Sprintf(listedFarm, f.listed(1, 0, config.MaxReplicas)), nil)
	if n := len(w.Replicas()); n != config.MaxReplicas || w.App.Fabric().Free() != 0 {
		t.Fatalf("%d replicas, %d slots are free", n, w.App.Fabric().Free())
	}
	pending := func() int { return w.App.Discovery().Sources().Pending }
	c := w.streamed(t, 24)
	eventually(t, "many are asked", func() bool { return f.asks() > 10 })
	for block := 3; block < 6; block += 2 {
		w.reload(listedFarm, f.listed(block, 0, config.MaxReplicas))
		if n := pending(); n == 0 {
			t.Error("no replica is said to wait for a slot")
		}
		eventually(t, "all have joined", func() bool {
			return pending() == 0 && len(w.Replicas()) == config.MaxReplicas
		})
		for _, r := range w.Replicas() {
			if url := r.Fleet.Spec().URL; !strings.Contains(url, fmt.Sprintf("127.0.%d.", block)) &&
				!strings.Contains(url, fmt.Sprintf("127.0.%d.", block+1)) {
				t.Errorf("%s is at %s", r.Name, url)
			}
		}
	}
	c.end(t, 50)
	eventually(t, "nothing is held", w.Quiet)
}
