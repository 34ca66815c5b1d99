package calibration

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// called is an answer of calls, "name arguments" each.
func called(calls ...string) Answer {
	a := Answer{Finish: "tool_calls"}
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		a.Calls = append(a.Calls, Call{Name: name, Arguments: []byte(args)})
	}
	return a
}

func (a Answer) saying(text string) Answer   { a.Text = []byte(text); return a }
func (a Answer) ending(finish string) Answer { a.Finish = finish; return a }

// Two answers with tool calls are compared by names, arguments as JSON, and text; the class says which of two calls
// where one does not.
func TestToolCallsAreComparedByWhatTheyDo(t *testing.T) {
	talks := Answer{Text: []byte("I would read the file first."), Finish: "stop"}
	read, grep := `read {"path":"a.cc","from":1}`, `grep {"for":"x"}`
	for _, row := range []struct {
		name            string
		primary, shadow Answer
		class           Class
		match           Match
		distance        float64
	}{
		{"the same", called(read), called(read), Agree, SameCalls, 0},
		{"members in another order", called(read), called(`read { "from": 1.0, "path": "a\u002ecc" }`), Agree,
			SameCalls, 0},
		{"calls in another order", called(read, grep), called(grep, read), Agree, SameCalls, 0},
		{"the same call once more", called(grep, grep), called(grep), Differ, OtherTools, 0.5},
		{"other arguments", called(read, grep), called(read, `grep {"for":"y"}`), Differ, OtherArguments, 0.5},
		{"an order that counts", called(`f {"a":[1,2]}`), called(`f {"a":[2,1]}`), Differ, OtherArguments, 1},
		{"integers that no float tells apart", called(`f {"id":9007199254740993}`),
			called(`f {"id":9007199254740992}`), Differ, OtherArguments, 1},
		{"arguments of two calls changed about", called(`f {"a":1,"b":1}`, `f {"a":2,"b":2}`),
			called(`f {"a":1,"b":2}`, `f {"a":2,"b":1}`), Differ, OtherArguments, 1},
		{"another tool", called(read), called(grep), Differ, OtherTools, 1},
		{"another tool for the same", called(read), called(strings.Replace(read, "read", "list", 1)), Differ,
			OtherTools, 1},
		{"no arguments", called("list"), called("list {}"), Agree, SameCalls, 0},
		{"the same text beside them", called(read).saying("I look."), called(read).saying("I  look."), Agree,
			SameCalls, 0},
		{"another text beside them", called(read).saying("I look into the file."), called(read).saying("Sure thing!"),
			Differ, SameCalls, 1},
		{"one calls", called(read), talks, PrimaryCalls, OneCalls, 1},
		{"one calls, and says the same", called(read).saying(string(talks.Text)), talks, PrimaryCalls, OneCalls, 1},
		{"the other is empty", called(read), Answer{Finish: "stop"}, PrimaryBetter, OneCalls, 1},
		{"the other is cut short", called(read), talks.ending("length"), PrimaryBetter, OneCalls, 1},
		{"the call is cut short", called(`read {"path":"a`).ending("length"), talks, ShadowBetter, OneCalls, 1},
		{"arguments that are no JSON", called(`read {"path":`), called(read), ShadowBetter, OtherArguments, 1},
		{"arguments that are no object", called(`read "a.cc"`), called(read), ShadowBetter, OtherArguments, 1},
		{"the same that is no JSON", called(`read {path: a}`), called(`read {path: a} `), Agree, SameCalls, 0},
		{"a tool that was not offered", called(`cat {"path":"a.cc"}`), called(read), ShadowBetter, OtherTools, 1},
		{"a tool without a name", called(` {}`), called(read), ShadowBetter, OtherTools, 1},
	} {
		rules := RulesFor("codegen", usual)
		rules.Tools = []string{"read", "grep", "list", "f"}
		want := Comparison{Class: row.class, Method: ByCalls, Distance: row.distance, Form: FormCalls, Calls: row.match}
		if got := rules.Compare(row.primary, row.shadow); got != want {
			t.Errorf("%s: %+v", row.name, got)
		}
		want.Class = row.class.Swapped()
		if got := rules.Compare(row.shadow, row.primary); got != want {
			t.Errorf("%s: swapped it is %+v", row.name, got)
		}
	}
}

// Where tools must be called, a text falls short however good it is. A free grammar's arguments are a text.
func TestWhatARequestAsksOfCallsCounts(t *testing.T) {
	talks := Answer{Text: []byte("I would read it."), Finish: "stop"}
	if c := (Rules{MustCall: true}).Compare(talks, called(`f {}`)); c.Class != ShadowBetter {
		t.Errorf("tool_choice asks for a call: %+v", c)
	}
	free := func(text string) Answer {
		return Answer{Calls: []Call{{Name: "patch", Arguments: []byte(text), Free: true}}}
	}
	for other, want := range map[string]Class{"*** a\n": Agree, "*** b": Differ} {
		if c := (Rules{}).Compare(free("*** a"), free(other)); c.Class != want {
			t.Errorf("%q: %+v", other, c)
		}
	}
	if c := (Rules{}).Compare(free(`{"a":1,"b":2}`), free(`{"b":2,"a":1}`)); c.Class != Differ {
		t.Errorf("a free grammar is no JSON: %+v", c)
	}
}

// Answers to a request for JSON are compared as values; one that is no JSON falls short.
func TestStructuredAnswersAreComparedAsValues(t *testing.T) {
	say := func(text string) Answer { return Answer{Text: []byte(text), Finish: "stop"} }
	for _, row := range []struct {
		name            string
		primary, shadow string
		class           Class
		by              Method
		distance        float64
	}{
		{"the same value", `{"kind":"bug","sure":0.9}`, "{\n  \"sure\": 0.90,\n  \"kind\": \"bug\"\n}", Agree,
			ByJSON, 0},
		{"one member of two", `{"kind":"bug","sure":0.9}`, `{"kind":"wish","sure":0.9}`, Differ, ByJSON, 0.5},
		{"one is no JSON", `{"kind":"bug"}`, `It is a bug.`, PrimaryBetter, ByJSON, 1},
		{"neither is", "It is a bug.", "It is a bug", Agree, ByText, 0.2},
		{"no review is read out of it", `{"approve":true}`, `{"approve":false}`, Differ, ByJSON, 1},
	} {
		rules := RulesFor("review", usual)
		rules.JSON = true
		got := rules.Compare(say(row.primary), say(row.shadow))
		if got.Class != row.class || got.Method != row.by || got.Form != FormJSON ||
			got.Distance < row.distance-0.01 || got.Distance > row.distance+0.01 {
			t.Errorf("%s: %+v", row.name, got)
		}
		if back := rules.Compare(say(row.shadow), say(row.primary)); back.Class != row.class.Swapped() {
			t.Errorf("%s: swapped it is %+v", row.name, back)
		}
	}
	if c := RulesFor("review", usual).Compare(say(`{"a":1,"b":2}`), say(`{"b":2,"a":1}`)); c.Method == ByJSON {
		t.Errorf("JSON that was not asked for: %+v", c)
	}
}

// matchedSlowly tries every order of the calls: by names, and arguments as they decode.
func matchedSlowly(p, s []Call) bool {
	if len(p) == 0 || len(s) == 0 {
		return len(p) == len(s)
	}
	for i := range s {
		rest := slices.Delete(slices.Clone(s), i, i+1)
		if meansSlowly(&p[0], &s[i]) && matchedSlowly(p[1:], rest) {
			return true
		}
	}
	return false
}

func meansSlowly(a, b *Call) bool {
	plain := func(c *Call) (string, any, bool) {
		text := strings.Trim(string(c.Arguments), " \n\t\r")
		if text == "" {
			text = "{}"
		}
		v, ok := decoded([]byte(text))
		return text, v, ok
	}
	at, av, aok := plain(a)
	bt, bv, bok := plain(b)
	if aok && bok {
		return a.Name == b.Name && reflect.DeepEqual(av, bv)
	}
	return a.Name == b.Name && aok == bok && at == bt
}

// FuzzCalls holds the match of calls to the slow one, and the class to its rules.
func FuzzCalls(f *testing.F) {
	f.Add("f", `{"a":1}`, "g", `{}`, "f", `{"a":1.0}`, "g", ``, "text", "text")
	f.Add("f", `{"a":`, "f", `{"a":`, "f", `[]`, "", `{"a":{"a":1,"a":2}}`, "", "lgtm")
	f.Fuzz(func(t *testing.T, n1, a1, n2, a2, n3, a3, n4, a4, p, s string) {
		for _, a := range []string{a1, a2, a3, a4} {
			if vast([]byte(a)) {
				t.Skip()
			}
		}
		one, two := called(n1+" "+a1, n2+" "+a2).saying(p), called(n3+" "+a3, n4+" "+a4).saying(s)
		rules := Rules{Tolerance: usual, Tools: []string{n1, "g"}}
		for _, pair := range [][2]Answer{{one, two}, {one, {Text: two.Text}}, {one, {Calls: two.Calls[:1]}}} {
			c, back := rules.Compare(pair[0], pair[1]), rules.Compare(pair[1], pair[0])
			if !c.known() || c.Form != FormCalls || c.Distance < 0 || c.Distance > 1 ||
				back.Class != c.Class.Swapped() || back.Distance != c.Distance || back.Calls != c.Calls {
				t.Fatalf("%+v, swapped %+v", c, back)
			}
			if same := matchedSlowly(pair[0].Calls, pair[1].Calls); same != (c.Calls == SameCalls) {
				t.Fatalf("%+v, by trying all orders the same: %v", c, same)
			}
			if c.Class == Agree && c.Calls != SameCalls {
				t.Fatalf("%+v", c)
			}
		}
		turned := Answer{Text: one.Text, Calls: []Call{one.Calls[1], one.Calls[0]}}
		if c := rules.Compare(one, turned); c.Class != Agree || c.Distance != 0 {
			t.Fatalf("with itself in another order: %+v", c)
		}
	})
}

// However calls are written and ordered, they are the same; and the fast match is the slow one.
func TestCallsMatchAsTheSlowOneSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		var one, other, third []Call
		for range r.IntN(5) {
			name, v := string(rune('f'+r.IntN(2))), arbitrary(r, 2)
			one = append(one, Call{Name: name, Arguments: []byte(written(r, v))})
			other = append(other, Call{Name: name, Arguments: []byte(written(r, v))})
			third = append(third, Call{Name: name, Arguments: []byte(written(r, arbitrary(r, 1)))})
		}
		r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		if m, far := matchCalls(one, other); m != SameCalls || far != 0 {
			t.Fatalf("%+v and %+v: %s, %v", one, other, m, far)
		}
		if m, _ := matchCalls(one, third); (m == SameCalls) != matchedSlowly(one, third) {
			t.Fatalf("%+v and %+v: %s", one, third, m)
		}
	})
}
