package trace

import (
	"strings"
	"testing"
)

const soundParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// Issue 22: what is no traceparent counts as none, by W3C's recommendation, and a later version is read as far as this
// one goes.
func TestATraceparentIsReadStrictly(t *testing.T) {
	trace, span := soundParent[3:35], soundParent[36:52]
	for name, c := range map[string]struct {
		parent string
		ok     bool
	}{
		"sound":                            {soundParent, true},
		"not sampled":                      {soundParent[:53] + "00", true},
		"all flags":                        {soundParent[:53] + "ff", true},
		"a later version":                  {"cc" + soundParent[2:], true},
		"a later version says more":        {"cc" + soundParent[2:] + "-what-the-future-says", true},
		"a later version says more, badly": {"cc" + soundParent[2:] + ".what", false},
		"the version that is none":         {"ff" + soundParent[2:], false},
		"this version says more":           {soundParent + "-00", false},
		"empty":                            {"", false},
		"too short":                        {soundParent[:54], false},
		"only dashes":                      {strings.Repeat("-", 55), false},
		"capitals":                         {strings.ToUpper(soundParent), false},
		"a trace of zeros":                 {"00-" + strings.Repeat("0", 32) + "-" + span + "-01", false},
		"a span of zeros":                  {"00-" + trace + "-" + strings.Repeat("0", 16) + "-01", false},
		"a trace that is no number":        {"00-" + strings.Repeat("g", 32) + "-" + span + "-01", false},
		"flags that are no number":         {soundParent[:53] + "0x", false},
		"other dashes":                     {strings.ReplaceAll(soundParent, "-", "_"), false},
		"a blank before":                   {" " + soundParent, false},
		"two of them":                      {soundParent + "," + soundParent, false},
		"very long":                        {soundParent + strings.Repeat("0", 1<<16), false},
		"bytes that are no text":           {"00-\xff\xfe" + soundParent[5:], false},
	} {
		from, ok := Parse(c.parent, "a=b")
		if ok != c.ok || ok && (from.Trace != trace || from.Span.String() != span || from.State != "a=b") ||
			!ok && from != (Context{}) {
			t.Errorf("%s: %+v, %v", name, from, ok)
		}
	}
}

// Issue 22: a tracestate that cannot be carried on is dropped, and the traceparent beside it counts.
func TestATracestateIsCarriedOnOrDropped(t *testing.T) {
	member := "k=" + strings.Repeat("v", 60)
	for state, kept := range map[string]bool{
		"": true, "a=b": true, "a=b, c=d": true, "a=b,,c=d": true, "t@v=1": true,
		"a": false, "=b": false, "a b=c": false, "a=\x00": false, "a=ü": false,
		strings.TrimSuffix(strings.Repeat("a=b,", 32), ","): true,
		strings.Repeat("a=b,", 32) + "c=d":                  false,
		strings.Repeat(member+",", 9):                       false,
	} {
		from, ok := Parse(soundParent, state)
		if !ok || kept != (from.State == state) || !kept && from.State != "" {
			t.Errorf("%q: %q, %v", state, from.State, ok)
		}
	}
}

// FuzzParse holds that what is read can be told again: a Context is what its own traceparent says.
func FuzzParse(f *testing.F) {
	f.Add(soundParent, "a=b")
	f.Add("cc"+soundParent[2:]+"-more", "")
	f.Add("00-\xff", strings.Repeat("a=b,", 40))
	f.Fuzz(func(t *testing.T, parent, state string) {
		from, ok := Parse(parent, state)
		if !ok {
			if from != (Context{}) {
				t.Fatalf("%q is refused, and %+v is kept of it", parent, from)
			}
			return
		}
		if len(from.Trace) != traceSize || strings.Trim(from.Trace, "0") == "" || from.Span == 0 ||
			len(from.State) > maxState || strings.ContainsAny(from.State, "\r\n\x00") {
			t.Fatalf("%q, %q: %+v", parent, state, from)
		}
		again, ok := Parse(from.Parent(from.Span), from.State)
		if !ok || again != from {
			t.Fatalf("%+v is told as %q, and that is %+v", from, from.Parent(from.Span), again)
		}
	})
}
