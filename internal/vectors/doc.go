// Package vectors plays the cases of other systems against Octet, for tests. The cases lie outside of the tree, in
// data/vectors of the folder that OCTET_SHARED names, ../shared by default; without it a test is skipped.
//
//		file ──▶ Case ──Given, When──▶ Play ──▶ Got: what Octet does
//		           └────────── then ─────────────┴──▶ compared here
//
//	 1. A Play does not see what its case expects. It returns what Octet did, in the shape of the case's "then".
//	 2. Every leaf of "then" is compared, or the Play names it as an input, as prose, or as a difference on purpose.
//	 3. A comparison counts only if it fails when the expected leaf is another: Run changes each leaf in memory and
//	    compares again.
//	 4. A difference on purpose is there: an answer that became equal is a fault.
package vectors
