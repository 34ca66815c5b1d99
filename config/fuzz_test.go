package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Whatever the file and the overrides: a whole Config, or faults in file order, each on one line; never a panic.
func FuzzParse(f *testing.F) {
	f.Add(string(Example()), "limits.drain=1s")
	f.Add(layered, "specialists[0].replicas[1].url=http://h:9")
	f.Add(small+"profiles: {mine: {score: [{a: {weight: 1}}], pick: x}}", "profiles.mine.pick=y")
	f.Add("a: &a [*a, {<<: *a}]", "a[0].b=~")
	f.Add(small+"admin: {token: \"${A}${\"}", "admin.token='")
	f.Add("? {a: b}\n: !!binary x\n---\n", "a.b.c[0][1]=<<")
	f.Add("specialists: [&s {name: s, replicas: [{url: http://h}]}, *s, {<<: [*s]}]", "specialists[1].name=t")
	f.Fuzz(func(t *testing.T, text, set string) {
		c, err := Parse("fuzz", []byte(text),
			Options{Sets: []string{set}, Environ: []string{"A=b", "OCTET_" + set}, Presets: presets})
		if err == nil {
			if len(c.Specialists) == 0 || c.Router.Fallback == "" || len(c.Specialists[0].Replicas) == 0 {
				t.Fatalf("not whole: %+v", c)
			}
			return
		}
		var faults *Faults
		if !errors.As(err, &faults) || len(faults.List) == 0 || c != nil {
			t.Fatalf("%T", err)
		}
		if n := strings.Count(faults.Error(), "\n"); n != len(faults.List)-1 {
			t.Fatalf("%d lines for %d faults: %q", n+1, len(faults.List), faults.Error())
		}
		inFile := slices.DeleteFunc(slices.Clone(faults.List), func(f Fault) bool { return f.Line == 0 })
		if !slices.IsSortedFunc(inFile, func(a, b Fault) int { return a.Line - b.Line }) {
			t.Fatalf("out of order: %v", err)
		}
	})
}
