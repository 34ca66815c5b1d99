// Package ringfile is a bounded ring of records in one file, found by their keys: the newest ones, over restarts.
//
//	┌ head ┬─ segment 0 ──────────────────┬─ segment 1 ─────┬─ … ┐     head      magic
//	│      │ start │ record │ record │ …  │ start │ record │ │    │     start     magic, lap, CRC
//	└──────┴──────────────────────────────┴─────────────────┴────┘     record    length, CRC over lap and text, text
//
// 1. The file is at most as large as it was opened for. When a segment is full, the oldest one is written over.
// 2. A record is there whole or not at all: what was torn by a crash, cut off, or left by an earlier lap has another
// CRC, and ends its segment for readers.
// 3. What is not a ring file is not written to. One process at a time has a file open.
// 4. Append is for one goroutine. Find is for any, and takes no lock while it reads the file.
package ringfile
