package config

// Receipts is where receipts are kept besides memory. The section takes effect at the next start only.
type Receipts struct {
	// A local file that keeps the newest of them over restarts, for operators and for their own keys, as far as
	// file_bytes goes; empty = none. One gateway at a time has it open. It holds what receipts in memory do: no text of
	// prompts or answers.
	File string `yaml:"file"`
	// The most that the file is; the oldest receipts are written over.
	FileBytes Size `yaml:"file_bytes" default:"256MiB" range:"4MiB..1TiB"`
	// Receipts that wait to be written; further ones are not in the file, and are counted.
	Queue int `yaml:"queue" default:"1024" range:"1..1000000"`
}
