package gate

import "octet/kvpool"

// Further is what the further prompts of one request need beside its first. The zero Rest is a request of one prompt.
type Further struct {
	Prompts int
	Tokens  int // of all of them
	Blocks  int // full blocks that no earlier prompt of the request has, each counted once
	Tail    int // tokens behind the full blocks of a prompt: the most of any
}

// shape is what a request puts into the pool: prompts, and sequences that grow behind them.
//
//	prompt  A A A a      full blocks are held once, however many go on from them
//	n = 2         a x    and behind them each sequence has its own
//	              a y
//
// All sequences of a request are taken to be equally long: engines generate them side by side, and give back those
// that are done.
type shape struct {
	prompt  int // tokens of the first prompt
	n       int // sequences of each prompt
	further Further
}

func (r *Request) shape() shape { return shape{r.PromptTokens, max(r.N, 1), r.Further} }

// sequences returns how many the engine runs at once.
func (s *shape) sequences() int { return s.n * (1 + s.further.Prompts) }

// tokens returns the length of all prompts.
func (s *shape) tokens() int { return s.prompt + s.further.Tokens }

// each returns the tokens of one sequence where all of them together have so many, rounded up.
func (s *shape) each(tokens int) int {
	n := s.sequences()
	return (tokens + n - 1) / n
}

// blocks returns what all sequences hold when each of them has so many tokens.
func (s *shape) blocks(p *kvpool.Pool, each int) int {
	if s.sequences() == 1 {
		return p.Blocks(s.prompt + each)
	}
	full := max(s.prompt-1, 0) / p.BlockSize()
	first := full + s.n*p.Blocks(s.prompt-full*p.BlockSize()+each)
	return first + s.further.Blocks + s.n*s.further.Prompts*p.Blocks(s.further.Tail+each)
}

// exceeds reports whether so many blocks hold nowhere near what s has: numbers beyond them are not reckoned with.
// Prompts that share blocks may have more tokens together than the blocks hold, but none may alone.
func (s *shape) exceeds(blocks, size int) bool {
	o, longest := &s.further, blocks*size
	return max(s.prompt, o.Tail) > longest || max(s.n, o.Prompts, o.Blocks) > blocks || o.Tokens/longest > o.Prompts ||
		s.sequences() > blocks
}

// apart returns the tokens of the further prompts that have to be computed: what they share with an earlier one is
// computed once.
func (s *shape) apart(p *kvpool.Pool) int {
	if p == nil {
		return s.further.Tokens
	}
	return min(s.further.Tokens, s.further.Blocks*p.BlockSize()+s.further.Prompts*s.further.Tail)
}
