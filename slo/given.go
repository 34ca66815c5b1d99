package slo

// Given is one verdict as it counted on a Board, for the Boards of other gateways.
type Given struct {
	Verdict
	OfKind   bool // a sample of its kind's rate; else of all answers
	Overturn bool // it makes an answer fail that passed by PassedBy
	PassedBy string
}

// Hear counts a verdict that another gateway's Board was given. Config.Told is not told of it.
func (b *Board) Hear(g Given) {
	now := b.cfg.Now()
	switch {
	case g.OfKind && g.Overturn:
		b.breaker.OverturnKind(g.Verdict, g.PassedBy, now)
	case g.OfKind:
		b.breaker.CountKind(g.Verdict, now)
	case g.Overturn:
		b.breaker.Overturn(g.Verdict, g.PassedBy, now)
	default:
		b.breaker.Count(g.Verdict, now)
	}
}

// give counts a verdict, and tells of it.
func (b *Board) give(g Given) {
	b.Hear(g)
	if b.cfg.Told != nil {
		b.cfg.Told(g)
	}
}
