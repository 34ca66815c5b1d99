package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// tally counts how questions ended.
type tally struct {
	mu     sync.Mutex
	kills  int
	ends   map[string]int // by kind of question and end
	faults []string
}

func newTally() *tally { return &tally{ends: map[string]int{}} }

func (t *tally) killed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kills++
}

func (t *tally) fault(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, what)
}

// deaths are the codes by which an answer ends because of its engine.
var deaths = []string{"upstream_reset", "upstream_timeout", "upstream_protocol_error", "internal_error"}

// count adds one question's end. A stream of a kind that can go on, ended by its engine's death, is a fault; so is any
// request that no engine had begun to answer.
func (t *tally) count(q *question, o outcome) {
	kind := "unary"
	if q.stream {
		kind = "stream"
	}
	if q.resumable {
		kind += ", can go on"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ends[kind+": "+o.end]++
	died := slices.Contains(deaths, o.end)
	if died && q.stream && (q.resumable || !o.begun) {
		o.wrong = strings.TrimSpace(o.wrong + " an engine's death ended it: " + o.end)
	}
	if o.wrong != "" {
		t.faults = append(t.faults, fmt.Sprintf("%s (%s): %s", q.id, kind, o.wrong))
	}
}

func (t *tally) print(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(w, "engines killed: %d\n", t.kills)
	for _, end := range slices.Sorted(maps.Keys(t.ends)) {
		fmt.Fprintf(w, "%8d  %s\n", t.ends[end], end)
	}
}

// verdict returns an error that names the first faults, or nil.
func (t *tally) verdict() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.faults) == 0 {
		return nil
	}
	return fmt.Errorf("%d faults:\n%s", len(t.faults), strings.Join(t.faults[:min(len(t.faults), 40)], "\n"))
}
