package main

import (
	"fmt"
	"syscall"
	"time"

	"octet/bench/load"
	"octet/bench/usage"
)

// idle.go has what connections cost that have been answered and wait, and what requests cost beside them.

// mostIdle is how many idle connections are opened, if processes may open so many files.
const mostIdle = 20_000

// idle is mostIdle, or as many as a gateway accepts that leaves as many files for connections to engines.
func idle() int {
	return max(min(mostIdle, files()/2-500), 2)
}

// files is how many files a gateway is to have open at most: what mostIdle and its engines need, or as many as it may.
func files() int {
	const needed = 2*mostIdle + 1000
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return needed
	}
	return int(min(limit.Max, needed))
}

// octetIdle lets one address have as many connections as all have.
func octetIdle(name, binary string) kind {
	bounds := fmt.Sprintf("limits: {%s, connections: %d, connections_per_address: %[2]d}\n", limits, mostIdle+100)
	return octetWith(name, binary, bounds, "")
}

// idleMemory is KiB of resident memory for an idle connection: the slope from few to many.
func idleMemory(b *bench, p *peer) (float64, error) {
	r := ask(p, "template", 1<<10, false)
	few, many := idle()/10, idle()
	sizes := [2]int64{}
	var open []*load.Idle
	defer func() {
		for _, i := range open {
			i.Close()
		}
	}()
	for i, n := range []int{few, many - few} {
		all, err := r.Idle(n)
		if err != nil {
			return 0, err
		}
		open = append(open, all)
		time.Sleep(2 * time.Second) // until what is not needed is given back
		if sizes[i], err = usage.RSS(p.family); err != nil {
			return 0, err
		}
	}
	return float64(sizes[1]-sizes[0]) / 1024 / float64(many-few), nil
}

const besideUnit = "× without idle ones"

// besideIdle is the processor time of a request beside idle connections, × that without them.
func besideIdle(b *bench, p *peer) (float64, error) {
	cost := unaryCPU("template", 1<<10)
	alone, err := cost(b, p)
	if err != nil {
		return 0, err
	}
	all, err := ask(p, "template", 1<<10, false).Idle(idle())
	if err != nil {
		return 0, err
	}
	defer all.Close()
	beside, err := cost(b, p)
	return beside / alone, err
}

// idleRows are those of idle connections in plain HTTP.
func idleRows(octets map[string]string) []row {
	kinds := []kind{nginx()}
	for _, name := range sorted(octets) {
		kinds = append(kinds, octetIdle(name, octets[name]))
	}
	return []row{
		{name: "idle", unit: "KiB RSS/connection", fresh: true, only: kinds, measure: idleMemory},
		{name: "beside-idle", unit: besideUnit, only: kinds, measure: besideIdle},
	}
}
