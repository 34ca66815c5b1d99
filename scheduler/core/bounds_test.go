package core

import (
	"errors"
	"testing"
	"time"

	"octet/kvpool"
	"octet/scheduler"
)

func mustCore(t *testing.T, cfg Config) *Core {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The queue is bounded by bytes: 100 tokens and their 25 hashes are 600.
func TestQueueIsBoundedByBytes(t *testing.T) {
	c := mustCore(t, Config{Blocks: 100, BlockSize: 4, MaxRunning: 4, MaxWaiting: 100, TokenBudget: 500,
		MaxWaitingBytes: 1500})
	for id := range uint64(2) {
		if _, err := c.Add(asking(id, 100, 5), 0); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.Add(asking(3, 100, 5), 0)
	if !errors.Is(err, scheduler.ErrRefused) || !errors.Is(err, scheduler.ErrQueueFull) ||
		c.Stats().WaitingBytes != 1200 {
		t.Fatalf("%v with %+v", err, c.Stats())
	}
	c.Cancel(1)
	if _, err := c.Add(asking(3, 100, 5), 0); err != nil {
		t.Error(err)
	}
	benchStep(c, nil)
	if got := c.Stats().WaitingBytes; got != 0 {
		t.Errorf("%d bytes wait behind an idle engine", got)
	}
}

func TestImpossibleCoresAreRefused(t *testing.T) {
	fit := Config{Blocks: 4, BlockSize: 4, MaxRunning: 1, TokenBudget: 4}
	for name, spoil := range map[string]func(*Config){
		"bytes waiting":   func(c *Config) { c.MaxWaitingBytes = -1 },
		"aging":           func(c *Config) { c.Aging = -1 },
		"whole watermark": func(c *Config) { c.Watermark = 1 },
		"prefill rate":    func(c *Config) { c.PrefillRate = -1 },
		"link":            func(c *Config) { c.LinkBandwidth = -1 },
		"state":           func(c *Config) { c.SSMStateBytes = -1 },
		"token":           func(c *Config) { c.KVTokenBytes = -1 },
		"host":            func(c *Config) { c.HostBytes = -1 },
	} {
		cfg := fit
		spoil(&cfg)
		if _, err := New(cfg); !errors.Is(err, scheduler.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := mustCore(t, fit)
	_, err := c.Add(Request{Tokens: []uint32{1}, MaxNew: 1, Hybrid: true}, 0)
	if !errors.Is(err, scheduler.ErrInvalid) {
		t.Errorf("a hybrid where nothing has state: %v", err)
	}
}

// MEGA-38, MEGA-42: in the same memory a hybrid holds more sequences at once than a dense model of its size, although
// each of its sequences has its state beside the pool.
func TestHybridHoldsMoreSequencesInTheSameMemory(t *testing.T) {
	const (
		layers, attention = 32, 4
		context, most     = 2048, 256
		state             = (layers - attention) * 512 << 10 // 512 KiB a layer a sequence, at any length
	)
	memory := kvpool.Memory{HBM: 24 << 30, Weights: 14 << 30, ActivationReserve: 2 << 30}
	holds := func(g kvpool.Geometry, reserve int64, hybrid bool) int {
		m := memory
		m.ActivationReserve += reserve
		blocks, err := kvpool.Size(m, g, 16)
		if err != nil {
			t.Fatal(err)
		}
		c := mustCore(t, Config{
			Blocks: blocks, BlockSize: 16, MaxRunning: most, MaxWaiting: most, TokenBudget: most * context,
			Watermark: -1, SSMStateBytes: state, KVTokenBytes: g.BytesPerToken(),
		})
		for id := range uint64(most) {
			r := asking(id, context-20, 20)
			r.Tokens[0], r.Hybrid = uint32(id)+1000, hybrid
			if _, err := c.Add(r, 0); err != nil {
				t.Fatal(err)
			}
		}
		benchStep(c, nil)
		return c.Stats().Running
	}
	dense := kvpool.Geometry{Layers: layers, KVHeads: 8, HeadDim: 128, DTypeBytes: 2}
	mixed := dense
	mixed.AttentionLayers = attention
	d, h := holds(dense, 0, false), holds(mixed, 64*state, true)
	if want := 32; d != want {
		t.Errorf("the dense model holds %d sequences, want %d", d, want) // 8 GiB / (128 KiB × 2048)
	}
	if h < 64 {
		t.Errorf("the hybrid holds %d sequences beside the state of 64; the dense model holds %d", h, d)
	}
}

// A rate that was measured replaces the assumed one, and a configured one replaces both.
func TestPrefillIsMeasured(t *testing.T) {
	cfg := Config{Blocks: 100, BlockSize: 4, MaxRunning: 4, MaxWaiting: 100, TokenBudget: 500}
	c := mustCore(t, cfg)
	if got := c.timing.compute(assumedPrefill); got != time.Second {
		t.Errorf("%v before anything was measured", got)
	}
	if _, err := c.Add(asking(1, 100, 5), 0); err != nil {
		t.Fatal(err)
	}
	b := c.Assemble(time.Second)
	c.Commit(b, []Result{{ID: 1, Tokens: []uint32{1}}}, time.Second+100*time.Millisecond)
	if got := c.timing.compute(50); got != 50*time.Millisecond {
		t.Errorf("50 tokens in %v after 100 in 100ms", got)
	}
	b = c.Assemble(2 * time.Second)
	c.Commit(b, []Result{{ID: 1, Tokens: []uint32{1}}}, 12*time.Second) // a decode step says nothing about prefill
	if got := c.timing.compute(50); got != 50*time.Millisecond {
		t.Errorf("50 tokens in %v after a slow decode", got)
	}
	c.timing.rate = 100
	if got := c.timing.compute(50); got != 500*time.Millisecond {
		t.Errorf("50 tokens in %v at 100 a second", got)
	}
}
