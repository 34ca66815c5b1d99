package top

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"octet/gateway/live"
)

// press returns what the last of some keys asks for.
func press(m *Model, names ...string) (effects []any) {
	for _, k := range names {
		*m, effects = m.Update(Pressed{k})
	}
	return effects
}

// A drain is of the replica that was asked about, though the list changes meanwhile, and only after a yes.
func TestADrainIsOfTheReplicaThatWasAskedAbout(t *testing.T) {
	r := reading(2, 3, usual)
	m := shown(80, 24, polled(r))
	press(&m, "2", "down", "down", "d") // debug-2
	fewer := reading(2, 1, usual)
	m, _ = m.Update(polled(fewer))
	if got := press(&m, "y"); !slices.Equal(got, []any{Drain{"debug-2", true}}) {
		t.Errorf("%+v", got)
	}
	for _, no := range []string{"n", "esc", "enter", "q", "d", " "} {
		m := shown(80, 24, polled(r))
		if got := press(&m, "2", "d", no); got != nil || m.drain != nil {
			t.Errorf("%s: %+v", no, got)
		}
	}
	m = shown(80, 24, polled(r))
	if got := press(&m, "2", "down", "d", "y"); !slices.Equal(got, []any{Drain{"debug-1", false}}) {
		t.Errorf("a draining one: %+v", got)
	}
	m = shown(80, 24, polled(r))
	if got := press(&m, "d", "y"); got != nil {
		t.Errorf("a specialist is drained: %+v", got)
	}
}

// Each end of a poll asks for one more, after a time that grows with what it takes.
func TestPollsAreBounded(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: time.Second, 50 * time.Millisecond: time.Second,
		400 * time.Millisecond: 4 * time.Second, time.Hour: time.Minute} {
		r := reading(1, 1, usual)
		r.Took = took
		m := shown(80, 24)
		if _, got := m.Update(polled(r)); !slices.Equal(got, []any{PollAfter{want}}) {
			t.Errorf("%v: %+v", took, got)
		}
	}
	m := shown(80, 24)
	for range 3 {
		var got []any
		if m, got = m.Update(Polled{Failure: "down", Now: began}); !slices.Equal(got, []any{PollAfter{time.Second}}) {
			t.Errorf("%+v", got)
		}
	}
	for _, other := range []any{Resized{80, 24}, Ticked{began}, Done{"x"}, Fetched{}, Pressed{"s"}} {
		if _, got := m.Update(other); got != nil {
			t.Errorf("%+v asks for %+v", other, got)
		}
	}
}

// Decisions are told while they are shown, are asked for again when they end, and are bounded.
func TestDecisionsAreToldWhileTheyAreShown(t *testing.T) {
	m := shown(80, 24, polled(reading(1, 1, usual)))
	if got := press(&m, "4"); !slices.Equal(got, []any{Watch{true}}) {
		t.Errorf("%+v", got)
	}
	m, _ = m.Update(Unwatched{"gone"})
	if frame := strings.Join(m.Frame(), "\n"); !strings.Contains(frame, "decisions are not told: gone") {
		t.Error(frame)
	}
	if _, got := m.Update(polled(m.reading)); !slices.Contains(got, any(Watch{true})) {
		t.Errorf("%+v", got)
	}
	for i := range 2 * mostDecisions {
		m, _ = m.Update(Decided{live.Event{Receipt: fmt.Sprint(i)}})
	}
	if len(m.live) != mostDecisions || m.live[0].Receipt != fmt.Sprint(2*mostDecisions-1) {
		t.Errorf("%d are kept", len(m.live))
	}
	if got := press(&m, "enter"); !slices.Equal(got, []any{Fetch{m.live[0].Receipt}}) {
		t.Errorf("%+v", got)
	}
	if got := press(&m, "1"); !slices.Equal(got, []any{Watch{false}}) {
		t.Errorf("%+v", got)
	}
}

// The chosen row stays chosen while others come, go and are sorted; each column sorts, and filters choose.
func TestTheChosenRowStaysChosen(t *testing.T) {
	m := shown(80, 24, polled(reading(2, 3, usual)))
	press(&m, "2", "down", "down", "down")
	for range 2 * len(m.table().columns) {
		if r := m.chosenRow(); r.key != "systems-0" {
			t.Fatalf("%s is chosen", r.key)
		}
		press(&m, "s", "S")
	}
	press(&m, "/", "d", "E", "b", "u", "g", "enter")
	if rows := m.table().rows; len(rows) != 3 || !strings.HasPrefix(m.chosenRow().key, "debug") {
		t.Errorf("%d rows", len(rows))
	}
	press(&m, "esc", "/", "n", "o", "n", "e", "enter")
	if m.chosenRow() != nil || press(&m, "enter") != nil || press(&m, "d") != nil {
		t.Error("a row of none is chosen")
	}
	press(&m, "/", "x", "x", "backspace", "esc")
	if m.filter != "none" {
		t.Errorf("filter %q", m.filter)
	}
	if got := press(&m, "o", "r", "space", "backspace", "7", "enter"); !slices.Equal(got, []any{Fetch{"r7"}}) {
		t.Errorf("%+v", got)
	}
	if got := press(&m, "3", "esc", "enter"); !slices.Equal(got, []any{Fetch{"a-slow-one"}}) {
		t.Errorf("%+v", got)
	}
}
