package routing

// LoadJudge is a Scorer or a Picker that compares replicas by their load alone.
type LoadJudge interface{ JudgesLoad() }

// ScoreRanker is a Picker that ranks by score alone, without chance.
type ScoreRanker interface{ RanksByScore() }

// ByLoad returns true if the profile picks by the replicas' load alone: its picker does so by itself, or takes the best
// of the only scorer, which does.
func (p *Profile) ByLoad() bool {
	if _, ok := p.picker.Picker.(LoadJudge); ok {
		return true
	}
	if _, ok := p.picker.Picker.(ScoreRanker); !ok || len(p.scorers) != 1 {
		return false
	}
	_, ok := p.scorers[0].Scorer.(LoadJudge)
	return ok
}
