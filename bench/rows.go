package main

import "slices"

// longPrompt is about a hundred thousand tokens of a model's, in bytes.
const longPrompt = 400 << 10

// rows are the figures, in the order of the table. extra are Octet's and nginx's for what only they do.
func rows(octets map[string]string, id identity) []row {
	full, rated := make([]kind, 0, len(octets)), make([]kind, 0, len(octets)+1)
	for _, name := range sorted(octets) {
		f, r := octetFull(octets[name]), octetRated(octets[name])
		f.name, r.name = name, name
		full, rated = append(full, f), append(rated, r)
	}
	rated = append(rated, nginxLimited())
	own, exact := make([]kind, 0, len(octets)), make([]kind, 0, len(octets))
	for _, name := range sorted(octets) {
		own = append(own, octet(name, octets[name]))
		exact = append(exact, octetExact(name, octets[name]))
	}
	var vllm, native []kind
	for _, name := range sorted(octets) {
		vllm = append(vllm, octetBefore(name, octets[name], "engine: vllm"))
		native = append(native, octetBefore(name, octets[name], "engine: vllm, doors: [messages]"))
	}
	const cpu = "µs CPU/request"
	all := []row{
		{name: "unary-1k", unit: cpu, floor: 1.5, aim: 1.15, measure: unaryCPU("template", 1<<10)},
		{name: "unary-16k", unit: cpu, floor: 1.3, aim: 1.0, measure: unaryCPU("template", 16<<10)},
		{name: "unary-64k", unit: cpu, floor: 1.3, aim: 1.0, measure: unaryCPU("template", 64<<10)},
		{name: "classified-1k", unit: cpu, only: own, measure: unaryCPU("octet", 1<<10)},
		{name: "classified-16k", unit: cpu, only: own, measure: unaryCPU("octet", 16<<10)},
		{name: "talk-64k", unit: cpu, only: own, measure: talkCPU},
		{name: "exact-64k", unit: cpu, only: exact, measure: talkCPU},
		{name: "rate-1k", unit: "requests/s", more: true, measure: requestRate},
		{name: "added-p50", unit: "µs", measure: latency(1<<10, 0.50)},
		{name: "added-p99", unit: "µs", measure: latency(1<<10, 0.99)},
		{name: "long", unit: cpu, only: own, measure: unaryCPU("template", longPrompt)},
		{name: "exact-long", unit: cpu, only: exact, measure: unaryCPU("template", longPrompt)},
		{name: "long-p99", unit: "µs", only: own, measure: latency(longPrompt, 0.99)},
		{name: "exact-long-p99", unit: "µs", only: exact, measure: latency(longPrompt, 0.99)},
		{name: "sse-paced", unit: "µs CPU/event", floor: 1.1, aim: 0.9, measure: pacedCPU},
		{name: "sse-burst", unit: "µs CPU/event", floor: 1.4, aim: 1.1, measure: burstCPU},
		{name: "open-stream", unit: "KiB RSS/stream", fresh: true, measure: streamMemory},
		{name: "refused-rate", unit: "429s/s/core", more: true, only: rated, measure: refusals(0)},
		{name: "refused-full", unit: "429s/s/core", more: true, only: full, measure: refusals(2)},
		watchedRow(own),
	}
	return slices.Concat(all, doorRows(own, native), agentRows(own, vllm), secureRows(octets, id), idleRows(octets))
}
