package stream

import (
	"strings"
	"testing"

	"octet/engine/enginetest"
	"octet/gateway/sse"
	"octet/gateway/wire"
)

func parsed(t *testing.T, kind wire.Kind, body string) *wire.Request {
	t.Helper()
	r := new(wire.Request)
	if err := wire.Parse(kind, []byte(body), wire.Limits{}, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// What each kind of engine could continue, by what a request asks for.
func TestWhatAnEngineContinuesIsByItsKind(t *testing.T) {
	chats := map[string]string{
		"plain": ``, "tools": `,"tools":[{"type":"function","function":{"name":"f"}}]`,
		"a call": `,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required"`,
		"JSON":   `,"response_format":{"type":"json_object"}`, "seed": `,"seed":1`, "n": `,"n":2`,
		"hidden": `,"include_reasoning":false`, "warm": `,"seed":1,"temperature":0.5`, "no seed": `,"seed":null`,
		"greedy": `,"seed":1,"temperature":0`, "first": `,"seed":1,"top_p":0`, "typical": `,"seed":1,"typical_p":0.5`,
		"penalty": `,"temperature":0,"presence_penalty":1`, "repetition": `,"repetition_penalty":0`,
		"no penalty": `,"frequency_penalty":0,"presence_penalty":-0.0,"repetition_penalty":1.0`,
		"least":      `,"min_tokens":1`, "no least": `,"min_tokens":0`,
		"shown":  `,"include_reasoning":true,"add_generation_prompt":true,"continue_final_message":false`,
		"budget": `,"thinking_token_budget":0`, "begun": `,"continue_final_message":true`,
	}
	const continued = ",plain,tools,a call,JSON,no seed,greedy,first,no penalty,no least,shown,"
	for kind, want := range map[string]string{"vllm": continued, "sglang": "", "llamacpp": "", "openai": ""} {
		e := enginetest.Kind(t, kind)
		for name, member := range chats {
			r := parsed(t, wire.Chat, `{"messages":[{"role":"user","content":"x"}]`+member+`}`)
			if got := Continuable(r, wire.Chat, &e); got != strings.Contains(want, ","+name+",") {
				t.Errorf("%s, %s: %v", kind, name, got)
			}
		}
	}
	for kind, want := range map[string]bool{"vllm": true, "sglang": true, "llamacpp": true, "openai": false} {
		e := enginetest.Kind(t, kind)
		plain, bound := parsed(t, wire.Completion, `{"prompt":"x"}`),
			parsed(t, wire.Completion, `{"prompt":"x","guided_regex":"a+"}`)
		if Continuable(plain, wire.Completion, &e) != want || Continuable(bound, wire.Completion, &e) {
			t.Errorf("completions of %s", kind)
		}
	}
}

// What is kept of an answer, event by event: reasoning and then text, in that order, each event once; nothing of what
// an engine could not continue.
func TestReasoningAndTextAreKept(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		reasons    bool
		said       string // r and t are an event's reasoning or text, b is both
		kept       bool
	}{
		{"reasoning and text", ``, true, "rrbtt", true},
		{"reasoning", ``, true, "rrr", true},
		{"reasoning behind text", ``, true, "rtr", false},
		{"an engine that does not show it", ``, false, "r", false},
		{"text alone", ``, false, "tt", true},
		{"JSON that has not begun", `,"response_format":{"type":"json_object"}`, true, "rr", true},
		{"JSON", `,"response_format":{"type":"json_object"}`, true, "rt", false},
		{"text ahead of a call that must come", `,"tools":[{}],"tool_choice":"required"`, true, "t", false},
		{"more than is kept", ``, true, strings.Repeat("r", 99), false},
	} {
		var c Continuation
		var o sse.Options
		c.Begin(&o, parsed(t, wire.Chat, `{"messages":[{"role":"user","content":"x"}]`+tt.body+`}`), tt.reasons, 20)
		for _, what := range tt.said {
			if what != 't' {
				o.Reasoning([]byte("R"), what == 'r')
			}
			if what != 'r' {
				o.Text([]byte("T"))
			}
		}
		if got := c.Holds(len(tt.said)); got != tt.kept || c.ContinuedBy(true, false) != tt.kept {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// An engine whose prompt is not the one so far has not seen the reasoning, or has seen its end: what it says is no
// continuation.
func TestAnEngineThatDoesNotSeeTheReasoningIsFoundOut(t *testing.T) {
	for _, tt := range []struct {
		name                         string
		thoughts, prompt, base, told int
		known, astray                bool
	}{
		{"exactly", 10, 100, 12, 112, true, false},
		{"some tokens are others", 10, 100, 12, 109, true, false},
		{"the reasoning is not there", 10, 100, 15, 105, true, true},
		{"few of it", 1, 100, 3, 102, true, true},
		{"it is at its end", 10, 100, 12, 113, true, true},
		{"no count", 10, 100, 12, 0, false, true},
		{"no first count", 10, 0, 12, 112, true, true},
		{"no reasoning", 0, 100, 12, 50, true, false},
		{"nothing of the answer", 0, 100, 0, 100, true, false},
	} {
		c := &Continuation{}
		c.thoughts = tt.thoughts
		c.HandOver(tt.base, tt.prompt)
		if c.prompt = tt.prompt; c.astray(sse.Usage{PromptTokens: tt.told}, tt.known) != tt.astray {
			t.Errorf("%s", tt.name)
		}
	}
}

// An engine that speaks the door's own words tells no tokens, and what comes of it shows nothing of the template: from
// reasoning its answer goes on where the template is known, and says nothing of it.
func TestReasoningOfWhichNoTokensWereToldIsContinuedWhereItWasSeen(t *testing.T) {
	c := &Continuation{spent: 40, reasoning: reasoning{thought: []byte("r"), thoughts: 1}}
	c.HandOver(1, 100)
	for _, is := range []struct{ reasons, shown, continued bool }{
		{false, false, false}, {true, false, false}, {true, true, true},
	} {
		if got := c.ContinuedBy(is.reasons, is.shown); got != is.continued {
			t.Errorf("%+v: %v", is, got)
		}
	}
	for _, prompt := range []int{0, 90, 100, 105, 200} {
		if c.astray(sse.Usage{PromptTokens: prompt}, true) {
			t.Errorf("a prompt of %d is astray", prompt)
		}
	}
}

// An engine gets the reasoning under both names, and the text.
func TestAContinuationHasReasoningAndText(t *testing.T) {
	r := parsed(t, wire.Chat, `{"messages":[{"role":"user","content":"x"}]}`)
	c := &Continuation{text: []byte(`t\n`), base: 3}
	for thought, want := range map[string]string{
		"":   `{"role":"assistant","content":"t\n"}]`,
		`r"`: `{"role":"assistant","content":"t\n","reasoning_content":"r"","reasoning":"r""}]`,
	} {
		c.thought = []byte(thought)
		for _, e := range c.Edits(nil, r, wire.Chat) {
			if e.Key == "messages" && !strings.HasSuffix(string(e.Raw), ","+want) {
				t.Errorf("%s", e.Raw)
			}
		}
	}
}
