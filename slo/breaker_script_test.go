package slo

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// stage plays one script of testdata/lane: a scenario of verdicts in virtual time.
type stage struct {
	breaker *Breaker
	now     time.Time
}

// MEGA-59, MEGA-61, MEGA-67
func TestLaneScenariosReadAsTheyHappen(t *testing.T) {
	files, err := filepath.Glob("testdata/lane/*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &stage{now: newClock().at}
			for i, line := range strings.Split(string(text), "\n") {
				line, _, _ = strings.Cut(line, "#")
				if words := strings.Fields(line); len(words) > 0 {
					if err := s.play(words); err != nil {
						t.Fatalf("%s:%d: %v", file, i+1, err)
					}
				}
			}
		})
	}
}

func (s *stage) play(words []string) error {
	switch verb, rest := words[0], words[1:]; verb {
	case "lane":
		return s.open(rest)
	case "after":
		return s.pass(rest[0])
	case "pass", "fail":
		return s.verdicts(s.now, verb, rest[0])
	case "late":
		ago, err := time.ParseDuration(rest[0])
		if err != nil {
			return err
		}
		return s.verdicts(s.now.Add(-ago), rest[1], rest[2])
	case "refresh":
		s.breaker.Refresh(s.now)
		return nil
	case "standing":
		return s.expect(rest)
	case "published":
		c := s.breaker.tally(s.now)
		if got := fmt.Sprint(c.hold, " of ", c.all); got != strings.Join(rest, " ") {
			return fmt.Errorf("%s are published", got)
		}
		return nil
	}
	return fmt.Errorf("unknown verb %q", words[0])
}

func (s *stage) open(settings []string) (err error) {
	c := CorrectnessConfig{ProbeShare: 0.1}
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		switch key {
		case "floor":
			c.Floor, err = strconv.ParseFloat(value, 64)
		case "window":
			c.Window, err = time.ParseDuration(value)
		case "min":
			c.MinSamples, err = strconv.Atoi(value)
		case "recover":
			c.RecoverFor, err = time.ParseDuration(value)
		}
		if err != nil {
			return err
		}
	}
	s.breaker = newBreaker(c, s.now)
	return nil
}

func (s *stage) pass(for_ string) error {
	d, err := time.ParseDuration(for_)
	s.now = s.now.Add(d)
	return err
}

func (s *stage) verdicts(at time.Time, what, n string) error {
	many, err := strconv.Atoi(n)
	for range many {
		s.breaker.Count(Verdict{Answered: at, Pass: what == "pass"}, s.now)
	}
	return err
}

func (s *stage) expect(words []string) error {
	state := s.breaker.State(s.now)
	fresh := len(words) > 1 && words[1] == "fresh"
	if state.Standing != words[0] || state.Standing == "primary" && state.Fresh != fresh {
		return fmt.Errorf("it is %s, fresh %v, with %d of %d verdicts", state.Standing, state.Fresh, state.Passed,
			state.Samples)
	}
	return nil
}
