package emulator

import (
	"math/rand/v2"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
)

// toolUse is what a request says of the tools that its answer may call, and of the form of the answer.
type toolUse struct {
	tools  []tool
	must   bool           // tool_choice has every answer call
	single bool           // one call at most
	schema jsontext.Value // that the answer's text has to fit; nil if it is free
	asked  directive
	round  int // answers since the last user's message that called tools
	effort int // tokens of reasoning where the message asks for none in particular
}

// tool is a function that an answer may call.
type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string         `json:"name"`
		Parameters jsontext.Value `json:"parameters"`
	} `json:"function"`
}

// efforts are the tokens of reasoning by reasoning_effort; one that is not among them is high.
var efforts = map[string]int{"": 0, "none": 0, "minimal": 0, "low": 8, "medium": 16, "high": 32}

const highEffort = 48

// readToolUse reads what b says, or returns what is wrong with it.
func (b *body) readToolUse() (*toolUse, error) {
	u := &toolUse{asked: readDirective(""), effort: highEffort}
	for _, m := range b.said() {
		switch {
		case m.Role == "user":
			u.asked, u.round = readDirective(string(m.Content)), 0
		case m.Role == "assistant" && len(m.Calls) > 0:
			u.round++
		}
	}
	if n, known := efforts[b.Effort]; known {
		u.effort = n
	}
	u.single = b.ParallelCalls != nil && !*b.ParallelCalls
	if len(b.Tools) > 0 && b.Tools.Kind() != 'n' && !unmarshals(b.Tools, &u.tools) {
		return nil, badRequest("tools", "tools must be a list of tools.")
	}
	u.tools = slices.DeleteFunc(u.tools, func(t tool) bool { return t.Function.Name == "" })
	if err := u.choose(b.ToolChoice); err != nil {
		return nil, err
	}
	return u, u.form(b.Format)
}

// said returns the messages of b without the beginning of an answer that is to be continued.
func (b *body) said() []turn {
	if b.ContinueFinalMessage && len(b.Messages) > 0 {
		return b.Messages[:len(b.Messages)-1]
	}
	return b.Messages
}

// choose leaves the tools that a tool_choice leaves.
func (u *toolUse) choose(raw jsontext.Value) error {
	var word string
	var one struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	switch {
	case len(raw) == 0 || raw.Kind() == 'n':
	case unmarshals(raw, &word):
		u.must = word == "required"
		if word == "none" {
			u.tools = nil
		}
	case unmarshals(raw, &one) && one.Function.Name != "":
		u.must, u.single = true, true
		u.tools = slices.DeleteFunc(u.tools, func(t tool) bool { return t.Function.Name != one.Function.Name })
	}
	if u.must && len(u.tools) == 0 {
		return badRequest("tool_choice", "tool_choice names no tool of `tools`.")
	}
	return nil
}

// form reads a response_format.
func (u *toolUse) form(raw jsontext.Value) error {
	var format struct {
		Type   string `json:"type"`
		Schema struct {
			Schema jsontext.Value `json:"schema"`
		} `json:"json_schema"`
	}
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil
	}
	if !unmarshals(raw, &format) {
		return badRequest("response_format", "response_format must be an object with a type.")
	}
	switch format.Type {
	case "json_object":
		u.schema = jsontext.Value(`{"type":"object","properties":{"answer":{"type":"string"}}}`)
	case "json_schema":
		if u.schema = format.Schema.Schema; u.schema.Kind() != '{' {
			return badRequest("response_format", "json_schema must have a schema.")
		}
	}
	return nil
}

// callsTools reports whether the answer calls.
func (u *toolUse) callsTools() bool {
	rounds := 1
	if u.asked.rounds >= 0 {
		rounds = u.asked.rounds
	}
	return len(u.tools) > 0 && u.asked.calls != 0 && (u.must || u.round < rounds)
}

// compose returns the answer to a prompt in segments.
func (w *answerWriter) compose(t codec, p prompt, u *toolUse, variant uint64) (all []segment, calls []engine.Call) {
	seed := draw(p.tokens, variant)
	prose := w.prose(p, variant)
	if n := pickSize(u.asked.reasoning, u.effort); n > 0 {
		all = append(all, segment{part: partUnseen, text: thinkOpen},
			segment{part: partReasoning, text: cutTo(t, "Let me think. "+prose, n)},
			segment{part: partUnseen, text: thinkShut})
	}
	rng := rand.New(rand.NewPCG(seed, uint64(u.round)))
	if !u.callsTools() {
		return append(all, segment{part: partText, text: w.free(t, p, u, rng, prose)}), nil
	}
	n := 0
	if u.asked.text < 0 && !u.must && rng.IntN(2) == 0 {
		n = 6 + rng.IntN(10)
	}
	text := cutTo(t, prose, pickSize(u.asked.text, n))
	if text != "" {
		all = append(all, segment{part: partText, text: text})
	}
	calls = u.drawCalls(rng, topic(p.text), w.model)
	return append(all, callSegments(calls, text)...), calls
}

// free returns the text of an answer that calls nothing.
func (w *answerWriter) free(t codec, p prompt, u *toolUse, rng *rand.Rand, prose string) string {
	switch {
	case u.schema != nil:
		f := &fitting{rng: rng, topic: topic(p.text), words: u.asked.args, root: u.schema}
		return string(f.append(nil, u.schema, 0))
	case u.asked.text > 0:
		return cutTo(t, prose, u.asked.text)
	}
	return prose
}

// pickSize returns what was asked for, or usual where nothing was.
func pickSize(asked, usual int) int {
	if asked >= 0 {
		return asked
	}
	return usual
}

// cutTo returns the first n tokens of a text that says prose again and again.
func cutTo(t codec, prose string, n int) string {
	var out []byte
	for n > 0 {
		pieces, _ := t.pieces([]byte(prose))
		for _, piece := range pieces[:min(n, len(pieces))] {
			out = append(out, piece...)
		}
		n -= len(pieces)
	}
	return string(out)
}

// drawCalls returns the calls of an answer, drawn by rng.
func (u *toolUse) drawCalls(rng *rand.Rand, about, model string) (calls []engine.Call) {
	n := 1
	if rng.IntN(4) == 0 {
		n = 2
	}
	n = pickSize(u.asked.calls, n)
	if u.single {
		n = min(n, 1)
	}
	if u.asked.vary > 0 {
		about += " by " + model
	}
	for range n {
		t := &u.tools[rng.IntN(len(u.tools))]
		f := &fitting{rng: rng, topic: about, words: u.asked.args, root: t.Function.Parameters}
		arguments := []byte("{}")
		if t.Function.Parameters.Kind() == '{' {
			arguments = f.append(nil, t.Function.Parameters, 0)
		}
		calls = append(calls, engine.Call{Name: t.Function.Name, Arguments: string(arguments)})
	}
	return calls
}

// callSegments returns what a model says to make calls behind text: what the template shows of them later.
func callSegments(calls []engine.Call, text string) (all []segment) {
	for i, c := range calls {
		name := string(quoted(nil, c.Name))
		whole := string(engine.AppendCall(nil, engine.Call{Name: name, Arguments: c.Arguments}))
		if i > 0 || text != "" {
			all = append(all, segment{part: partUnseen, text: engine.CallGap})
		}
		named := len(engine.CallOpen + engine.CallName)
		args := named + len(name) + len(engine.CallArguments)
		all = append(all,
			segment{part: partUnseen, text: whole[:named]},
			segment{part: partName, call: i, text: name},
			segment{part: partUnseen, text: whole[named+len(name) : args]},
			segment{part: partArguments, call: i, text: c.Arguments},
			segment{part: partUnseen, text: whole[args+len(c.Arguments):]})
	}
	return all
}
