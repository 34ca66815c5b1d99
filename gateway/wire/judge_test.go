package wire

import (
	"errors"
	"fmt"
	"testing"
)

// FuzzJudge holds a reader that goes into every value, and one that stops somewhere, against Check: nothing passes that
// is not strict, a fault of the syntax comes ahead of the reader's own error, and what was read stands there when it is
// read again.
func FuzzJudge(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), 3)
	}
	f.Add([]byte(`[[["a"],"b"],{"\n":"c\"\\","\ud83d\ude00" : true}]`), 5)
	f.Fuzz(func(t *testing.T, body []byte, stop int) {
		want := fmt.Sprint(Check(body, 64))
		type value struct {
			at  int
			raw string
		}
		var values []value
		if err := Judge(body, 64, func(c *Cursor) error {
			return eachValue(c, func(at int, raw []byte) error {
				values = append(values, value{at, string(raw)})
				return nil
			})
		}); fmt.Sprint(err) != want {
			t.Fatalf("%v, where everything is passed over: %s", err, want)
		}
		if want == "<nil>" {
			for _, v := range values {
				c := Again(&body, v.at)
				if at, raw := c.Value(); at != v.at || string(raw) != v.raw || !c.Sound() {
					t.Fatalf("%q at %d, read again %q at %d", v.raw, v.at, raw, at)
				}
			}
			want = fmt.Sprint(errStopped)
		}
		left := max(stop, 0) % (len(values) + 1)
		if err := Judge(body, 64, func(c *Cursor) error {
			if err := eachValue(c, func(int, []byte) error {
				if left--; left < 0 {
					return errStopped
				}
				return nil
			}); err != nil {
				return err
			}
			return errStopped
		}); fmt.Sprint(err) != want {
			t.Fatalf("%v of a reader that stops: %s", err, want)
		}
	})
}

var errStopped = errors.New("stopped")

// eachValue calls f with every value that c comes to, innermost first.
func eachValue(c *Cursor, f func(at int, raw []byte) error) error {
	kind := c.Peek()
	at := c.Offset()
	if kind == '{' || kind == '[' {
		c.Enter(kind)
		for more := moreOf(c, kind); more; more = moreOf(c, kind) {
			if err := eachValue(c, f); err != nil {
				return err
			}
		}
	} else {
		c.Skip()
	}
	return f(at, (*c.Text())[at:c.Offset()])
}

func moreOf(c *Cursor, kind byte) bool {
	if kind == '[' {
		return c.More()
	}
	_, ok := c.Key()
	return ok
}
