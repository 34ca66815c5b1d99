// Command soak serves mixed traffic through the real gateway while its engines are killed, and checks every token.
//
//	program  gateway (octet serve) ── HTTP ──▶ seven engines (octet engine), one killed every -kill, back two s later
//	clients  streams and unary answers; chats, completions, lists of prompts, token ids, n > 1, adapters, tenants,
//	         sessions,
//	         deadlines, clients that leave
//
// The engines number their tokens, ⟦request:index⟧, so that each answer tells what was lost, repeated or foreign.
//
// What it demands:
//
//  1. Every answer ends whole, or with one typed error; a stream with an error holds a prefix of what it should say.
//  2. No stream of a kind that can go on elsewhere ends because its engine died.
//  3. No answer has more tokens than were asked for, or a token that is not its own.
//  4. When all is over the ledgers are at their baseline, and SIGTERM ends the gateway with 0.
package main
