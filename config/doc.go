// Package config is the gateway's configuration: types with defaults, a strict load that names every fault, and a watch
// for changes.
//
//	file ──▶ node tree ◀── OCTET_ variables, --set       document.go, overlay*.go
//	             │  walked once along the Go types           keys.go, walk.go, scalar.go, pluginref.go
//	             ▼
//	          Config ──▶ defaults that follow from others    derive.go
//	             │
//	             ▼
//	          checks across keys ──▶ Config, or *Faults      check*.go, faults.go
//
// Invariants:
//
//  1. Load and Parse return either a Config without faults or a *Faults with all of them, in file order, never a part.
//  2. A fault's path is exact: the keys and indices that lead to it, specialists[2].replicas[0].url.
//  3. Nothing is guessed: unknown keys, keys that come twice, values of another type, numbers out of range and
//     variables that are not set are faults.
//  4. A load costs at most 1 MiB of text and 50,000 nodes with aliases expanded, whatever is in the file.
//  5. Every key has a tag with its default and bounds; the schema is generated from them, and reference.yaml shows it.
//  6. The package has no state, and of the rooms that serve it sees only the table of engine kinds: what others know by
//     name comes in through Options.
package config
