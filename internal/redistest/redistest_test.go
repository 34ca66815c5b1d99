package redistest

import (
	"strings"
	"testing"
)

func TestARestartKeepsOrForgetsAsAsked(t *testing.T) {
	s := Start(t)
	must := func(want string, words ...string) {
		t.Helper()
		if got, err := s.Do(words...); err != nil || got != want {
			t.Fatalf("%v: %q, %v; want %q", words, got, err, want)
		}
	}
	must("+OK", "SET", "key", "7")
	s.Restart(false)
	must(":1", "EXISTS", "key")
	addr := s.Addr
	s.Restart(true)
	must(":0", "EXISTS", "key")
	if s.Addr != addr {
		t.Errorf("moved from %s to %s", addr, s.Addr)
	}
	s.Kill()
	s.Kill()
	if _, err := s.Do("PING"); err == nil {
		t.Error("answers after Kill")
	}
}

func TestAServerWithAPasswordStartsToo(t *testing.T) {
	s := Start(t, "--requirepass", "secret")
	if got, err := s.Do("PING"); err != nil || !strings.HasPrefix(got, "-NOAUTH") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTwoServersDoNotMeet(t *testing.T) {
	a, b := Start(t), Start(t)
	if _, err := a.Do("SET", "key", "7"); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Do("EXISTS", "key"); err != nil || got != ":0" {
		t.Errorf("%q, %v", got, err)
	}
}

// The CI counts skipped tests by this line.
func TestAMissingServerSkipsTheTest(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	f := &fakeT{TB: t}
	func() {
		defer func() { _ = recover() }() // Skip ends the test that calls it
		Start(f)
	}()
	if f.skipped != "SKIP-REDIS: redis-server not found" {
		t.Errorf("skipped with %q", f.skipped)
	}
}

type fakeT struct {
	testing.TB
	skipped string
}

func (f *fakeT) Helper() {}

func (f *fakeT) Skip(why ...any) {
	f.skipped, _ = why[0].(string)
	panic("skipped")
}
