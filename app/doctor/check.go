package doctor

import (
	"fmt"

	"octet/gateway/api"
)

// The states of a finding.
const (
	Pass = "pass"
	Warn = "warn" // it works, and worse than it could
	Fail = "fail"
)

// Check is one thing that is looked at. docs/doctor.md has a row for each.
type Check struct {
	Name    string
	Seen    string // what is looked at
	Means   string // what is wrong if it is not as expected
	Cure    string // in general; a finding says it in particular
	Offline bool   // it says something of a replica whose engine cannot be reached, too
	// a gateway logs what it finds when an engine is there first, and logs nothing else of it then
	AtConnect bool
	Look      func(*Facts) Verdict
}

// SharedCheck is a Check of what all replicas share.
type SharedCheck struct {
	Name, Seen, Means, Cure string
	Look                    func(*Shared) []Named
}

// Verdict is what a Check says. The zero Verdict says nothing.
type Verdict struct{ Status, Detail, Cure string }

// Named is a Verdict on one of the things that replicas share.
type Named struct {
	Of string
	Verdict
}

func pass(format string, args ...any) Verdict { return Verdict{Pass, fmt.Sprintf(format, args...), ""} }

func warn(cure, format string, args ...any) Verdict {
	return Verdict{Warn, fmt.Sprintf(format, args...), cure}
}

func fail(cure, format string, args ...any) Verdict {
	return Verdict{Fail, fmt.Sprintf(format, args...), cure}
}

// unasked is a Verdict on what could not be asked, where that does not matter.
func unasked(why string) Verdict { return pass("not offered: %s", why) }

// judge returns what all checks say of one replica.
func judge(f *Facts) (all []api.Finding) {
	for i := range Checks {
		c := &Checks[i]
		if f.Reach != nil && !c.Offline {
			continue // why is told by the first of them
		}
		if v := c.Look(f); v.Status != "" {
			all = append(all, finding(c.Name, f.Replica.Name, v))
		}
	}
	return all
}

// judgeShared returns what all checks say of what replicas share.
func judgeShared(s *Shared) (all []api.Finding) {
	for i := range SharedChecks {
		for _, v := range SharedChecks[i].Look(s) {
			all = append(all, finding(SharedChecks[i].Name, v.Of, v.Verdict))
		}
	}
	return all
}

func finding(check, of string, v Verdict) api.Finding {
	return api.Finding{Check: check, Replica: of, Status: v.Status, Detail: line(v.Detail), Cure: line(v.Cure)}
}

// maxText bounds a detail or a cure, in bytes: both may hold words of engines.
const maxText = 600

// line returns text as one line without control characters, of maxText at most.
func line(text string) string {
	out := []rune{}
	for _, r := range text[:min(len(text), maxText)] {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
