// Package tiny is a language model that really computes: a transformer of three layers with random weights, whose keys
// and values live in the physical blocks of a paged cache and are read through a sequence's block table and in no other
// way. It knows nothing, but what it says follows from every token that it was told. So a block that was shared
// wrongly, recycled too early or not computed changes what is said, and the same words come out however the work was
// cut up.
//
//	token id ─▶ embedding ─▶ [ norm ▶ attention ▶ + ▶ norm ▶ MLP ▶ + ] × 3 ─▶ norm ▶ logits ▶ sample ─▶ token id
//	            (two rows      q, v: W + LoRA        (a hybrid's second layer                  (of the vocabulary;
//	             by hash)      rotary positions       has an SSM for its attention)             the first of equals)
//	                           grouped queries,
//	                           less for distance
//	                             │ write      ▲ read positions 0 … at
//	                             ▼            │
//	                     table ─▶ blocks of keys, values, token ids [, SSM states]
//
// The state of an SSM is one for a sequence, however long, but it is kept beside the blocks: at the end of each full
// one, so that a shared prefix brings it along; and within the last, for the few positions at which the next step may
// begin. A [Snapshot] carries a sequence through host memory.
//
// Invariants:
//
//  1. The arithmetic of a position is float32 in one fixed order, whatever else is computed in the step: the bits that
//     come out depend on the tokens up to there and the adapter alone. No product is fused into a sum. [Model.Answer]
//     gives the same bits from plain slices. Another CPU architecture may round exponentials otherwise.
//  2. What a position reads was written by it or before it, through the same table. Drafts that are not accepted are
//     written too, and overwritten before they can be read.
//  3. A step may be computed again, from the same start: nothing that it needs is lost by the first time.
package tiny
