// Package doorstest judges the streams of doors by the grammar that the official clients read, independent of what
// writes them.
//
//	bytes ──frames──▶ events ──Messages | Responses | Chat: a state machine──▶ Said, or the first event out of order
//
// What an event may follow is what every client of the surface accepts: the Go client's accumulator is asked in the
// tests; Python's and TypeScript's refuse an event before the first one, and a piece of what has not begun.
//
//	Messages   start (block_start delta* block_stop)* message_delta+ stop      blocks may overlap; ping anywhere
//	Responses  created in_progress? (added part* done)* completed              items may overlap
//	both       error, in place of any event but the first; nothing follows on it
package doorstest
