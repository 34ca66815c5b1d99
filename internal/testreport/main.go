// Command testreport reads `go test -json` and prints what a person wants to see of it: failures with their output,
// and tests that had not ended when their package failed with theirs; a line for each package, and one count of skipped
// tests by reason. With OCTET_REQUIRE_REDIS set, a test that was skipped for want of redis-server is a failure.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

type report struct {
	output                  map[string][]string // by package and test
	passed, failed, skipped int
	reasons                 map[string]int
}

func main() {
	r := report{output: map[string][]string{}, reasons: map[string]int{}}
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	os.Exit(r.close())
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Println(lines.Text()) // go itself speaks: a build that failed
			continue
		}
		r.see(e)
	}
	return lines.Err()
}

func (r *report) see(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		r.output[key] = append(r.output[key], e.Output)
	case "pass":
		r.end(e, key, &r.passed)
	case "skip":
		if e.Test != "" {
			r.reasons[reason(r.output[key])]++
		}
		r.end(e, key, &r.skipped)
	case "fail", "build-fail":
		fmt.Printf("--- FAIL %s\n%s", key, strings.Join(r.output[key], ""))
		r.end(e, key, &r.failed)
	}
}

// end counts a test, or closes a package's line.
func (r *report) end(e event, key string, count *int) {
	if e.Test != "" || e.Action == "build-fail" {
		*count++
	} else {
		if e.Action == "fail" {
			r.failed++
			r.unended(e.Package)
		}
		fmt.Printf("%-5s %s %.1fs\n", e.Action, e.Package, e.Elapsed)
	}
	delete(r.output, key)
}

// unended prints what tests of a package wrote that have no end: one that ran into a time limit, or ended the process.
func (r *report) unended(pkg string) {
	for _, key := range slices.Sorted(maps.Keys(r.output)) {
		if test, ok := strings.CutPrefix(key, pkg+" "); ok && test != "" {
			fmt.Printf("--- NO END %s\n%s", key, strings.Join(r.output[key], ""))
			r.failed++
			delete(r.output, key)
		}
	}
}

// reason is the message of a skipped test.
func reason(output []string) string {
	for _, line := range output {
		if _, why, ok := strings.Cut(strings.TrimSpace(line), ".go:"); ok {
			_, why, _ = strings.Cut(why, " ")
			return why
		}
	}
	return "no reason given"
}

// missesRedis says whether tests were skipped that must not be.
func (r *report) missesRedis() bool {
	return os.Getenv("OCTET_REQUIRE_REDIS") != "" &&
		slices.ContainsFunc(slices.Collect(maps.Keys(r.reasons)), func(why string) bool {
			return strings.HasPrefix(why, "SKIP-REDIS")
		})
}

// close prints the counts and returns the exit code.
func (r *report) close() int {
	for _, why := range slices.Sorted(maps.Keys(r.reasons)) {
		fmt.Printf("SKIPPED %d: %s\n", r.reasons[why], why)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	if r.failed > 0 || r.missesRedis() {
		return 1
	}
	return 0
}
