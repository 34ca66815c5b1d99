package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"octet/gateway/receipt"
	"octet/internal/natsserver"
	"octet/internal/redistest"
)

// gatewayCell is two features, each at its gateway.
type gatewayCell struct{ features [2]*gatewayFeature }

// allGatewayPairs returns true if every cell is asked for, and not a part of them that has each feature some times.
func allGatewayPairs() bool { return os.Getenv("OCTET_TEST_PAIRS") == "1" }

// gatewayCells are the cells of which keep returns true, by the distance in the list from the first feature to the
// second: each ordered pair is in one.
func gatewayCells(keep func(from, distance int) bool) (all []gatewayCell) {
	n := len(gatewayFeatures)
	for from, f := range gatewayFeatures {
		for distance := range n {
			if keep(from, distance) {
				all = append(all, gatewayCell{[2]*gatewayFeature{f, gatewayFeatures[(from+distance)%n]}})
			}
		}
	}
	return all
}

// Two features, each at its gateway: whatever meets, each request has one good end or one typed error, the ledgers of
// both gateways come back to their baselines, receipts are found at both, usage and verdicts count once at both.
func TestPairsOfFeaturesMeetAcrossGateways(t *testing.T) {
	t.Run("nats", func(t *testing.T) {
		cells := gatewayCells(func(from, distance int) bool {
			return allGatewayPairs() || from < len(gatewayFeatures)/2 && distance == len(gatewayFeatures)/2
		})
		srv := natsserver.Run(t)
		runGatewayCells(t, "gateways.nats.url="+srv.ClientURL(), srv.Shutdown, cells)
	})
	t.Run("redis", func(t *testing.T) {
		cells := gatewayCells(func(from, distance int) bool {
			return distance == 7 && (allGatewayPairs() || from%10 == 0)
		})
		s := redistest.Start(t)
		runGatewayCells(t, "gateways.redis.addr="+s.Addr, s.Kill, cells)
	})
}

func runGatewayCells(t *testing.T, store string, gone func(), cells []gatewayCell) {
	p := newPairsGroup(t, store, gone, cells)
	count, shown := map[string]int{}, map[string]int{}
	for n, cell := range cells {
		t.Run(cell.features[0].name+"+"+cell.features[1].name, func(t *testing.T) {
			c := &gatewayCellRun{pairsGroup: p, t: t, number: n, features: cell.features, shown: map[string]bool{}}
			c.run()
			c.audit()
			for _, f := range cell.features {
				if count[f.name]++; c.shown[f.name] {
					shown[f.name]++
				}
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%-14s in %d sides of cells, seen in %d", name, count[name], shown[name])
		if shown[name]*10 < count[name] && allGatewayPairs() {
			t.Errorf("%s is seen in %d of %d", name, shown[name], count[name])
		}
	}
}

// run runs the hooks of both sides.
func (c *gatewayCellRun) run() {
	for n, f := range c.features {
		c.sides[n] = &side{gatewayCellRun: c, n: n, f: f, here: c.at[n], there: c.at[1-n],
			name: []string{"gw-a", "gw-b"}[n], tenant: pairsTenant(c.number, n)}
	}
	defer func() {
		for _, s := range c.sides {
			for _, undo := range s.undo {
				undo()
			}
		}
	}()
	for i, hook := range []func(*gatewayFeature) func(*side){
		func(f *gatewayFeature) func(*side) { return f.begin },
		func(f *gatewayFeature) func(*side) { return f.midway },
		func(f *gatewayFeature) func(*side) { return f.end },
	} {
		if i == 2 {
			c.running.Wait()
		}
		for _, s := range c.sides {
			if h := hook(s.f); h != nil {
				h(s)
			}
		}
	}
	c.running.Wait()
}

// receipt returns an answer's as operators find it at a gateway; nil if it has none.
func (c *gatewayCellRun) receipt(w *world, a *pairAnswer) (r *receipt.Receipt) {
	id := a.head.Get("X-Receipt-Id")
	if id == "" {
		return nil
	}
	eventually(c.t, "the receipt of "+a.id+" is found", func() bool {
		r = new(receipt.Receipt)
		return w.Get(w.Admin+"/admin/receipts/"+id, r) == http.StatusOK
	})
	return r
}

func (c *gatewayCellRun) audit() {
	may := slices.Concat(c.features[0].may, c.features[1].may, []string{"idempotency_conflict"})
	used := map[string]int64{}
	for _, a := range c.asked {
		c.auditAnswer(a, may)
		if r := c.auditReceipt(a); r != nil {
			used[a.tenant] += int64(pairCost(r))
		}
	}
	for _, s := range c.sides {
		c.auditVerdict(s)
	}
	if !c.lost() {
		for _, s := range c.sides {
			c.auditUsage(s, used[s.tenant])
		}
		c.auditSamples()
	}
	atRest(c.t, c.at[0], c.at[1])
	for _, w := range c.at {
		c.auditBeside(w)
	}
}

// auditAnswer holds an answer to one end: good and whole, or an error that a feature of the cell allows.
func (c *gatewayCellRun) auditAnswer(a *pairAnswer, may []string) {
	switch {
	case a.lost:
	case a.good() && (!a.stream.clean || a.whole != "" && a.stream.text != a.whole):
		c.t.Errorf("%s: clean %v, %d bytes of %d: %.60q", a.id, a.stream.clean, len(a.stream.text), len(a.whole),
			a.stream.text)
	case !a.good() && !slices.Contains(may, a.code):
		c.t.Errorf("%s ends in %d %q", a.id, a.status, a.code)
	}
}

// auditReceipt holds what both gateways say of an answer to what its client was told.
func (c *gatewayCellRun) auditReceipt(a *pairAnswer) (r *receipt.Receipt) {
	if a.lost || a.head.Get("X-Receipt-Id") == "" {
		return nil
	}
	for _, w := range c.at {
		if r = c.receipt(w, a); r.RequestID != a.id || r.Result.Done != a.good() || r.Result.Code != a.code {
			c.t.Errorf("%s: %d %q, its receipt says %+v", a.id, a.status, a.code, r.Result)
		}
	}
	return r
}

// auditVerdict has the first good answer of a side judged at both gateways: once it counts.
func (c *gatewayCellRun) auditVerdict(s *side) {
	for _, a := range c.asked {
		if a.tenant != s.tenant || a.lost || !a.good() {
			continue
		}
		for i, w := range []*world{s.there, s.there, c.at[s.n]} {
			status, counted := c.judge(w, a.tenant, a.head.Get("X-Receipt-Id"), "test", true)
			if status != http.StatusOK || counted != (i == 0) {
				c.t.Errorf("%s: verdict %d: status %d, counted %v", a.id, i, status, counted)
			}
		}
		return
	}
}

// auditUsage holds what both gateways say of a tenant's day to its receipts.
func (c *gatewayCellRun) auditUsage(s *side, want int64) {
	of := func(w *world) (n int64) {
		var u usageAnswer
		if _, text := c.own(w, s.tenant, http.MethodGet, "/v1/usage", ""); json.Unmarshal(text, &u) != nil {
			c.t.Errorf("usage of %s: %s", s.tenant, text)
		}
		return u.Day.Tokens
	}
	deadline := time.Now().Add(10 * time.Second)
	for of(c.at[0]) != of(c.at[1]) || s.f.name != "death" && of(c.at[0]) != want {
		if time.Now().After(deadline) {
			c.t.Errorf("%s has used %d and %d tokens, by its receipts %d", s.tenant, of(c.at[0]), of(c.at[1]), want)
			return
		}
		time.Sleep(5 * time.Millisecond) // real time: until it is told
	}
}

// auditSamples holds the verdicts that count at one gateway to those at the other.
func (c *gatewayCellRun) auditSamples() {
	for _, sp := range pairsReplicas[:5] { // of the others tests judge, or versions change
		of := func(w *world) int {
			return w.App.Server().Runtime().Specialist(sp.specialist).Board.Report().Correctness.Samples
		}
		deadline := time.Now().Add(10 * time.Second)
		for of(c.at[0]) != of(c.at[1]) {
			if time.Now().After(deadline) {
				c.t.Errorf("%s has %d samples here, %d there", sp.specialist, of(c.at[0]), of(c.at[1]))
				return
			}
			time.Sleep(5 * time.Millisecond) // real time: until it is told
		}
	}
}

// auditBeside holds what a gateway counts of others to nothing.
func (c *gatewayCellRun) auditBeside(w *world) {
	for name, r := range w.Replicas() {
		if err := r.Gate.Check(); err != nil {
			c.t.Errorf("%s: %v", name, err)
		}
		eventually(c.t, name+": no block of others is withheld", func() bool {
			return r.Gate.Calibration().Withheld == 0 && r.Fleet.InFlight() == 0
		})
	}
	eventually(c.t, "it has one peer", func() bool { return len(c.state(w).Peers) == 1 })
}

// lost returns true if a message was lost on the way, or the store could not be asked, as on a machine that is too slow
// for leases: accounts and verdicts that went with it are not told again.
func (c *gatewayCellRun) lost() bool {
	for _, w := range c.at {
		if s := c.state(w); s.Away != "" || s.Failed+s.Lost+s.Unshared != 0 {
			c.t.Logf("what was told is lost: %+v", s)
			return true
		} else if s.Refused+s.Dropped != 0 {
			c.t.Errorf("%+v", s)
		}
	}
	return false
}

// pairCost is what a request is charged.
func pairCost(r *receipt.Receipt) int {
	refusals := []string{"queue_full", "kv_exhausted", "deadline_unachievable", "breaker_open"}
	admitted := func(at receipt.Attempt) bool { return !slices.Contains(refusals, at.Outcome) }
	if !slices.ContainsFunc(r.Attempts, admitted) {
		return 0
	}
	if r.Result.PromptTokens > 0 {
		return r.Result.PromptTokens + r.Result.CompletionTokens
	}
	return r.Prompt.Tokens + r.Result.CompletionTokens
}

// alive are the gateways that all cells share.
func (s *side) alive() []*world { return s.at[:] }

// bear has the side have a gateway of its own, that is to die.
func (s *side) bear() {
	w, way := s.cabled(fmt.Sprintf("gw-%d-%d", s.number, s.n))
	unsureOf(s.t, w.App)
	s.here, s.kill = w, func() { way.Cut(); w.Stop() }
	for range 3 {
		s.begin(w, 10*pairLong)
	}
	s.until("what it has counts", func() bool { n, _ := s.at[0].ofOthers(); return n > 0 })
}

// die ends it: its streams end abnormally, and what it had at replicas counts no more after its lease.
func (s *side) die() {
	s.kill()
	s.killed = true
	for _, w := range s.at {
		s.slowly("it is gone", func() bool { return len(s.state(w).Peers) == 1+s.others() })
	}
	s.show("death")
}

// others returns how many further gateways the other side has.
func (s *side) others() int {
	if o := s.sides[1-s.n]; o.kill != nil && !o.killed {
		return 1
	}
	return 0
}

func (s *side) mourn() {
	for _, a := range s.held {
		a.lost = true
	}
	s.here.Close()
}
