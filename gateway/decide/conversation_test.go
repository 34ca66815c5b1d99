package decide

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"octet/gateway/intake"
	"octet/gateway/tenant"
	"octet/gateway/wire"
)

// turn is a request of a tenant as far as conversations look at it, and what is decided of it.
type turn struct {
	c *Conversations
	r intake.Request
	d Decision
}

func asker(t testing.TB, c *Conversations, kind wire.Kind, body string) *turn {
	t.Helper()
	x := &turn{c: c, r: intake.Request{Tenant: &tenant.Tenant{Name: "acme"}, Kind: kind,
		Body: &intake.Body{Bytes: []byte(body)}}}
	if err := wire.Parse(kind, x.r.Bytes, wire.Limits{Depth: 64, Messages: 100}, &x.r.Parsed); err != nil {
		t.Fatal(err)
	}
	if x.r.Parsed.HasExtras() {
		if _, err := x.r.Parsed.Inline(nil, wire.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	x.r.Turns = x.r.Parsed.Turns(nil)
	return x
}

func (x *turn) find() (seat, bool) { return x.c.find(&x.r, &x.d, false) }

func prompting(text string) string {
	body, _ := json.Marshal(map[string]any{"prompt": text})
	return string(body)
}

// answeredBy has a completion be answered by a specialist.
func answeredBy(t testing.TB, c *Conversations, text, name string) {
	t.Helper()
	x := asker(t, c, wire.Completion, prompting(text))
	x.find()
	c.Remember(&x.d, name, 0)
}

func found(t testing.TB, c *Conversations, text string) string {
	t.Helper()
	at, _ := asker(t, c, wire.Completion, prompting(text)).find()
	return at.specialist
}

// made is text that no other seed gives.
func made(seed uint64, length int) string {
	dice := rand.New(rand.NewPCG(seed, 1))
	text := make([]byte, length)
	for i := range text {
		text[i] = "abcdefgh ij\n\"é"[dice.IntN(13)]
	}
	return string(text)
}

func TestACompletionIsKnownByTheLongestEarlierOneThatItGoesOnFrom(t *testing.T) {
	for _, length := range []int{firstMark, 17, 100, 1023, 1024, 5000, prefixRead - 1, prefixRead, prefixRead + 5} {
		c := NewConversations(100)
		first := made(1, length)
		second := first + made(2, length/3+3)
		answeredBy(t, c, first, "debug")
		answeredBy(t, c, second, "systems")
		for what, row := range map[string]struct{ text, want string }{
			"goes on from both":          {second + " more", "systems"},
			"goes on from the first":     {first + "\nanother way", "debug"},
			"is the first one again":     {first, ""},
			"is the second's, cut short": {second[:len(first)+1], "debug"},
			"begins otherwise":           {"x" + second, ""},
			"differs before its end":     {first[:length-1] + "# and on", ""},
			"is another":                 {made(3, length+100), ""},
		} {
			switch { // beyond what is read all texts are equal, and the later one was the last to answer
			case length > prefixRead && what == "differs before its end",
				length >= prefixRead-1 && what == "is the second's, cut short",
				length >= prefixRead && (what == "goes on from the first" || what == "is the first one again"):
				row.want = "systems"
			}
			if got := found(t, c, row.text); got != row.want {
				t.Errorf("%d bytes: a text that %s: %q, want %q", length, what, got, row.want)
			}
		}
	}
}

// The naive way: the longest of all earlier texts that is a beginning of this one, but not all of it. Where many
// have the same last mark one may be missed; none is ever mistaken.
func TestCompletionsAreFoundAsANaiveSearchFindsThem(t *testing.T) {
	dice := rand.New(rand.NewPCG(7, 7))
	c := NewConversations(1 << 16)
	var earlier []string
	hits, missed := 0, 0
	for i := range 3000 {
		text := made(uint64(dice.IntN(400)), 20+dice.IntN(60))
		if len(earlier) > 0 && dice.IntN(4) > 0 {
			text = earlier[dice.IntN(len(earlier))]
			text = text[:len(text)-dice.IntN(3)*dice.IntN(len(text)/2)/2] + made(uint64(i), 1+dice.IntN(200))
		}
		want := ""
		for n, e := range earlier {
			if len(e) < len(text) && strings.HasPrefix(text, e) && len(e) >= firstMark &&
				(want == "" || len(e) >= len(earlier[ordinal(want)])) {
				want = fmt.Sprint(n)
			}
		}
		switch got := found(t, c, text); {
		case got == want && got != "":
			hits++
		case got == want:
		case got == "" || strings.HasPrefix(text, earlier[ordinal(got)]) && len(earlier[ordinal(got)]) < len(text):
			missed++ // a shorter one, or none
		default:
			t.Fatalf("%q is taken for a continuation of %q", text, earlier[ordinal(got)])
		}
		earlier = append(earlier, text)
		answeredBy(t, c, text, fmt.Sprint(i))
	}
	if hits < 1000 || missed > hits/10 {
		t.Errorf("%d found, %d missed", hits, missed)
	}
}

func ordinal(name string) (n int) {
	_, _ = fmt.Sscan(name, &n)
	return n
}

// Marks are where they are in every text, and few.
func TestMarksAreFew(t *testing.T) {
	n, before := 0, 0
	for at := nextMark(0); at <= prefixRead; at = nextMark(at) {
		if step := at - before; step < firstMark || step > max(firstMark, at>>(markRatio-1)) {
			t.Fatalf("from %d to %d", before, at)
		}
		n, before = n+1, at
	}
	if n > 250 || before != prefixRead {
		t.Errorf("%d marks, the last at %d", n, before)
	}
}

func TestConversationsAreBounded(t *testing.T) {
	c := NewConversations(10)
	for i := range 100 {
		answeredBy(t, c, made(uint64(i), 50_000), "debug")
	}
	if n := c.last.Len(); n != 10 {
		t.Errorf("%d are remembered", n)
	}
	if found(t, c, made(99, 50_000)+"on") != "debug" || found(t, c, made(89, 50_000)+"on") != "" {
		t.Error("not the longest unused are forgotten")
	}
	for _, body := range []string{`{"prompt":["` + strings.Repeat("a", 99) + `","b"]}`, `{"prompt":[1,2,3,4,5,6,7,8]}`,
		`{"prompt":"short"}`} {
		x := asker(t, c, wire.Completion, body)
		if at, ok := x.find(); ok || x.d.conversation != 0 {
			t.Errorf("%s belongs to %+v", body, at)
		}
	}
}

// What a chat brings beside its messages is sent anew with each of its requests, and does not part them.
func TestAChatIsKnownByItsMessages(t *testing.T) {
	c := NewConversations(10)
	const question, extras = `{"role":"user","content":"why?"}`, `"repo_snippets":["one"]`
	x := asker(t, c, wire.Chat, `{"messages":[`+question+`],`+extras+`}`)
	x.find()
	c.Remember(&x.d, "debug", 0)
	next := `{"messages":[` + question + `,{"role":"assistant","content":"so"},{"role":"user","content":"and?"}],` +
		extras + `}`
	if at, ok := asker(t, c, wire.Chat, next).find(); !ok || at.specialist != "debug" {
		t.Errorf("%+v %v", at, ok)
	}
}

// MEGA-01: the same holds of a completion, whose engine reads the snippets ahead of its text.
func TestACompletionIsKnownByItsOwnText(t *testing.T) {
	c := NewConversations(10)
	text := made(1, 400)
	for _, snippet := range []string{"one", "two", ""} {
		ask := func(text string) *turn {
			return asker(t, c, wire.Completion,
				prompting(text)[:len(prompting(text))-1]+`,"repo_snippets":["`+snippet+`"]}`)
		}
		at, ok := ask(text + snippet + "on").find()
		if known := snippet != "one"; ok != known || known && at.specialist != "debug" {
			t.Errorf("with %q: %+v %v", snippet, at, ok)
		}
		x := ask(text)
		x.find()
		c.Remember(&x.d, "debug", 0)
	}
}

// BenchmarkConversation is the search among many for one that goes on from an earlier one, and for one that is
// not known.
func BenchmarkConversation(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 128 << 10, 4 << 20} {
		c := NewConversations(1 << 16)
		for i := range 1000 {
			answeredBy(b, c, made(uint64(i), 2000), "debug")
		}
		text := made(5000, size)
		answeredBy(b, c, text[:size*3/4], "debug")
		for name, asked := range map[string]string{"known": text, "new": "x" + text} {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, name), func(b *testing.B) {
				x := asker(b, c, wire.Completion, prompting(asked))
				b.ReportAllocs()
				for b.Loop() {
					if _, ok := x.find(); ok != (name == "known") {
						b.Fatal(ok)
					}
				}
			})
		}
	}
}
