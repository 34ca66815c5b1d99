package matrix

import (
	"fmt"
	"slices"

	"octet/internal/replay"
)

// near is what counts as as good: within 5 %.
const near = 1.05

// clearly is what counts as better: by 10 %.
const clearly = 1.1

// Compared is the first policy of a cell beside the best of the others. A ratio over 1 is worse than the best.
type Compared struct {
	*Played
	Mine        replay.Result
	First       replay.Result // of the others, the one with the least p90 of the TTFT
	Most        replay.Result // of the others, the one with the most tokens a second
	TTFT, Speed float64       // ratios
}

// compare compares the first policy with the others.
func compare(p *Played) Compared {
	c := Compared{Played: p, Mine: p.Results[0], TTFT: 1, Speed: 1}
	if len(p.Results) < 2 {
		return c
	}
	c.First = slices.MinFunc(p.Results[1:], func(a, b replay.Result) int { return order(a.TTFT.P90, b.TTFT.P90) })
	c.Most = slices.MaxFunc(p.Results[1:], func(a, b replay.Result) int { return order(a.Throughput, b.Throughput) })
	c.TTFT, c.Speed = over(c.Mine.TTFT.P90, c.First.TTFT.P90), over(c.Most.Throughput, c.Mine.Throughput)
	return c
}

func order(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// over is a/b, 1 where both are 0.
func over(a, b float64) float64 {
	if a == b {
		return 1
	}
	return a / b
}

// Worse returns true if the first policy is not within 5 % of the best in one of the two figures.
func (c *Compared) Worse() bool { return c.TTFT > near || c.Speed > near }

// Better returns true if the first policy is 10 % better than the best of the others in one of the two, and not worse.
func (c *Compared) Better() bool { return !c.Worse() && (c.TTFT < 1/clearly || c.Speed < 1/clearly) }

// summary is the comparisons of several cells.
type summary struct {
	ttft, speed         []float64 // ratios
	cells, near, better int
}

func (s *summary) add(c *Compared) {
	s.ttft, s.speed = append(s.ttft, c.TTFT), append(s.speed, c.Speed)
	s.cells++
	if !c.Worse() {
		s.near++
	}
	if c.Better() {
		s.better++
	}
}

// row returns the worst, the median and the best ratio of each figure, and how many cells are near and better.
func (s *summary) row(name string) []string {
	spread := func(v []float64) string {
		v = slices.Sorted(slices.Values(v))
		return fmt.Sprintf("%.2f / %.2f / %.2f", v[len(v)-1], v[(len(v)-1)/2], v[0])
	}
	return []string{name, fmt.Sprint(s.cells), spread(s.ttft), spread(s.speed),
		fmt.Sprintf("%.0f %%", 100*float64(s.near)/float64(s.cells)), fmt.Sprint(s.better)}
}
