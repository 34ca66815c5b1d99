package config

import "time"

// Outcomes are the verdicts on answers from which a specialist's correctness is computed.
type Outcomes struct {
	// Where they are remembered across restarts; empty = not at all.
	File string `yaml:"file"`
	// How often that file is written.
	Interval time.Duration `yaml:"interval" default:"30s" range:"100ms..24h"`
	// Of the tenants that auth.verdicts lets judge, those that do; empty = all. A judge can have a
	// specialist demoted.
	Tenants []string `yaml:"tenants" form:"name"`
	// Kinds of verdicts that are published by a rate of their own, beside that of all answers: in /v1/slo and as the
	// label "kind" of metrics. Verdicts of all further kinds share the rate "other". Default compile, test, review.
	Kinds []string `yaml:"kinds" form:"name"`
	// The gateway's own judge, beside those that call POST /v1/outcomes.
	Verifier Verifier `yaml:"verifier"`
}

// Verifier judges a sample of answers by a command that is run on the code in them, away from the requests. Its
// commands see a toolchain, read-only, and a small file system in memory: no other file, no network, no process. Where
// the system cannot do that nothing is judged, and the log says so at the start.
type Verifier struct {
	// Share of the answers that are judged; 0 = none.
	Sample float64 `yaml:"sample" default:"0" range:"0..1"`
	// Kind that its verdicts are published as.
	Kind string `yaml:"kind" default:"compile" form:"name"`
	// What is run; "{}" stands for the file with the code. It passes when it exits with 0.
	Command []string `yaml:"command"`
	// Fence languages that are code: the others' blocks are not looked at, and an answer without any is not judged.
	Languages []string `yaml:"languages"`
	// Name of the file with the code.
	File string `yaml:"file" default:"answer.cpp" form:"text"`
	// Time one command may take; longer is a failure.
	Timeout time.Duration `yaml:"timeout" default:"10s" range:"10ms..10m"`
	// Memory of each of its processes.
	Memory Size `yaml:"memory" default:"1GiB" range:"16MiB..1TiB"`
	// Largest file it may write, and largest answer that is judged.
	Output Size `yaml:"output" default:"1MiB" range:"1KiB..1GiB"`
	// Paths of the host that it sees, read-only, besides a toolchain in the usual places (/usr/bin, /usr/lib,
	// /usr/include and their like).
	Reads []string `yaml:"reads" form:"path"`
	// Size of the file system in memory that it works in.
	Scratch Size `yaml:"scratch" default:"64MiB" range:"1MiB..16GiB"`
	// Processes that one command may be at once.
	Processes int `yaml:"processes" default:"64" range:"16..4096"`
	// Commands at once; further answers wait.
	Workers int `yaml:"workers" default:"1" range:"1..256"`
	// Answers that wait at most; further ones are not judged.
	Waiting int `yaml:"waiting" default:"64" range:"0..100000"`
}
