package slo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// MEGA-63, MEGA-64
func TestEscalationScenariosReadAsTheyHappen(t *testing.T) {
	files, err := filepath.Glob("testdata/escalation/*.txt")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			e, now := NewEscalation(EscalationConfig{}), newClock().at
			for i, line := range strings.Split(string(text), "\n") {
				line, _, _ = strings.Cut(line, "#")
				if words := strings.Fields(line); len(words) > 0 {
					if now, err = playEscalation(e, words, now); err != nil {
						t.Fatalf("%s:%d: %v", file, i+1, err)
					}
				}
			}
		})
	}
}

func playEscalation(e *Escalation, words []string, now time.Time) (time.Time, error) {
	switch words[0] {
	case "offer":
		for _, w := range words[1:] {
			p, err := strconv.Atoi(w)
			if err != nil {
				return now, err
			}
			e.Offer("codegen", p)
		}
	case "pressure":
		return press(e, words[1:], now)
	case "step":
		want := fmt.Sprint(words[1:])
		got := fmt.Sprintf("[%d]", e.Step())
		if e.Floor() != LeastPriority {
			got = fmt.Sprintf("[%d floor %d]", e.Step(), e.Floor())
		}
		if got != want {
			return now, fmt.Errorf("it is at %s: %s", got, e.State().Why())
		}
	default:
		return now, fmt.Errorf("unknown verb %q", words[0])
	}
	return now, nil
}

// press observes a pressure every 100 ms, both ends included.
func press(e *Escalation, words []string, now time.Time) (time.Time, error) {
	p, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		return now, err
	}
	e.Observe(p, now)
	if len(words) == 1 {
		return now, nil
	}
	d, err := time.ParseDuration(words[2])
	for end := now.Add(d); now.Before(end); {
		now = now.Add(100 * time.Millisecond)
		e.Observe(p, now)
	}
	return now, err
}

// Whatever the pressure and the requests: steps change by one; none goes up without Hold at its entry or down without
// Calm at its leave; the floor is a class's, lets the most urgent class pass, and stands in step 2 only.
func TestEscalationMakesLegalMovesOnly(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		e, now := NewEscalation(EscalationConfig{}), newClock().at
		var lastUp, lastDown time.Time // when a condition last did not hold
		pressure, asked := 0.0, map[int]time.Time{}
		for range 20_000 {
			now = now.Add(time.Duration(r.IntN(300)) * time.Millisecond)
			if r.IntN(10) == 0 {
				pressure = r.Float64() * 1.2
			}
			if r.IntN(3) == 0 {
				p := r.IntN(5)*10 - 20
				e.Offer("codegen", p)
				asked[p] = now
			}
			step, floor := e.Step(), e.Floor()
			enter, leave := e.bounds()
			if pressure < enter {
				lastUp = now
			}
			if pressure > leave {
				lastDown = now
			}
			e.Observe(pressure, now)
			legal(t, e, step, floor, asked, now)
			up := e.Step() > step || e.Floor() > floor
			down := e.Step() < step || e.Floor() < floor
			if up && now.Sub(lastUp) < time.Second || down && now.Sub(lastDown) < 5*time.Second {
				t.Fatalf("seed %d: %d/%d to %d/%d, %v and %v after the condition began", seed, step, floor, e.Step(),
					e.Floor(), now.Sub(lastUp), now.Sub(lastDown))
			}
			if e.Step() != step { // its conditions are others
				lastUp, lastDown = now, now
			}
		}
	}
}

func legal(t *testing.T, e *Escalation, step, floor int, asked map[int]time.Time, now time.Time) {
	t.Helper()
	if d := e.Step() - step; d < -1 || d > 1 || e.Step() < 0 || e.Step() > 2 ||
		(e.Step() == Throttling) != (e.Floor() != LeastPriority) {
		t.Fatalf("from %d, floor %d, to %d, floor %d", step, floor, e.Step(), e.Floor())
	}
	if e.Floor() <= floor {
		return
	}
	most := LeastPriority
	for p, at := range asked {
		if now.Sub(at) <= 2*remember+time.Second {
			most = max(most, p)
		}
	}
	if e.Floor() > most {
		t.Fatalf("a floor of %d shuts out %d, the most urgent that asks", e.Floor(), most)
	}
}

// The oracle sorts the classes.
func TestFloorsAreThoseOfASortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var c classes
		var list []int
		for range r.IntN(6) {
			p := r.IntN(201) - 100
			c.note(p)
			list = append(list, p)
		}
		slices.Sort(list)
		list = slices.Compact(list)
		floor := r.IntN(201) - 100
		if r.IntN(4) == 0 && len(list) > 0 {
			floor = list[r.IntN(len(list))]
		}
		i, _ := slices.BinarySearch(list, floor)
		above, below := floor, LeastPriority
		if i+1 < len(list) {
			above = list[i+1]
		}
		if i-1 > 0 {
			below = list[i-1]
		}
		if c.above(floor) != above || c.below(floor) != below {
			t.Fatalf("%v at %d: %d and %d, want %d and %d", list, floor, c.above(floor), c.below(floor), above, below)
		}
	}
}

func BenchmarkEscalation(b *testing.B) {
	e := NewEscalation(EscalationConfig{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Offer("codegen", i&7)
		_, _ = e.Step(), e.Floor()
	}
}
