package wire

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bodiesWithExtras are bodies in which they stand in every place, in every spelling.
//
//nolint:lll // raw text that cannot be broken
var bodiesWithExtras = []string{
	`{"messages":[{"role":"user","content":"why?"}],"repo_snippets":["int main();","a\n\"b\""],"tool_outputs":["ld: \\ \u00e9\ud83d\ude00"]}`,
	`{"repo_snippets":["x"],"tool_outputs":["y"],"messages":[{"role":"user","content":"why?"}]}`,
	` { "repo_snippets" : [ "x" , "" ] , "a" : 1 , "tool_outputs" : null , "messages" : [ { "content" : "\u0077hy" , "role" : "user" } ] } `,
	`{"a":1,"repo_snippets":[],"messages":[{"role":"user","content":"why?"}],"b":{"repo_snippets":["kept"]}}`,
	`{"repo\u005fsnippets":["x"],"\u0074ool_outputs":["\/\u0041"],"m\u0065ssages":[{"role":"\u0075ser","content":"/\/"}],"z":[]}`,
	`{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"text":"b\t","type":"text"}]}],"tool_outputs":["t"]}`,
	`{"messages":[{"role":"user","content":[{"type":"text","text":""}]},{"role":"assistant","content":"x"}],"tool_outputs":["t"]}`,
	`{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{}]},{"role":"tool","content":"r"}],"repo_snippets":["s"]}`,
	`{"messages":[{"role":"user","content":"q"},{"role":"user","content":""},{"role":"system","content":"s"}],"repo_snippets":["s"]}`,
	`{"messages":[{"role":"system","content":"s"}],"repo_snippets":["s"]}`,
	`{"messages":[{"role":"assistant","content":"s"},{"role":"tool","content":"r"}],"tool_outputs":["s"]}`,
	`{"messages":[{"role":"system","content":"s"}],"repo_snippets":[],"tool_outputs":null}`,
	`{"messages":[{"role":"user","content":"` + strings.Repeat("long ", 400) + `"}],"repo_snippets":["` + strings.Repeat(`int f();\n`, 300) + `"]}`,
	`{"messages":[{"role":"user","content":"x"}],"repo_snippets":["a",1]}`,
	`{"messages":[{"role":"user","content":"x"}],"repo_snippets":["\ud83d","\ude00"]}`,
	`{"prompt":"x","repo_snippets":["a\n","b"],"tool_outputs":["c"]}`, `{"tool_outputs":["c\u0000"],"prompt":["\u0078"],"echo":true}`,
	`{"prompt":"","repo_snippets":["a",""]}`, `{"prompt":["x"],"repo_snippets":null}`, `{"prompt":[1,2],"repo_snippets":[]}`,
	`{"prompt":[1,2],"repo_snippets":["a"]}`, `{"prompt":["x","y"],"tool_outputs":["a"]}`, `{"prompt":[[1]],"repo_snippets":[""]}`,
}

// MEGA-01: a body with snippets and tool outputs becomes what encoding/json says that it is to become: their texts are
// in the prompt, and everything else is as it was.
func FuzzInline(f *testing.F) {
	for _, s := range append(bodiesWithExtras, seeds...) {
		f.Add(s, false)
		f.Add(s, true)
	}
	var r Request
	var room []byte
	lim := fuzzLimits
	f.Fuzz(func(t *testing.T, body string, completion bool) {
		kind := Chat
		if completion {
			kind = Completion
		}
		room = inlinesAsTheOracle(t, kind, []byte(body), lim, &r, room)
	})
}

// The same for bodies whose texts, members and messages are chosen at random, and by every means of reading a body.
func TestExtrasStandInThePromptAsTheOraclePutsThem(t *testing.T) {
	var r Request
	byEveryMeans(t, func(t *testing.T) {
		dice := rand.New(rand.NewPCG(6, 1))
		for _, body := range bodiesWithExtras {
			inlinesAsTheOracle(t, Chat, []byte(body), fullLimits, &r, nil)
			inlinesAsTheOracle(t, Completion, []byte(body), fullLimits, &r, nil)
		}
		var room []byte
		for range 3000 {
			kind := Kind(dice.IntN(2))
			room = inlinesAsTheOracle(t, kind, bodyWithExtras(dice, kind), fullLimits, &r, room)
		}
	})
}

// bodyWithExtras is a body of random members in a random order.
func bodyWithExtras(dice *rand.Rand, kind Kind) []byte {
	texts := func(most int) string {
		list := make([]string, dice.IntN(most+1))
		for i := range list {
			list[i] = string(AppendQuoted(nil, oddText(dice)))
		}
		return "[" + strings.Join(list, " ,") + "]"
	}
	said := make([]string, 1+dice.IntN(5))
	for i := range said {
		content := string(AppendQuoted(nil, oddText(dice)))
		if dice.IntN(3) == 0 {
			content = `[{"type":"text","text":` + content + `},{"type":"text","text":"b"}]`
		}
		said[i] = `{"role":"` + roles[dice.IntN(len(roles))] + `","content":` + content + `}`
	}
	prompt := string(AppendQuoted(nil, oddText(dice)))
	if dice.IntN(4) == 0 {
		prompt = []string{`[1,2]`, `["a","b"]`, `["` + strings.Repeat("ä", dice.IntN(90)) + `"]`}[dice.IntN(3)]
	}
	members := []string{`"messages":[` + strings.Join(said, ",") + `]`, `"stop":"x"`, `"x\u0079":{"a":[1]}`}
	if kind == Completion {
		members[0] = `"prompt": ` + prompt
	}
	if dice.IntN(4) > 0 {
		members = append(members, `"repo_snippets":`+texts(4))
	}
	if dice.IntN(4) > 0 {
		members = append(members, "\n\t\"tool_outputs\" : "+texts(3))
	}
	dice.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	return []byte(" {" + strings.Join(members, " , ") + "} ")
}

// oddText is text of every kind of byte, some of which must be escaped.
func oddText(dice *rand.Rand) string {
	kinds := []string{"a", "int x;\n", `"`, `\`, "\x00", "é", "😀", "\t", "/", "\u2028", strings.Repeat("long ", 40)}
	var b strings.Builder
	for range dice.IntN(12) {
		b.WriteString(kinds[dice.IntN(len(kinds))])
	}
	return b.String()
}

// inlinesAsTheOracle holds Inline to a rewrite of the decoded body, and all that is read of its body to that. It
// returns the room that was used.
func inlinesAsTheOracle(t *testing.T, kind Kind, body []byte, lim Limits, r *Request, room []byte) []byte {
	t.Helper()
	if Parse(kind, body, lim, r) != nil || !r.HasExtras() {
		return room
	}
	turns := readTurns(r)
	if err := Parse(kind, body, lim, r); err != nil {
		t.Fatal(err)
	}
	raws := map[string]string{}
	for _, m := range r.members {
		raws[string(r.p.bytes(m.name))] = string(r.p.b[m.off:m.end])
	}
	want, param := slowInline(kind, decoded(t, body).(object))
	was := bytes.Clone(body)
	inlined, err := r.Inline(room, lim)
	if param != "" {
		if e := new(Error); !errors.As(err, &e) || e.Code != CodeUnsupportedParameter || e.Param != param {
			t.Fatalf("%q: %v, want a refusal of %s", body, err, param)
		}
		return room
	}
	if err != nil || syntaxCode(inlined) != "" {
		t.Fatalf("%q became %q: %v", body, inlined, err)
	}
	if diff := cmp.Diff(want, decoded(t, inlined)); diff != "" || !bytes.Equal(body, was) {
		t.Fatalf("%q became %q (-oracle +inlined):\n%s", was, inlined, diff)
	}
	for name, raw := range raws {
		if isExtra := name == snippetsMember || name == outputsMember; !isExtra && name != "messages" &&
			name != "prompt" && string(r.Raw(name)) != raw || isExtra && r.Raw(name) != nil {
			t.Fatalf("%q became %q: %s is %q", body, inlined, name, r.Raw(name))
		}
	}
	checkInlined(t, want.(object), r, turns)
	return inlined
}

// checkInlined holds what r reads to a decoded body, and its turns to those of the body that it was made of.
func checkInlined(t *testing.T, body object, r *Request, turns []string) {
	t.Helper()
	want := slowTurns(r.Kind, body)
	if got := wordingOf(r); got != slowPrompt(r, body, want, len(want)) && r.Images() == 0 {
		t.Fatalf("worded %q, want %q", got, slowPrompt(r, body, want, len(want)))
	}
	for range 2 { // a second reading gives the same
		if diff := cmp.Diff(turns, readTurns(r)); diff != "" {
			t.Fatalf("turns differ (-before +after):\n%s", diff)
		}
		for i, text := range want {
			if r.Kind == Chat && r.Role(i)+": "+string(r.AppendText(nil, i)) != text {
				t.Fatalf("message %d is %q, want %q", i, r.AppendText(nil, i), text)
			}
			if r.Kind == Completion {
				if got, _ := r.PromptText(i); "user: "+string(got) != text {
					t.Fatalf("prompt %q, want %q", got, text)
				}
			}
		}
	}
}

// slowInline is a decoded body with its extras in the prompt; or the member that cannot be there.
func slowInline(kind Kind, body object) (any, string) {
	var ahead strings.Builder
	param := ""
	for _, name := range []string{"repo_snippets", "tool_outputs"} {
		list, _ := body[name].([]any)
		for _, e := range list {
			if e == "" {
				continue
			}
			if ahead.WriteString(e.(string) + "\n\n"); param == "" {
				param = name
			}
		}
		delete(body, name)
	}
	if param == "" {
		return body, ""
	}
	if kind == Chat {
		for _, m := range slices.Backward(body["messages"].([]any)) {
			if m := m.(object); m["role"] == "user" {
				if parts, ok := m["content"].([]any); ok {
					at := slices.IndexFunc(parts, func(part any) bool { return part.(object)["type"] == "text" })
					if at < 0 {
						return body, param
					}
					first := parts[at].(object)
					first["text"] = ahead.String() + first["text"].(string)
				} else {
					m["content"] = ahead.String() + m["content"].(string)
				}
				return body, ""
			}
		}
		return body, param
	}
	switch prompt := body["prompt"].(type) {
	case string:
		body["prompt"] = ahead.String() + prompt
		return body, ""
	case []any:
		if s, ok := prompt[0].(string); ok && len(prompt) == 1 {
			body["prompt"] = []any{ahead.String() + s}
			return body, ""
		}
	}
	return body, param
}

// MEGA-01: equal snippets make equal beginnings, whatever is asked behind them and whichever outputs come with them.
func TestEqualSnippetsMakeEqualBeginnings(t *testing.T) {
	prompt := func(question, output string) string {
		r := mustParse(t, Chat, `{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"`+
			question+`"}],"tool_outputs":["`+output+`"],"repo_snippets":["int one();","int two();"]}`)
		if _, err := r.Inline(nil, Limits{}); err != nil {
			t.Fatal(err)
		}
		return wordingOf(r)
	}
	a, b := prompt("why?", "ld: x"), prompt("how?", "make: y")
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	if !strings.Contains(a[:n], `be brief`) || !strings.HasSuffix(a[:n], `int one();\n\nint two();\n\n`) {
		t.Errorf("%q and %q share %q", a, b, a[:n])
	}
}

// MEGA-01: a Request that is used again puts extras into a prompt without an allocation, and one without extras is not
// touched.
func TestExtrasCostNoAllocation(t *testing.T) {
	with, without := []byte(bodiesWithExtras[0]), []byte(seeds[0])
	var r Request
	var room []byte
	var turns []Turn
	inline := func(body []byte) {
		if err := Parse(Chat, body, Limits{}, &r); err != nil {
			t.Fatal(err)
		}
		if r.HasExtras() {
			if room, _ = r.Inline(room, Limits{}); r.HasExtras() {
				t.Fatal("there are extras still")
			}
		}
		turns = r.Turns(turns[:0])
	}
	for _, body := range [][]byte{with, without} {
		inline(body)
		if n := testing.AllocsPerRun(100, func() { inline(body) }); n != 0 {
			t.Errorf("%.1f allocations for %s", n, body)
		}
	}
}
