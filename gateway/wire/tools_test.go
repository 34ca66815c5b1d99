package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// slowAsked is what decides about a chat's prompt beside the texts of its messages.
type slowAsked struct {
	Tools    []json.RawMessage
	Choice   json.RawMessage `json:"tool_choice"`
	Format   json.RawMessage `json:"response_format"`
	Messages []struct {
		Role  string
		Calls []json.RawMessage `json:"tool_calls"`
	}
}

// slowCompact writes a value token by token.
func slowCompact(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out strings.Builder
	var open []rune // containers; upper case while a name comes next
	comma := false
	for {
		tok, err := d.Token()
		if err != nil {
			return out.String()
		}
		delim, _ := tok.(json.Delim)
		if comma && delim != ']' && delim != '}' {
			out.WriteByte(',')
		}
		comma = true
		switch v := tok.(type) {
		case json.Delim:
			out.WriteRune(rune(v))
			switch v {
			case '{', '[':
				open, comma = append(open, map[json.Delim]rune{'{': 'O', '[': 'a'}[v]), false
				continue
			}
			open = open[:len(open)-1]
		case string:
			out.Write(AppendQuoted(nil, v))
		case json.Number:
			out.WriteString(v.String())
		default:
			if v == nil {
				v = "null"
			}
			fmt.Fprint(&out, v)
		}
		if n := len(open) - 1; n >= 0 && open[n] == 'O' {
			out.WriteByte(':')
			open[n], comma = 'o', false
		} else if n >= 0 && open[n] == 'o' {
			open[n] = 'O'
		}
	}
}

// slowCall is what is shown of a call. worded tells whether arguments are in their wording.
func slowCall(raw []byte, worded bool) string {
	var whole, f map[string]json.RawMessage
	var name string
	if json.Unmarshal(raw, &whole) != nil || json.Unmarshal(whole["function"], &f) != nil ||
		len(f["name"]) == 0 || f["name"][0] != '"' || json.Unmarshal(f["name"], &name) != nil {
		return "[call]\n" + slowCompact(raw) + "\n[/call]"
	}
	said := slowCompact(f["arguments"])
	var plain string
	if len(f["arguments"]) > 0 && f["arguments"][0] == '"' && json.Unmarshal(f["arguments"], &plain) == nil {
		if said = plain; worded {
			said = slowWording(plain)
		}
	}
	return "[call]\nname " + string(AppendQuoted(nil, name)) + " says " + said + "}\n[/call]"
}

// slowName is the name of the function in a tool or a choice; nil if it has none. Names of members have one case.
func slowName(raw []byte) (name *string) {
	var whole, f map[string]json.RawMessage
	if json.Unmarshal(raw, &whole) != nil || json.Unmarshal(whole["function"], &f) != nil ||
		json.Unmarshal(f["name"], &name) != nil {
		return nil
	}
	return name
}

// slowShown is the list of tools that is in the prompt; "" for none.
func slowShown(b *slowAsked, shown Shown) string {
	list, none := []string{}, ""
	if len(b.Tools) == 0 || shown.Chosen && json.Unmarshal(b.Choice, &none) == nil && none == "none" {
		return ""
	}
	var chosen *string
	if shown.Chosen {
		chosen = slowName(b.Choice)
	}
	for _, tool := range b.Tools {
		name := slowName(tool)
		if chosen == nil || name == nil && *chosen == "" || name != nil && *name == *chosen {
			list = append(list, slowCompact(tool))
		}
	}
	return "[tools]\n[" + strings.Join(list, ",") + "]\n[/tools]"
}

// slowChat is the prompt of a chat whose messages say texts.
func slowChat(body []byte, texts []string, shown Shown, worded bool) string {
	var b slowAsked
	if err := json.Unmarshal(body, &b); err != nil {
		panic(err)
	}
	var ahead []string
	if tools := slowShown(&b, shown); tools != "" {
		ahead = append(ahead, tools)
	}
	if shown.Format && len(b.Format) > 0 && b.Format[0] == '{' {
		ahead = append(ahead, "[format]\n"+slowCompact(b.Format)+"\n[/format]")
	}
	var turns []string
	for i, m := range b.Messages {
		var text []string
		if texts[i] != "" {
			text = append(text, texts[i])
		}
		if i == 0 && (m.Role == "system" || m.Role == "developer") {
			text = []string{strings.Join(append(text, ahead...), "\n\n")}
			if text[0] == "" {
				text = nil
			}
			ahead = nil
		}
		for _, c := range m.Calls {
			text = append(text, slowCall(c, worded))
		}
		turns = append(turns, "<"+m.Role+"\n"+strings.Join(text, "\n")+">\n")
	}
	if ahead != nil {
		turns = append([]string{"<system\n" + strings.Join(ahead, "\n\n") + ">\n"}, turns...)
	}
	return strings.Join(turns, "") + "<assistant\n"
}

// everyShown are the ways in which kinds of engines show what stands beside messages.
var everyShown = []Shown{{}, {Chosen: true}, {Format: true}, {Chosen: true, Format: true}}

// checkShown holds Wording and Render to the slow way, for every kind of engine.
func checkShown(t *testing.T, body string) {
	t.Helper()
	for _, shown := range everyShown {
		r := mustParse(t, Chat, body)
		var plain, worded []string
		for i := range r.Messages() {
			plain = append(plain, string(r.AppendText(nil, i)))
			worded = append(worded, slowWording(plain[i]))
		}
		got := string(bytes.Join(r.Wording(nil, testFrames, shown), nil))
		if want := slowChat([]byte(body), worded, shown, true); got != want {
			t.Fatalf("%+v\n%s\nworded %q\nwant   %q", shown, body, got, want)
		}
		got = string(r.Render([]byte("before"), testFrames, shown))
		if want := "before" + slowChat([]byte(body), plain, shown, false); got != want {
			t.Fatalf("%+v\n%s\nrendered %q\nwant     %q", shown, body, got, want)
		}
	}
}

// toolBodies are chats with tools and calls, in all shapes in which they come.
func toolBodies() []string {
	const compact = `[{"type":"function","function":{"name":"read","description":"Reads a file.","parameters":` +
		`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"number","default":1.50e1}}}}},` +
		`{"type":"function","function":{"name":"write","parameters":{}}}]`
	spaced := strings.NewReplacer(`,"`, ",\n\t \"", `":`, `": `, `[{`, "[ {").Replace(compact)
	escaped := strings.NewReplacer("Reads", `\u0052e\/ads \ud83d\ude00 é\n`, `"path"`, `"p\u0061\u0074h"`).
		Replace(compact)
	long := strings.Replace(compact, "Reads a file.", strings.Repeat("Reads a file, and more. ", 200), 1)
	lists := []string{compact, spaced, escaped, long, `[]`, `null`, ` [ ] `,
		`[{"type":"custom","custom":{"name":"x"}}]`}
	choices := []string{`"auto"`, `"none"`, `"\u006eone"`, `"required"`, `null`,
		`{"type":"function","function":{"name":"read"}}`, `{"function":{"name":"re\u0061d"},"type":"function"}`,
		`{"type":"function","function":{"name":"absent"}}`, `{"type":"allowed_tools"}`}
	formats := []string{`{"type":"text"}`, `{"type": "json_schema", "json_schema": {"name":"x","schema":{}}}`, `null`}
	called := []string{
		`[{"id":"1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\\\"b\"}"}}]`,
		`[{"function":{"arguments":{"path" : [1, 2]},"name":"re\u0061d"}},{"id":"2","function":{"name":"b"}}]`,
		`[{"type":"custom","custom":{"name":"x", "input":"y"}}]`, `[{"function":{"name":7}},{"function":8},9,null]`,
		`[]`, `null`, `[{"function":{"name":"\"\n","arguments":null}}]`,
	}
	var all []string
	for i, list := range lists {
		for k, choice := range choices {
			all = append(all, fmt.Sprintf(`{"messages":[{"role":"user","content":"x"}],"tools":%s,"tool_choice":%s,`+
				`"response_format":%s}`, list, choice, formats[(i+k)%len(formats)]))
		}
		for k, calls := range called {
			content := []string{`"so"`, `null`, `""`, `[{"type":"text","text":""}]`}[(i+k)%4]
			if calls == `null` {
				content = `"no call"`
			}
			all = append(all, fmt.Sprintf(`{"tools":%s,"messages":[{"role":%q,"content":"be brief"},`+
				`{"role":"user","content":"x"},{"role":"assistant","content":%s,"tool_calls":%s},`+
				`{"role":"tool","tool_call_id":"1","content":"a\tb\u0041"}]}`,
				list, []string{"system", "developer", "user"}[i%3], content, calls))
		}
	}
	return append(all, `{"messages":[{"role":"system","content":""}],"tools":`+compact+`}`,
		`{"messages":[{"role":"developer","content":"","tool_calls":[{}]}],"tools":`+compact+`}`,
		`{"messages":[{"role":"assistant","content":"","tool_calls":`+called[0]+`}],"functions":`+compact+`}`)
}

func TestToolsAndCallsAreInThePromptAsTheSlowWaySays(t *testing.T) {
	byEveryMeans(t, func(t *testing.T) {
		for _, body := range toolBodies() {
			checkShown(t, body)
		}
	})
}

func FuzzTools(f *testing.F) {
	for _, body := range toolBodies() {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var r Request
		if Parse(Chat, []byte(body), Limits{}, &r) == nil {
			checkShown(t, body)
		}
	})
}

// Tools that mean the same have one wording, however they are written.
func TestToolsAreWordedAlikeHoweverTheyAreWritten(t *testing.T) {
	ask := func(tools string) string {
		return wordingOf(mustParse(t, Chat, `{"messages":[{"role":"user","content":"x"}],"tools":`+tools+`}`))
	}
	one := ask(`[{"type":"function","function":{"name":"a/é"}}]`)
	if other := ask("[ {\"type\": \"function\",\n\"function\":{\"n\\u0061me\":\"a\\/\\u00e9\"} }\n]"); one != other {
		t.Errorf("%q and %q", one, other)
	}
	if other := ask(`[{"type":"function","function":{"name":"a/e"}}]`); one == other {
		t.Errorf("%q is another tool", one)
	}
}

// What a tool's description changes begins where the tools do, and a turn that is added changes nothing before it.
func TestAChatWithToolsGrowsBehindItsPrefix(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	turns := `{"role":"system","content":"be brief"},{"role":"user","content":"why?"}`
	ask := func(description, turns string) string {
		return wordingOf(mustParse(t, Chat, `{"tools":[{"function":{"name":"f","description":"`+description+
			`"}}],"messages":[`+turns+`]}`))
	}
	const ahead = "<system\nbe brief\n\n[tools]\n"
	before := ask("one", turns)
	for i := range 40 {
		turns += fmt.Sprintf(`,{"role":"assistant","content":null,"tool_calls":[{"id":"%d","type":"function",`+
			`"function":{"name":"f","arguments":"{\"n\":%d}"}}]},{"role":"tool","tool_call_id":"%d","content":"%d"}`,
			i, dice.IntN(1000), i, dice.IntN(1000))
		after := ask("one", turns)
		if !strings.HasPrefix(after, before) {
			t.Fatalf("turn %d: %q does not go on from %q", i, after, before)
		}
		if another := ask("two", turns); another == after || !strings.HasPrefix(another, ahead) {
			t.Fatalf("with another description: %q", another)
		}
		before = after
	}
}

func TestAChatIsATools(t *testing.T) {
	for last, want := range map[string]bool{`{"role":"tool","content":"x"}`: true,
		`{"role":"system","content":"x"}`:              true,
		`{"role":"user","content":"x"}`:                false,
		`{"role":"function","name":"f","content":"x"}`: true, `{"role":"assistant","content":"x"}`: false} {
		r := mustParse(t, Chat, `{"messages":[{"role":"tool","content":"x"},`+last+`]}`)
		if r.AnswersTool() != want {
			t.Errorf("%s: %v", last, r.AnswersTool())
		}
	}
}
