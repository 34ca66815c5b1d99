package routing_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
)

// traced is a profile of two filters and two scorers that leaves hosts 1, 2 and 3 of 0 … 4.
func traced(t *testing.T) *routing.Profile {
	return build(t, routing.ProfileSpec{Name: "p", Filter: named("health", "full"),
		Pick:  routing.PluginSpec{Name: "best"},
		Score: []routing.WeightedSpec{weighted("warm", 3), weighted("idle", 1)},
	}, routing.Registry{"health": as(without("health", 0)), "full": as(without("full", 0, 4)), "best": as(best("best")),
		"warm": as(table("warm", 1, 0, 0.5, 7, 1)), "idle": as(table("idle", 1, 1, 0.25, 0, 1))})
}

// ticking is a clock on which every look costs one more microsecond than the one before.
func ticking() func() time.Duration {
	var now, step time.Duration
	return func() time.Duration {
		step += time.Microsecond
		now += step
		return now
	}
}

//nolint:lll // raw text that cannot be broken
func TestATraceTellsEveryVerdictAndScore(t *testing.T) {
	c := request(t, 5)
	c.EnableTrace(ticking())
	if _, err := traced(t).Select(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(c.Trace())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"profile":"p","role":"both","candidates":[` +
		`{"host":0,"removed_by":"health","total":0},` +
		`{"host":1,"removed_by":"","scores":{"warm":{"raw":0,"weighted":0},"idle":{"raw":1,"weighted":1}},"total":1},` +
		`{"host":2,"removed_by":"","scores":{"warm":{"raw":0.5,"weighted":1.5},"idle":{"raw":0.25,"weighted":0.25}},"total":1.75},` +
		`{"host":3,"removed_by":"","scores":{"warm":{"raw":1,"weighted":3},"idle":{"raw":0,"weighted":0}},"total":3},` +
		`{"host":4,"removed_by":"full","total":0}],"stages":[` +
		`{"stage":"filter","plugin":"health","ns":2000},{"stage":"filter","plugin":"full","ns":3000},` +
		`{"stage":"score","plugin":"warm","ns":4000},{"stage":"score","plugin":"idle","ns":5000},{"stage":"pick","plugin":"best","ns":6000}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var back routing.Trace
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*c.Trace(), back); diff != "" {
		t.Error(diff)
	}
}

func TestATraceOfNoDecisionTellsWhoRemovedWhom(t *testing.T) {
	c := routing.Acquire(routing.Facts{})
	defer c.Release()
	c.Candidates(hosts(1))
	c.EnableTrace(ticking())
	if _, err := traced(t).Select(t.Context(), c); err == nil {
		t.Fatal("host 0 passed")
	}
	trace := c.Trace()
	if len(trace.Candidates) != 1 || trace.Candidates[0].RemovedBy != "health" || trace.Candidates[0].Scores != nil {
		t.Errorf("%+v", trace)
	}
}

func TestATraceOutlivesItsContextAndIsOfTheLatestSelect(t *testing.T) {
	p := traced(t)
	c := routing.Acquire(routing.Facts{})
	c.Candidates(hosts(2)) // only host 1 passes
	if c.EnableTrace(ticking()); c.Trace() != nil {
		t.Error("a trace before the first Select")
	}
	for range 2 {
		if _, err := p.Select(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	trace := c.Trace()
	c.Release()
	for range 100 { // some of these are the same pooled Context again
		c := routing.Acquire(routing.Facts{})
		c.Candidates(hosts(5))
		if _, err := p.Select(t.Context(), c); err != nil || c.Trace() != nil {
			t.Fatalf("tracing went on into the next request: %v", err)
		}
		c.Release()
	}
	want := []routing.CandidateTrace{{Host: 0, RemovedBy: "health"}, {Host: 1}}
	if diff := cmp.Diff(want, trace.Candidates); diff != "" {
		t.Error(diff)
	}
}

func TestScoresRefuseWhatIsNotAnObject(t *testing.T) {
	for _, text := range []string{`[]`, `3`, `"x"`, `{"a":3}`, `{"a":{"raw":1}`, `{`} {
		var s routing.Scores
		if err := s.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s gives %v", text, s)
		}
	}
}
