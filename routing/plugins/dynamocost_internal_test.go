package plugins

import (
	"math"
	"testing"
)

// The numbers are Dynamo's own, from its documents and from the tests of its selector; its active_prefill_tokens 16 are
// a backlog of one block.
//
// DYN-01, DYN-05
func TestDynamoCostIsDynamosCost(t *testing.T) {
	seed := dynamoTerms{prefill: 1, credit: 1, host: 1, disk: 1, backlog: true}
	with := func(change func(*dynamoTerms)) dynamoTerms {
		terms := seed
		change(&terms)
		return terms
	}
	for name, test := range map[string]struct {
		terms dynamoTerms
		w     worker
		want  float64
	}{
		"8 to compute, 10 to hold": {seed, worker{prompt: 8, decode: 10}, 18},
		"5 to compute, 5 to hold":  {seed, worker{prompt: 8, held: 3, decode: 5}, 10},
		"2 to compute, 9 to hold":  {seed, worker{prompt: 8, held: 6, decode: 9}, 11},
		"more held than asked for": {with(func(d *dynamoTerms) { d.prefill = 2 }),
			worker{prompt: 4, held: 6, backlog: 1, decode: 5}, 7},
		"prefill not tracked": {with(func(d *dynamoTerms) { d.prefill, d.backlog = 2, false }),
			worker{prompt: 4, held: 6, backlog: 1, decode: 5}, 5},
		"requests cost nothing": {seed, worker{decode: 100, requests: 4}, 100},
		"requests cost 32 each": {with(func(d *dynamoTerms) { d.requests = 32 }), worker{decode: 100, requests: 4},
			228},
		"a warm one": {seed, worker{prompt: 8, held: 4, decode: 5}, 9},
		"a warm one, more credit": {with(func(d *dynamoTerms) { d.credit, d.host, d.disk = 1.5, 1.5, 1.5 }),
			worker{prompt: 8, held: 4, decode: 5}, 7},
		"a cold one": {seed, worker{prompt: 8}, 8},
		"two blocks in slow tiers": {with(func(d *dynamoTerms) { d.host, d.disk = 0.75, 0.25 }),
			worker{prompt: 8, held: 4, cpu: 1, ssd: 1, decode: 5}, 10},
		"credit without decay": {seed, worker{prompt: 4, held: 4, backlog: 3, excess: 3}, 3},
		"credit that decays": {with(func(d *dynamoTerms) { d.decay = 1 }),
			worker{prompt: 4, held: 4, backlog: 3, excess: 3}, 7 - 4/1.75},
		"scale after credit": {with(func(d *dynamoTerms) { d.prefill = 2 }),
			worker{prompt: 4, held: 2, decode: 3}, 7},
		"scale of a cold one": {with(func(d *dynamoTerms) { d.prefill = 2 }), worker{prompt: 4}, 8},
	} {
		if got := test.terms.cost(test.w); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", name, got, test.want)
		}
	}
}
