package field

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// lines takes a head apart at its CRLFs: the first line, the names with their colons, and the values as they stand;
// false is that it is not a whole one, or one that is not to be learnt from.
func lines(head string) (first string, names, values []string, ok bool) {
	text, _, whole := strings.Cut(head, "\r\n\r\n")
	if !whole {
		return "", nil, nil, false
	}
	for i, line := range strings.Split(text, "\r\n") {
		if i == 0 {
			first = line + "\r\n"
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !IsName(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", nil, nil, false
		}
		names, values = append(names, name+":"), append(values, value)
	}
	return first, names, values, true
}

// A head is located when, taken apart, it has the first line and the names of the one that was learnt; and its values
// are found then.
func checkHabit(t *testing.T, learnt, b string) {
	t.Helper()
	var h Habit
	first, names, _, ok := lines(learnt)
	if !ok || strings.ContainsAny(strings.TrimSuffix(first, "\r\n"), "\r\n") {
		return
	}
	for i, name := range names {
		h.Learn(name, uint8(i))
	}
	h.Keep(first)
	want, values := 0, []string(nil)
	if f, n, v, ok := lines(b); ok && f == first && slices.Equal(n, names) && len(n) <= mostCustoms {
		want, values = strings.Index(b, "\r\n\r\n")+4, v
	}
	if got := h.Locate([]byte(b)); got != want {
		t.Fatalf("learnt from %q, %q has a head of %d, want %d", learnt, b, got, want)
	}
	for i, value := range values {
		c := h.Fields()[i]
		if got := b[c.From:c.To]; got != value || c.Kind != uint8(i) {
			t.Errorf("learnt from %q, in %q value %d is %q of kind %d, want %q", learnt, b, i, got, c.Kind, value)
		}
	}
	h.Forget()
	if h.Locate([]byte(b)) != 0 {
		t.Error("something is like what was forgotten")
	}
}

var heads = []string{
	"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: b\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
	"GET / HTTP/1.1\r\nhost: a\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nA: c\r\n\r\nand a body\r\n\r\n",
	"GET / HTTP/1.1\r\nA: c\r\nHost: a\r\n\r\n",
	"GET /x HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\x00\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\tb\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: now\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nDate: then, again\r\n\r\n", "", "\r\n", "\r\n\r\n",
	"GET / HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", 32) + "\r\n",
	"GET / HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", 33) + "\r\n",
}

func TestAHabitLocatesWhatIsLikeIt(t *testing.T) {
	for _, learnt := range heads {
		for _, head := range heads {
			for end := range len(head) + 1 {
				checkHabit(t, learnt, head[:end])
			}
		}
	}
}

func FuzzAHabitLocatesWhatIsLikeIt(f *testing.F) {
	for _, learnt := range heads {
		for _, head := range heads {
			f.Add(learnt, head)
		}
	}
	f.Fuzz(checkHabit)
}

func TestLocatingAllocatesNothing(t *testing.T) {
	var h Habit
	h.Learn("Host:", 1)
	h.Keep("GET / HTTP/1.1\r\n")
	b := bytes.Clone([]byte("GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n"))
	if n := testing.AllocsPerRun(100, func() { h.Locate(b) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
