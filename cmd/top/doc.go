// Package top is the live view of a gateway in a terminal.
//
//	admin listener ──▶ Poll ──▶ Reading ─┐
//	keys, size, ticks ───────────────────┴▶ Model.Update ──▶ Model.Frame ──▶ terminal; Once: plain text
//	                                            └ effects: poll, drain, fetch a receipt, watch decisions
//
// 1. Model and frame are pure: they ask no clock, no terminal and no gateway. program.go alone does.
// 2. One poll is under way at a time. The pause after it is ten times what it took, a second at the least.
// 3. What a gateway says is text of others: clean makes it harmless before it is part of a frame.
// 4. A frame is as wide and high as the terminal, never larger. Colour is always beside a word that says the same.
// 5. A drain is sent for the replica that was asked about, after a yes.
package top
