package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// octet is a build of the gateway, with all that it does for every request switched on: two replicas to choose from,
// their blocks counted, prompts hashed, an index of what was routed where, the scheduler, breakers, windows, receipts,
// metrics.
func octet(name, binary string) kind { return octetWith(name, binary, "", "") }

// octetOnNetHTTP has Go's own server in front of the same gateway.
func octetOnNetHTTP(name, binary string) kind {
	return octetWith(name+"-nethttp", binary, "front: nethttp\n", "")
}

// octetTraced has one request in a hundred traced, which the engine takes beside requests.
func octetTraced(name, binary string) kind {
	return kind{name: name + "-traced", command: func(dir, listen, engine string) ([]string, error) {
		return octetWith("", binary, fmt.Sprintf("tracing: {otlp: \"http://%s/traces\", sample: 0.01}\n", engine), "").
			command(dir, listen, engine)
	}}
}

// octetWith has more top-level sections, and more of a scheduler section.
func octetWith(name, binary, sections, scheduler string) kind {
	return kind{name: name, command: func(dir, listen, engine string) ([]string, error) {
		admin, err := freePort()
		if err != nil {
			return nil, err
		}
		file := filepath.Join(dir, "octet.yaml")
		if err := writeFile(filepath.Join(dir, adminFile), admin); err != nil {
			return nil, err
		}
		return []string{binary, "serve", "--config", file},
			writeFile(file, octetConfig(listen, admin, engine, sections, scheduler))
	}}
}

// octetBefore has replicas with more members.
func octetBefore(name, binary, members string) kind {
	k := octet(name, binary)
	standard := k.command
	k.command = func(dir, listen, engine string) ([]string, error) {
		args, err := standard(dir, listen, engine)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(args[len(args)-1])
		if err != nil {
			return nil, err
		}
		return args, writeFile(args[len(args)-1], strings.ReplaceAll(string(text), "blocks: 65536",
			"blocks: 65536, "+members))
	}
	return k
}

// tokenizerFile has a chat template beside it. Its vocabulary is small, so that a text is more tokens than a model's.
const tokenizerFile = "../engine/bpe/testdata/octet.json"

// octetExact renders and tokenizes what it is asked, for replicas whose cache events would meet it. What it remembers
// of prompts is bounded so that it knows what all begin with, and not how each ends.
func octetExact(name, binary string) kind {
	return kind{name: name, command: func(dir, listen, engine string) ([]string, error) {
		file, err := filepath.Abs(tokenizerFile)
		if err != nil {
			return nil, err
		}
		events, err := freePort()
		if err != nil {
			return nil, err
		}
		sections := fmt.Sprintf("events: {grpc: {listen: %q}}\nlimits: {%s, tokenizer_cache: 2MiB}\n", events, limits)
		k := octetWith(name, binary, sections, "")
		args, err := k.command(dir, listen, engine)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(args[len(args)-1])
		if err != nil {
			return nil, err
		}
		exact := strings.ReplaceAll(string(text), "tokenizer: none",
			fmt.Sprintf("context: 1048576, tokenizer: %q, tokenizer_check: 0", file))
		return args, writeFile(args[len(args)-1], exact)
	}}
}

// octetRated refuses everything but the first request: the tenant's rate.
func octetRated(binary string) kind {
	return octetWith("octet", binary,
		"auth: {anonymous: true, anonymous_limits: {rate: {requests_per_second: 0.001, burst: 1}}}\n", "")
}

// octetFull refuses what finds no place: each of the two replicas has one.
func octetFull(binary string) kind {
	return octetWith("octet", binary, "limits: {"+limits+", max_queue_wait: 0s}\n", "max_running: 1")
}

// profile is cache-aware with room for the streams that are opened.
const profile = `profiles:
  all:
    prepare: [tokenize, block-hashes, prefix-depths]
    filter: [health, role, breaker, adapter, {concurrency: {max: 65536}}]
    score: [{cache-affinity: 3}, {least-load: 1}]
    pick: max-score
`

const limits = "max_streams: 20000, idle_timeout: 10m, ttft_timeout: 10m, drain: 1s"

func octetConfig(listen, admin, engine, sections, scheduler string) string {
	if scheduler == "" {
		scheduler = "max_running: 8192, max_waiting: 8192"
	}
	b := new(strings.Builder)
	fmt.Fprintf(b, "listen: {data: %q, admin: %q}\nadmin: {pprof: true}\n%s", listen, admin, sections)
	if !strings.Contains(sections, "limits:") {
		b.WriteString("limits: {" + limits + "}\n")
	}
	b.WriteString(profile + "specialists:\n")
	for i, name := range []string{"template", "stl", "algo", "memory", "concurrency", "systems", "build", "debug"} {
		fmt.Fprintf(b, "  - {name: %s, tokenizer: none, profile: all, scheduler: {%s}, replicas: [", name, scheduler)
		for j := range 2 {
			fmt.Fprintf(b, "{url: \"http://%s/r%d\", blocks: 65536},", engine, 2*i+j)
		}
		b.WriteString("]}\n")
	}
	return b.String()
}
