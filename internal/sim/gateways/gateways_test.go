package gateways

import (
	"bytes"
	"testing"
	"time"

	"octet/internal/race"
	"octet/internal/replay"
)

// small is a cell that is played in a moment, with more load than its engines can serve.
func small(gateways int) (Config, replay.Trace) {
	e := replay.Default()
	e.Replicas, e.BlockSize, e.Blocks = 2, zipfBlock, 1024
	return Config{Gateways: gateways, Delay: 20 * time.Millisecond, Engines: e, check: true}, Zipf(1, 120, 16, 14)
}

func play(t *testing.T, c Config, trace replay.Trace) Figures {
	t.Helper()
	f, err := Run(c, trace)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every Model's invariants hold after each thing that happens, and nothing is left at the end, whatever is between the
// gateways.
func TestGatewaysKeepTheirPromisesAndLeaveNothingBehind(t *testing.T) {
	race.Skip(t)
	for name, change := range map[string]func(*Config){
		"at once":       func(c *Config) { c.Delay = 0 },
		"late":          func(c *Config) { c.Delay = time.Second },
		"lost":          func(c *Config) { c.Loss = 0.2 },
		"cut":           func(c *Config) { c.Partition = 0.5 },
		"independent":   func(c *Config) { c.Apart = true },
		"sticky":        func(c *Config) { c.Sticky = true },
		"little memory": func(c *Config) { c.Engines.Blocks = 256 },
		"patient":       func(c *Config) { c.Patient, c.Tenants = true, []float64{3, 1} },
	} {
		t.Run(name, func(t *testing.T) {
			c, trace := small(3)
			change(&c)
			f := play(t, c, trace)
			if f.Good == 0 || f.Hit == 0 {
				t.Errorf("%+v", f)
			}
			if (f.Messages == 0) != c.Apart {
				t.Errorf("%d messages", f.Messages)
			}
		})
	}
}

func TestTheSameCellGivesTheSameFiguresTwice(t *testing.T) {
	race.Skip(t)
	table := func() string {
		_, trace := small(1)
		p := Plan{Mixes: []Mix{{Name: "zipf", Traces: []replay.Trace{trace, trace}, Blocks: 1024, Rate: 0.4}},
			Engines: []int{2}, Gateways: []int{1, 4}, Delays: []time.Duration{20 * time.Millisecond}, Extra: []int{4},
			Seeds: []uint64{1, 2}}
		var out bytes.Buffer
		if err := p.Print(&out, true); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if a, b := table(), table(); a != b {
		t.Errorf("first\n%s\nthen\n%s", a, b)
	}
}

// One gateway sends nothing, so nothing that is between gateways changes a figure of it.
func TestOneGatewayIsTheSingleGateway(t *testing.T) {
	c, trace := small(1)
	plain := play(t, c, trace)
	c.Delay, c.Loss, c.Partition, c.Sticky = time.Second, 0.5, 0.5, true
	if f := play(t, c, trace); f != plain || f.Messages != 0 {
		t.Errorf("%+v, with messages %+v", plain, f)
	}
	c.Apart = true
	if f := play(t, c, trace); f != plain {
		t.Errorf("%+v, apart %+v", plain, f)
	}
}

func TestImpossibleCellsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no gateway":   func(c *Config) { c.Gateways = 0 },
		"early":        func(c *Config) { c.Delay = -1 },
		"all lost":     func(c *Config) { c.Loss = 1 },
		"long cut":     func(c *Config) { c.Partition = 2 },
		"three shares": func(c *Config) { c.Tenants = []float64{1, 1, 1} },
		"no engine":    func(c *Config) { c.Engines.Replicas = 0 },
	} {
		c, trace := small(2)
		change(&c)
		if _, err := Run(c, trace); err == nil {
			t.Errorf("%s: played", name)
		}
	}
}

// Requests that are written with one moment come at moments of their own, in their order, before the next one's.
func TestSpreadRequestsComeInTheirOrderAndBeforeTheNextMoment(t *testing.T) {
	var trace replay.Trace
	for i := range 12 {
		trace.Requests = append(trace.Requests, replay.Request{At: time.Duration(i/4) * time.Second, Input: i + 1})
	}
	out := Spread(trace, 1)
	for i, r := range out.Requests {
		if r.Input != i+1 || r.At.Truncate(time.Second) != trace.Requests[i].At {
			t.Errorf("request %d came at %v, and is %d at %v", i, trace.Requests[i].At, r.Input, r.At)
		}
		if i > 0 && r.At < out.Requests[i-1].At {
			t.Errorf("request %d comes at %v, before the one that was before it", i, r.At)
		}
	}
	if out.Requests[1].At == out.Requests[2].At || trace.Requests[1].At != 0 {
		t.Error("requests still come at once, or the trace has changed")
	}
}

// One queue serves two tenants of equal weights alike, whatever they offer.
func TestOneGatewaySharesEngines(t *testing.T) {
	c, _ := small(1)
	c.Patient, c.Tenants, c.check = true, []float64{3, 1}, false
	trace := Zipf(1, 1500, 16, 1)
	c.Engines.Rate, c.Engines.MaxRunning, c.Engines.Blocks = 40, 32, 512
	f := play(t, c, trace)
	if f.Fair.Share < 0.45 || f.Fair.Share > 0.55 || f.Fair.Jain < 0.99 || f.Fair.Worst == 0 {
		t.Errorf("%+v", f.Fair)
	}
}

// Several gateways, at each of which one of two tenants comes in, serve both alike too.
func TestSeveralGatewaysShareEngines(t *testing.T) {
	race.Skip(t)
	c, _ := small(2)
	c.Patient, c.Tenants = true, []float64{3, 1}
	trace := Zipf(1, 1500, 16, 1)
	c.Engines.Rate, c.Engines.MaxRunning, c.Engines.Blocks = 40, 32, 512
	f := play(t, c, trace)
	if f.Fair.Share < 0.42 || f.Fair.Share > 0.58 {
		t.Errorf("%+v", f.Fair)
	}
}
