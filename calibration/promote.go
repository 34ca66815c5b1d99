package calibration

import "fmt"

// Promotion is what the duels of two lanes say: whether the shadow should take the primary's place.
type Promotion struct {
	Shadow    Lane    `json:"shadow"`
	Primary   Lane    `json:"primary"`
	Wins      int     `json:"wins"`      // the shadow was better
	Losses    int     `json:"losses"`    // the primary was
	Same      int     `json:"same"`      // they agreed
	Undecided int     `json:"undecided"` // they differed, and which was better is unknown
	Low       float64 `json:"low"`       // of the share of decided duels that the shadow wins, at 95 %
	High      float64 `json:"high"`
	Advice    Advice  `json:"advice"`
	Why       string  `json:"why"`
}

// Advice is what evidence speaks for.
type Advice string

// The advices.
const (
	Promote Advice = "promote"
	Keep    Advice = "keep"
	Wait    Advice = "wait" // too little is known
)

func (o *opinions) promotions(least int) []Promotion {
	all := []Promotion{}
	for _, d := range sortedDuels(o.duels) {
		all = append(all, o.duels[d].promotion(d, least))
	}
	return all
}

func (s *score) promotion(d duel, least int) Promotion {
	p := Promotion{Shadow: d.shadow, Primary: d.primary, Wins: s.wins, Losses: s.losses, Same: s.ties,
		Undecided: s.open, Advice: Wait}
	decided := s.wins + s.losses
	p.Low, p.High = wilson(s.wins, decided)
	switch {
	case decided < least:
		p.Why = fmt.Sprintf("%d decided duels, at least %d are needed", decided, least)
	case p.Low > 0.5:
		p.Advice, p.Why = Promote, fmt.Sprintf("it wins %d of %d, surely more than half", s.wins, decided)
	case p.High < 0.5:
		p.Advice, p.Why = Keep, fmt.Sprintf("it wins %d of %d, surely less than half", s.wins, decided)
	default:
		p.Why = fmt.Sprintf("it wins %d of %d, which may be chance", s.wins, decided)
	}
	return p
}

// PassRate is how a lane's answers did by later verdicts.
type PassRate struct {
	Lane    Lane    `json:"lane"`
	Passed  int     `json:"passed"`
	Samples int     `json:"samples"`
	Low     float64 `json:"low"` // of the rate, at 95 %
	High    float64 `json:"high"`
}

func (e *evidence) passRates() []PassRate {
	all := []PassRate{}
	for _, l := range sortedLanes(e.passed) {
		s := e.passed[l]
		p := PassRate{Lane: l, Passed: s.wins, Samples: s.wins + s.losses}
		p.Low, p.High = wilson(p.Passed, p.Samples)
		all = append(all, p)
	}
	return all
}
