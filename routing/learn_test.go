package routing_test

import (
	"errors"
	"testing"
	"time"

	"octet/routing"
	"octet/routing/index"
)

// pupil is a picker that learns.
type pupil struct {
	fakePicker
	heard *[]index.HostID
}

func (p pupil) Learn(v routing.View, picked index.HostID) {
	if total.Get(v) == 13 {
		panic("unlucky")
	}
	*p.heard = append(*p.heard, picked)
}

func (pupil) Why(routing.View) error { return routing.ErrUnknownReplica }

func TestAPluginLearnsWhatWasPickedUnlessTheRequestIsDry(t *testing.T) {
	var heard []index.HostID
	nobody := false
	teacher := fakePicker{fake{name: "pupil", reads: slots(routing.Optional(total))},
		func(_ routing.View, scored []routing.Scored) []routing.Scored {
			if nobody {
				return nil
			}
			return scored[1:2]
		}}
	p := build(t, routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "pupil"}, Given: slots(total)},
		routing.Registry{"pupil": as(pupil{teacher, &heard})})
	ask := func(f routing.Facts, n int) error {
		c := routing.Acquire(f)
		defer c.Release()
		c.Candidates(hosts(3))
		total.Put(c, n)
		_, err := p.Select(t.Context(), c)
		return err
	}
	if err := errors.Join(ask(routing.Facts{}, 1), ask(routing.Facts{Dry: true}, 1)); err != nil || len(heard) != 1 ||
		heard[0] != 1 {
		t.Errorf("heard %v, %v", heard, err)
	}
	var panicked *routing.PluginPanicError
	if err := ask(routing.Facts{}, 13); !errors.As(err, &panicked) || panicked.Plugin != "pupil" ||
		p.Stats()[0].Panics != 1 {
		t.Errorf("a panic while learning: %v", err)
	}
	nobody = true
	if err := ask(routing.Facts{}, 1); !errors.Is(err, routing.ErrUnknownReplica) ||
		!errors.Is(err, routing.ErrNoCandidate) || len(heard) != 1 {
		t.Errorf("nobody picked: %v, heard %v", err, heard)
	}
}

func TestLapsAreThoseOfTheTrace(t *testing.T) {
	c := request(t, 5)
	c.EachLap(func(routing.Stage, string, time.Duration) { t.Error("a lap before any Select") })
	c.EnableTrace(ticking())
	if _, err := traced(t).Select(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var got []routing.StageTrace
	c.EachLap(func(stage routing.Stage, plugin string, took time.Duration) {
		got = append(got, routing.StageTrace{Stage: stage, Plugin: plugin, NS: int64(took)})
	})
	want := c.Trace().Stages
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
}

// Every kind of parameter: as it should be, absent, and wrong in every way.
func TestParametersAreStrict(t *testing.T) {
	type got struct {
		on      bool
		word    string
		free    string
		list    []string
		texts   map[string]string
		numbers map[string]float64
		parts   int
	}
	var g got
	reg := routing.Registry{"best": as(best("best")), "tuned": func(p *routing.Params) routing.Plugin {
		g = got{
			on: p.Bool("on", true), word: p.Text("word", "a", "a", "b"), free: p.Text("free", ""),
			list:  p.Texts("list"),
			texts: p.Map("texts"), numbers: p.Numbers("numbers", 0, 1),
		}
		p.Parts("parts", func(part *routing.Params) {
			g.parts += part.Int("n", 1, 1, 5)
			if part.Bool("refuse", false) {
				part.Refuse("not %d", 5)
			}
		})
		return keepAll("tuned")
	}}
	faults := func(params map[string]any) int {
		_, err := routing.Build(routing.ProfileSpec{Name: "p",
			Filter: []routing.PluginSpec{{Name: "tuned", Params: params}}, Pick: routing.PluginSpec{Name: "best"}}, reg)
		var fs routing.Faults
		errors.As(err, &fs)
		return len(fs)
	}
	if n := faults(nil); n != 0 || !g.on || g.word != "a" || g.list != nil || g.texts != nil || g.numbers != nil {
		t.Errorf("defaults: %d faults, %+v", n, g)
	}
	if n := faults(map[string]any{"on": false, "word": "b", "free": "x", "list": []any{"x", "y"},
		"texts":   map[string]any{"k": "v"},
		"numbers": map[string]any{"k": 1}, "parts": []any{map[string]any{"n": 2}, map[string]any{}}}); n != 0 ||
		g.on || g.word != "b" || g.free != "x" || len(g.list) != 2 || g.texts["k"] != "v" || g.numbers["k"] != 1 ||
		g.parts != 3 {
		t.Errorf("all given: %d faults, %+v", n, g)
	}
	if n := faults(map[string]any{"list": "one"}); n != 0 || len(g.list) != 1 {
		t.Errorf("a single text: %+v", g)
	}
	for name, wrong := range map[string]any{
		"on": "yes", "word": "c", "free": "", "list": []any{1}, "texts": map[string]any{"k": 1},
		"numbers": map[string]any{"k": 2}, "parts": "x",
	} {
		if n := faults(map[string]any{name: wrong}); n != 1 {
			t.Errorf("%s %v: %d faults", name, wrong, n)
		}
	}
	for name, wrong := range map[string]any{"word": 3, "list": 3, "texts": "x", "numbers": 3, "parts": []any{3}} {
		if n := faults(map[string]any{name: wrong}); n != 1 {
			t.Errorf("%s %v: %d faults", name, wrong, n)
		}
	}
	if n := faults(map[string]any{"parts": []any{map[string]any{"n": 9, "unknown": 1, "refuse": true}}}); n != 3 {
		t.Errorf("a part with three faults has %d", n)
	}
}
