package core

// Policy is how a request's tokens are sampled. The scheduler carries it to the engine and never reads it. The zero
// Policy is greedy.
type Policy struct {
	Temperature float64 // 0 takes the likeliest token
	TopP        float64 // of the probability that is sampled from; 0 is all of it, as 1 is
	Seed        uint64  // the same seed draws the same tokens
}
