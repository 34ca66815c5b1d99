package await

import (
	"testing"
	"testing/synctest"
	"time"
)

// failed notes the failure of a test that it stands for.
type failed struct {
	testing.TB
	text string
}

func (f *failed) Helper() {}

func (f *failed) Fatalf(text string, _ ...any) {
	f.text = text
	panic(f)
}

func TestAConditionThatComesTrueIsWaitedForAndOneThatDoesNotEndsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		True(t, "a second is over", func() bool { return time.Since(began) >= time.Second })
		f := &failed{TB: t}
		func() {
			defer func() { _ = recover() }()
			True(f, "pigs fly", func() bool { return false })
		}()
		if f.text == "" || time.Since(began) < patience {
			t.Errorf("%q after %v", f.text, time.Since(began))
		}
	})
}
