// Package bearer knows tenants by tokens that an issuer has signed: JWTs of RS256, ES256 or EdDSA.
//
//	token ─▶ remembered? ─▶ header, strictly ─▶ key of its kid and alg ─▶ signature ─▶ iss, aud, exp, nbf ─▶ tenant
//	                                             │ not known: one refresh, waited for
//	                          Run ─▶ JWKS of a URL or a file, bounded; the last good one is kept for a time
//
// Invariants:
//
//  1. A key serves one algorithm, by its own kind: no token chooses what it is verified with. What a header says of
//     keys (jwk, jku, x5u, x5c) is not read, and one that says crit is refused.
//  2. Nothing is asked of the issuer on a request's way, but that a key which is not known has Run ask once, not sooner
//     than UnknownAfter after the last time; a bounded number of requests wait for it, for Timeout at most.
//  3. A token is remembered for one set of keys: another set has it verified again.
//     Forged signatures take half of the processors at most; tokens that are remembered need none.
//  4. What is read of an issuer is bounded: bytes, keys, time; no redirect is followed, no link-local address dialled.
package bearer
