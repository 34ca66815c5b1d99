// Package certs is certificates in files that other programs replace while the gateway runs.
//
//	files ──read──▶ Held ──▶ Source: in force ──▶ ServerConfig, ClientConfig: of each new connection
//	          │ other bytes than at the last look: wait for the next one, they may be half written
//	          └ unreadable, no pair, expired beside one that is not: the last good one stays
//
// Invariants:
//
//  1. What is in force was read whole: a certificate with its own key, and authorities of which there is at least one.
//  2. A file is read by its path at each look, so that a symbolic link that is turned, as that of a Kubernetes Secret
//     is, is a change like any other. Bytes decide, not times.
//  3. A connection keeps what was in force at its handshake. Where clients have certificates no session is resumed.
package certs
