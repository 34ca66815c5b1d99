package app_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/slo"
)

// overloadWorld has one specialist that is to be overloaded, and one with time to spare: second choice of one another.
// The load of debug is back to normal three times calm after the storm, and those that it refused last have come again:
// before ten seconds have passed.
const overloadWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 3s, receipts: 30000}
intents:
  review: {shadow_threshold: 0.85, divert_threshold: 0.60}
  codegen: {}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 8, max_waiting: 128}
    slo: {escalation: {calm: 2s}}
    replicas:
      - {name: debug-0, url: "http://debug-0", blocks: 512, forward_priority: true}
      - {name: debug-1, url: "http://debug-1", blocks: 512, forward_priority: true}
  - name: systems
    tokenizer: builtin
    scheduler: {max_running: 8, max_waiting: 128}
    replicas:
      - {name: systems-0, url: "http://systems-0", blocks: 512, forward_priority: true}
`

// The engines' speed: 16 places at debug, each with a token every 22 ms.
const (
	overloadRunning = 8
	overloadTPS     = 8000.0
	overloadStep    = 20 * time.Millisecond
	overloadPerSeq  = 250 * time.Microsecond
)

func overloadEngines() (all []emulator.Config) {
	for _, name := range []string{"debug-0", "debug-1", "systems-0"} {
		all = append(all, emulator.Config{
			Name: name, Model: name[:len(name)-2], Blocks: 512, MaxRunning: overloadRunning, PrefillTPS: overloadTPS,
			Step: overloadStep, StepPerSeq: overloadPerSeq,
		})
	}
	return all
}

// The parts of the run, since its beginning.
const (
	stormBegins = 56 * time.Second
	stormEnds   = stormBegins + time.Minute
	backBy      = stormEnds + 10*time.Second
	allEnds     = backBy + stormBegins
)

// storm runs the whole: half of what debug can do, five times of it for a minute, half again.
func storm(t *testing.T) *crowd {
	b := newBubble(t, overloadEngines())
	c := &crowd{b: b, refused: map[string]int{}, retried: map[string]int{}}
	c.perSecond = c.measure(20 * time.Second)
	b.Serve(overloadWorld)
	time.Sleep(5 * time.Second) // what the engines had to do before is forgotten
	c.begun = time.Now()
	c.besides(stormEnds)
	c.arrive(0.5, stormBegins-2*time.Second)
	// all is answered, so that the work from here on is these requests' alone
	time.Sleep(time.Until(c.begun.Add(stormBegins)))
	before := c.work()
	c.strike(stormEnds)
	c.arrive(5, stormEnds-stormBegins)
	c.step = b.App.Server().Runtime().Specialist("debug").Load.State()
	c.arrive(0.5, backBy-stormEnds)
	c.count = (c.count/kinds + 1) * kinds // so that the same customers come as before the storm
	c.arrive(0.5, stormBegins-2*time.Second)
	c.asking.Wait()
	time.Sleep(20 * time.Second)
	c.worked = c.work() - before
	c.besides(time.Since(c.begun) + 5*time.Second)
	c.asking.Wait()
	return c
}

// MEGA-62, MEGA-63, MEGA-64: the whole gateway over HTTP at five times what its engines can do. They give nine tenths
// of what they can, in answers that come whole and in time; no urgent request is late or refused while the least urgent
// are; hardly any work is for nothing; and ten seconds after it is as if nothing had been.
func TestFiveTimesTheLoadLeavesTheEnginesTheirWorkAndTheUrgentTheirDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := storm(t)
		during := c.within(stormBegins, stormEnds)
		goodput := float64(during.tokens) / (stormEnds - stormBegins).Seconds() / c.perSecond
		deserved := c.deserved(stormBegins, allEnds)
		waste := float64(c.worked-deserved) / float64(c.deserved(stormBegins, stormEnds))
		was, is := c.within(0, stormBegins).p99(), c.asked(backBy, allEnds).p99()
		t.Logf(
			"capacity %.0f tokens/s; goodput %.3f of it; engine work 1 + %.3f of the answers'; p99 %v before, %v "+
				"during, %v from ten seconds after",
			c.perSecond, goodput, waste, was, during.p99(), is)
		t.Logf("%d answers; %d urgent, %d of them missed; refused %v; asked again %v; %s", len(c.answers), c.urgent,
			len(c.misses), c.refused, c.retried, c.step.Why())
		if goodput < 0.9 {
			t.Errorf("goodput %.3f of capacity", goodput)
		}
		if waste > 0.05 {
			t.Errorf("engines worked %v for answers of %v", c.worked, deserved)
		}
		if c.urgent == 0 || len(c.misses) > 0 {
			t.Errorf("%d of %d urgent requests missed: %v", len(c.misses), c.urgent, c.misses)
		}
		if c.refused["-10 priority_floor"] == 0 {
			t.Errorf("nobody was shed: %v", c.refused)
		}
		if is > was*11/10 {
			t.Errorf("p99 %v ten seconds after, %v before", is, was)
		}
		c.checkOrder()
	})
}

// checkOrder holds what must be true besides the figures: escalation came and went, unsure requests and shadows obeyed
// it, no answer was wrong, and nothing is left behind.
func (c *crowd) checkOrder() {
	c.b.T.Helper()
	if c.step.Step != slo.Throttling {
		c.b.T.Errorf("at the end of the storm: %s", c.step.Why())
	}
	if s := c.b.App.Server().Runtime().Specialist("debug").Load.State(); s.Step != slo.Normal {
		c.b.T.Errorf("still at %s", s.Why())
	}
	if n := c.diverted(0, stormBegins); n > 0 {
		c.b.T.Errorf("%d diverted before the storm", n)
	}
	if c.diverted(stormBegins, stormEnds) == 0 {
		c.b.T.Error("nobody was diverted")
	}
	for _, wrong := range c.wrong {
		c.b.T.Error(wrong)
	}
	if !c.b.Quiet() {
		c.b.T.Error("ledgers are not at their baseline")
	}
	before, during, after := c.shadowed(0, stormBegins), c.shadowed(stormBegins+5*time.Second, stormEnds),
		c.shadowed(allEnds, time.Hour)
	if before == 0 || during > 0 || after == 0 {
		c.b.T.Errorf("copies sent to debug: %d before the storm, %d during it, %d after it", before, during, after)
	}
}

func (c *crowd) shadowed(from, to time.Duration) (n int) {
	for _, a := range c.answers {
		if a.shadow == "debug" && a.asked >= from && a.asked < to {
			n++
		}
	}
	return n
}

// strike has an engine die under two answers, every ten seconds.
func (c *crowd) strike(until time.Duration) {
	c.asking.Go(func() {
		for time.Since(c.begun) < until {
			resp, err := c.b.Ask(context.Background(), http.MethodPost, "http://debug-1/admin/faults",
				`{"kind":"die_after_tokens","k":3,"times":2}`)
			if err != nil {
				c.b.T.Error(err)
				return
			}
			_ = resp.Body.Close() // only that it was armed matters
			time.Sleep(10 * time.Second)
		}
	})
}

// within are the answers of debug that ended in a part of the run.
func (c *crowd) within(from, to time.Duration) (s share) {
	for _, a := range c.answers {
		if a.specialist == "debug" && a.ended > from && a.ended <= to {
			s.add(a)
		}
	}
	return s
}

// asked is within, by when they were asked.
func (c *crowd) asked(from, to time.Duration) (s share) {
	for _, a := range c.answers {
		if a.specialist == "debug" && a.asked >= from && a.asked < to {
			s.add(a)
		}
	}
	return s
}

// diverted counts the requests that the load sent to their second choice before the first could have refused them.
func (c *crowd) diverted(from, to time.Duration) (n int) {
	for _, a := range c.answers {
		if a.routedBy == "divert" && a.asked >= from && a.asked < to &&
			strings.Contains(c.b.Read("http://data/v1/receipts/"+a.receipt), "below the divert threshold") {
			n++
		}
	}
	return n
}

// deserved is the work that the answers to what was asked in a part of the run cannot be had without.
func (c *crowd) deserved(from, to time.Duration) (d time.Duration) {
	for _, a := range c.answers {
		if a.specialist == "debug" && a.asked >= from && a.asked < to {
			d += cost(a.prompt, a.said)
		}
	}
	return d
}

// cost is the time that an engine with all its places taken has for so many tokens.
func cost(prompt, tokens int) time.Duration {
	step := overloadStep + (overloadRunning-1)*overloadPerSeq
	return time.Duration(float64(prompt)/overloadTPS*float64(time.Second)) + time.Duration(tokens)*step/overloadRunning
}

// work is what debug's engines have done, in the same measure.
func (c *crowd) work() (d time.Duration) {
	for _, name := range []string{"debug-0", "debug-1"} {
		s := c.b.Engines[name].Stats()
		d += cost(int(s.PromptTokens-s.CachedTokens), int(c.b.Metric("http://"+name, "vllm:generation_tokens_total")))
	}
	return d
}
