package kvpool

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

const modelBits = 12

// modelStep is step on numbers of so few bits that collisions can be counted.
func modelStep(s, content uint) uint {
	s ^= content
	s = (s<<5 | s>>(modelBits-5)) * 5
	return s & (1<<modelBits - 1)
}

// Blocks that change places at any distance, runs of one block, and two blocks in the order of Thue and Morse and in
// the opposite order: what makes a polynomial modulo a power of two collide is as rare as chance.
func TestStepsOfAModelCollideByChance(t *testing.T) {
	const rounds, length = 1 << 15, 256
	rng := rand.New(rand.NewPCG(9, 10))
	var swapped, returned, opposite [length]int
	for range rounds {
		pick := func() uint { return uint(rng.Uint32()) % (1 << modelBits) }
		start, a, b, between := pick(), pick(), pick(), pick()
		run, x, y, p, q := start, modelStep(start, a), modelStep(start, b), start, start
		for i := range length {
			if run = modelStep(run, a); run == start {
				returned[i]++
			}
			if modelStep(x, b) == modelStep(y, a) {
				swapped[i]++
			}
			x, y = modelStep(x, between), modelStep(y, between)
			first, second := a, b
			if bits.OnesCount(uint(i))%2 == 1 {
				first, second = b, a
			}
			if p, q = modelStep(p, first), modelStep(q, second); p == q {
				opposite[i]++
			}
		}
	}
	const chance = rounds >> modelBits
	for i := range length {
		divisors := 0 // of i+1: a random permutation has a cycle of each of these lengths with the same chance
		for d := 1; d <= i+1; d++ {
			if (i+1)%d == 0 {
				divisors++
			}
		}
		// Where a is b, in one of 2^12 cases, swapped and opposite are no other blocks.
		if swapped[i] > 6*chance || opposite[i] > 6*chance || returned[i] > 4*chance*divisors+3*chance {
			t.Errorf("after %d blocks: %d swapped, %d opposite, %d returned collide; %d are chance", i+1, swapped[i],
				opposite[i], returned[i], chance)
		}
	}
}
