package wire

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// hostile are bodies made to be dear.
var hostile = sync.OnceValue(func() map[string][]byte {
	keys := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	text := func(s string) string { return `{"messages":[{"role":"user","content":"` + s + `"}]}` }
	return map[string][]byte{
		"100k members":        []byte(user("," + keys(`"%d":0,`, 100_000))),
		"30k escaped members": []byte(user("," + keys(`"\u0061%d":0,`, 30_000))),
		"nested 30k members": []byte(user(`,"x":[{` + keys(`"%d":0,`, 15_000) + `},{` + keys(`"%d":0,`,
			15_000) + `}]`)),
		"objects of nine": []byte(user(`,"x":[` + keys(`{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":%d},`,
			3_000) + `]`)),
		"empty objects":  []byte(user(`,"x":[` + strings.Repeat(`{},`, 30_000) + `0]`)),
		"deep arrays":    []byte(strings.Repeat("[", 1<<18)),
		"deep objects":   []byte(strings.Repeat(`{"a":`, 1<<16)),
		"long escapes":   []byte(text(strings.Repeat(`\u00e9`, 50_000))),
		"backslashes":    []byte(text(strings.Repeat(`\\`, 150_000))),
		"wrong messages": []byte(`{"messages":[` + strings.Repeat(`0,`, 150_000) + `0]}`),
		"empty parts": []byte(`{"messages":[{"role":"user","content":[` + strings.Repeat(`{},`,
			80_000) + `{}]}]}`),
		"empty snippets": []byte(user(`,"repo_snippets":[` + strings.Repeat(`"",`, 80_000) + `""]`)),
		"tokens":         []byte(`{"prompt":[` + strings.Repeat(`0,`, 150_000) + `0]}`),
		"escapes":        []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat(`\/`, 1<<18) + `"}]}`),
		"empty calls": []byte(`{"messages":[{"role":"assistant","content":"","tool_calls":[` +
			strings.Repeat(`0,`, 100_000) + `0]}]}`),
		"escaped tools": []byte(user(`,"tools":[{"x":"` + strings.Repeat(`\u0061`, 50_000) + `"}]`)),
		"long number":   []byte(user(`,"temperature":0.` + strings.Repeat("0", 1<<18))),
		"long model":    []byte(user(`,"model":"` + strings.Repeat("m", 1<<18) + `"`)),
		"long name":     []byte(user(`,"` + strings.Repeat("M", 1<<18) + `":1`)),
	}
})

func TestMemoryIsASmallMultipleOfAnyBody(t *testing.T) {
	const most = 16
	for name, body := range hostile() {
		kind := Chat
		if name == "tokens" {
			kind = Completion
		}
		var r Request
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := Parse(kind, body, Limits{}, &r); err == nil {
			r.EachMessage(func(string, []byte) {})
			r.Wording(nil, testFrames, Shown{})
		}
		runtime.ReadMemStats(&after)
		if times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(body)); times > most {
			t.Errorf("%s: %.1f bytes allocated for each byte of %d", name, times, len(body))
		}
	}
}

func TestManyMembersCostFewProbesEach(t *testing.T) {
	for name, least := range map[string]int{"100k members": 100_000, "30k escaped members": 30_000,
		"nested 30k members": 30_000, "objects of nine": 27_000} {
		r := mustParse(t, Chat, string(hostile()[name]))
		k := &r.p.names
		probes := 0
		for i, s := range k.slots {
			if s.large != 0 {
				home := k.home(r.p.bytes(s.name), s.large)
				probes += (i-home)&(len(k.slots)-1) + 1
			}
		}
		if k.used < least || probes > 4*k.used {
			t.Errorf("%s: %d members took %d probes", name, k.used, probes)
		}
	}
}

func TestARepeatedMemberIsFoundAmongMany(t *testing.T) {
	var r Request
	for _, n := range []int{1, fewKeys - 1, fewKeys, fewKeys + 1, 100, 10_000} {
		for _, again := range []int{0, n / 2, n - 1} {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, `,"k%d":{"k%d":0}`, i, i)
			}
			mustParse(t, Chat, user(b.String()))
			body := user(fmt.Sprintf(`%s,"k%d":0`, b.String(), again))
			if e := asError(t, Parse(Chat, []byte(body), Limits{}, &r)); e.Code != CodeDuplicateKey {
				t.Errorf("k%d again after %d: %v", again, n, e)
			}
		}
	}
}

func TestAResetRequestKeepsOnlyModestBuffers(t *testing.T) {
	var r Request
	for _, body := range hostile() {
		if Parse(Chat, body, Limits{}, &r) == nil {
			r.EachMessage(func(string, []byte) {})
			r.Wording(nil, testFrames, Shown{})
		}
		r.Reset()
		held := cap(r.p.arena) + cap(r.worded) +
			16*(cap(r.p.names.slots)+cap(r.members)+cap(r.parts)+cap(r.p.names.few)) + len(r.p.model)
		if held > 2*keepArena+16*4*keepItems+keepItems || r.p.b != nil {
			t.Fatalf("holds %d bytes", held)
		}
	}
}

func TestAReusedRequestAllocatesNothing(t *testing.T) {
	body := bytes.Replace(chatBody(4<<10), []byte(`{`), []byte(`{"metadata":{"Team":"x"},"user":"u-1","topK":40,`), 1)
	var r Request
	var turns []Turn
	parse := func() {
		if err := Parse(Chat, body, Limits{}, &r); err != nil {
			t.Fatal(err)
		}
		turns = r.Turns(turns[:0])
	}
	parse()
	if n := testing.AllocsPerRun(100, parse); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
