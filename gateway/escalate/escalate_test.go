package escalate

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/metrics"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/scheduler/gate"
	"octet/slo"
)

// world is two specialists, a of two replicas and b of one, each with four places to run in and four to wait in.
type world struct {
	*Controller
	rt  *ensemble.Runtime
	log strings.Builder
}

func newWorld(t *testing.T, floor float64) *world {
	t.Helper()
	w := &world{rt: &ensemble.Runtime{Intents: []string{"codegen"}}}
	knobs := []slo.Knob{{Name: slo.PriorityFloor + "codegen", Default: floor, Min: -100, Max: 100}}
	for _, name := range []string{"a", "b"} {
		w.rt.Specialists = append(w.rt.Specialists,
			&ensemble.Specialist{Name: name, Load: slo.NewEscalation(slo.EscalationConfig{})})
		knobs = append(knobs, slo.SpecialistKnobs(name)...)
	}
	all, err := slo.NewKnobs(nil, knobs...)
	if err != nil {
		t.Fatal(err)
	}
	w.Controller = &Controller{Knobs: all, Log: slog.New(slog.NewTextHandler(&w.log, nil))}
	f := fleet.New()
	for i, specialist := range []string{"a", "a", "b"} {
		name := fmt.Sprintf("r%d", i)
		member, err := f.Put(fleet.Spec{Name: name, Specialist: specialist, URL: "http://10.0.0.1:80", BlockSize: 16,
			Host: index.HostID(i)})
		if err != nil {
			t.Fatal(err)
		}
		member.OnSuccess()
		g, err := gate.New(gate.Config{Blocks: 1024, BlockSize: 16, MaxRunning: 4, MaxWaiting: 4, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		w.rt.Replicas[i] = &ensemble.Replica{Name: name, Fleet: member, Gate: g, MaxWaiting: 4}
	}
	w.rt.Connect(all, metrics.New("", "", ""))
	w.rt.Seal()
	return w
}

// fill takes all of a replica's places and of its queue's, until ctx ends.
func (w *world) fill(ctx context.Context, replica int) {
	for i := range 8 {
		r := gate.Request{ID: fmt.Sprint(i), PromptTokens: 16, MaxNew: 16}
		go func() {
			if ticket, err := w.rt.Replicas[replica].Gate.Admit(ctx, r); err == nil {
				<-ctx.Done()
				ticket.Release()
			}
		}()
	}
	synctest.Wait()
}

// after lets so much time pass, with an observation every 100 ms, and offers b an urgent and a common request each
// time.
func (w *world) after(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		w.rt.Specialists[1].Load.Offer("codegen", 0)
		w.rt.Specialists[1].Load.Offer("codegen", 5)
		w.Observe(w.rt, time.Now())
	}
}

func (w *world) value(t *testing.T, knob string) float64 {
	t.Helper()
	v, ok := w.Knobs.Value(knob)
	if !ok {
		t.Fatalf("no knob %s", knob)
	}
	return v
}

// inBubble runs f on a world in virtual time.
func inBubble(t *testing.T, floor float64, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newWorld(t, floor)) })
}

func TestTheLeastPressureOfARoleIsTheSpecialists(t *testing.T) {
	inBubble(t, -100, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, b := w.rt.Specialists[0], w.rt.Specialists[1]
		w.fill(ctx, 0)
		w.fill(ctx, 2)
		if p := pressureOf(w.rt, a); p != 0 {
			t.Errorf("with one of two replicas free the pressure is %v", p)
		}
		if p := pressureOf(w.rt, b); p != 1 {
			t.Errorf("with the only replica full the pressure is %v", p)
		}
		w.rt.Replicas[1].Fleet.SetDraining(true)
		if p := pressureOf(w.rt, a); p != 1 {
			t.Errorf("with the free one draining the pressure is %v", p)
		}
		w.rt.Replicas[0].Fleet.SetDraining(true)
		if p := pressureOf(w.rt, a); p != 0 {
			t.Errorf("with no replica that can be asked the pressure is %v", p)
		}
	})
}

func TestLoadRaisesAnIntentsFloorAndItsEndLowersIt(t *testing.T) {
	inBubble(t, -50, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w.fill(ctx, 2)
		w.after(5 * time.Second)
		if step := w.value(t, slo.LoadStep+"b"); step != slo.Throttling {
			t.Errorf("the full specialist is at step %v", step)
		}
		if step := w.value(t, slo.LoadStep+"a"); step != slo.Normal {
			t.Errorf("the other one is at step %v", step)
		}
		if floor := w.value(t, slo.PriorityFloor+"codegen"); floor != 5 {
			t.Errorf("the intent's floor is %v", floor)
		}
		if log := w.log.String(); !strings.Contains(log, "load escalation") || !strings.Contains(log, "specialist=b") ||
			strings.Contains(log, "specialist=a") {
			t.Errorf("the log is %s", log)
		}
		cancel()
		w.after(time.Minute)
		if step := w.value(t, slo.LoadStep+"b"); step != slo.Normal {
			t.Errorf("a minute later it is at step %v", step)
		}
		if floor := w.value(t, slo.PriorityFloor+"codegen"); floor != -50 {
			t.Errorf("a minute later the intent's floor is %v, not the configured one", floor)
		}
	})
}

// A reload keeps the knobs, and makes the escalations anew.
func TestAnAdoptedSpecialistBeginsAtNormal(t *testing.T) {
	inBubble(t, -100, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w.fill(ctx, 2)
		w.after(5 * time.Second)
		w.rt.Specialists[1].Load = slo.NewEscalation(slo.EscalationConfig{})
		w.Adopt(w.rt)
		if step := w.value(t, slo.LoadStep+"b"); step != slo.Normal {
			t.Errorf("the new specialist is at step %v", step)
		}
	})
}

// An operator's value stands above what load demands, and the demand is in force once it is cleared.
func TestAnOperatorsFloorStands(t *testing.T) {
	inBubble(t, -100, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		knob := slo.PriorityFloor + "codegen"
		if err := w.Knobs.Set(knob, slo.Override{Value: -7, By: "operator", Why: "test"}); err != nil {
			t.Fatal(err)
		}
		w.fill(ctx, 2)
		w.after(5 * time.Second)
		if floor := w.value(t, knob); floor != -7 {
			t.Errorf("the operator's floor has become %v", floor)
		}
		if err := w.Knobs.Clear(knob); err != nil {
			t.Fatal(err)
		}
		if floor := w.value(t, knob); floor != 5 {
			t.Errorf("the floor is %v once the operator's is cleared", floor)
		}
	})
}
