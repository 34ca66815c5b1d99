package main

import (
	"fmt"
	"io"
	"strings"
)

// sums are what became of the streams.
type sums struct {
	complete, equal, continued int
	// texts that go beyond the undisturbed one, that lack its end, and that say something else
	longer, shorter, other int
	usages                 int // that are the undisturbed answer's
	distinct               map[string]bool
}

// compare prints what became of the streams, and returns an error unless each is whole and equal to the undisturbed
// one, in text and usage.
func compare(out io.Writer, o options, want, got []answer) error {
	s := sums{distinct: map[string]bool{}}
	for i := range want {
		if o.temperature > 0 {
			want[i].text, want[i].completion = got[i].text, got[i].completion
		}
		s.add(want[i], got[i])
		if a := got[i]; !a.done || a.wrong != "" {
			fmt.Fprintf(out, "stream %d ended after %d bytes: %s\n", i, len(a.text), a.wrong)
		}
		if w, a := want[i], got[i]; a.done && (a.prompt != w.prompt || a.completion != w.completion) {
			fmt.Fprintf(out, "stream %d: usage %d for %d, undisturbed %d for %d\n", i, a.completion, a.prompt,
				w.completion, w.prompt)
		}
	}
	for i := range want {
		if at := differsAt(want[i].text, got[i].text); at >= 0 && got[i].done {
			fmt.Fprintf(out, "stream %d differs after %d of %d bytes, %q: %q instead of %q\n", i, at, len(want[i].text),
				near(want[i].text, at-30, at), near(got[i].text, at, at+30), near(want[i].text, at, at+30))
		}
	}
	fmt.Fprintf(
		out,
		"%d %s of %d tokens, %d distinct texts: %d complete, %d of them went on elsewhere, %d equal; %d longer, %d "+
			"shorter, %d others; %d usages right\n",
		len(want), o.kind, o.tokens, len(s.distinct), s.complete, s.continued, s.equal, s.longer, s.shorter, s.other,
		s.usages)
	switch n := len(want); {
	case s.continued == 0:
		return fmt.Errorf("no stream went on elsewhere")
	case s.complete != n || s.equal != n || s.usages != n:
		return fmt.Errorf("of %d streams %d complete, %d equal, %d usages right", n, s.complete, s.equal, s.usages)
	}
	return nil
}

// differsAt is where two texts begin to differ, -1 where they do not.
func differsAt(a, b string) int {
	if a == b {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func near(s string, from, to int) string { return s[min(max(from, 0), len(s)):min(max(to, 0), len(s))] }

func (s *sums) add(want, got answer) {
	s.distinct[want.text] = true
	if got.continued > 0 {
		s.continued++
	}
	if got.done && got.wrong == "" {
		s.complete++
		if got.prompt == want.prompt && got.completion == want.completion {
			s.usages++
		}
	}
	switch {
	case got.text == want.text:
		s.equal++
	case strings.HasPrefix(got.text, want.text):
		s.longer++
	case strings.HasPrefix(want.text, got.text):
		s.shorter++
	default:
		s.other++
	}
}
