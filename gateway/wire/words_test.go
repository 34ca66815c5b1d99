package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// The engines of testWords.
const (
	one uint32 = 1 << iota
	two
	three
)

var testMembers = []Member{
	{Name: "flag", Takers: one, Form: FormFlag},
	{Name: "top_k", Takers: one | two, Form: FormWhole, Lo: -1, Hi: 100},
	{Name: "min_p", Takers: one | two | three, Form: FormReal, Lo: 0, Hi: 1},
	{Name: "word", Takers: three, Form: FormText, Hi: 8},
	{Name: "text", Takers: three, Form: FormText},
	{Name: "bad_words", Takers: one, Form: FormTexts, Hi: 4},
	{Name: "stop_token_ids", Takers: one | three, Form: FormWholes, Lo: 0, Hi: 99},
	{Name: "logit_bias", Takers: one | two, Form: FormWeights, Lo: -100, Hi: 100},
	{Name: "metadata", Takers: one | two | three, Form: FormObject},
	{Name: "chat_template_kwargs", Takers: one | two, Form: FormObject, Not: []string{"tokenize"}},
	{Name: "documents", Takers: two, Form: FormObjects},
	{Name: "anything", Takers: two},
	{Name: "grammar", Takers: two},
	{Name: "id_slot"}, {Name: "chat_template"}, {Name: "api_base"}, {Name: "image_url"},
}

var testWords = NewVocabulary(testMembers, []string{"vertex_"})

// wordSeeds are bodies of members of testWords.
var wordSeeds = []string{
	`"flag":true`, `"flag":1`, `"flag":null,"top_k":-1`, `"top_k":101`, `"top_k":1.5`, `"min_p":1e-3`, `"min_p":2`,
	`"word":"12345678"`, `"word":"123456789"`,
	`"bad_words":"abcd"`, `"bad_words":["a","bcd"]`, `"bad_words":["abcde"]`, `"bad_words":["a","b","c","d"]`,
	`"stop_token_ids":[1,2]`, `"stop_token_ids":[100]`,
	`"stop_token_ids":[1,2,3,4]`, `"stop_token_ids":1`, `"logit_bias":{"1":-100}`, `"logit_bias":{"1":101}`,
	`"logit_bias":{"1":1,"2":1,"3":1,"4":1}`,
	`"logit_bias":[[1,2]]`, `"logit_bias":[1]`, `"metadata":{"api_base":"x"}`, `"metadata":{"a":1,"b":1,"c":1,"d":1}`,
	`"metadata":[]`,
	`"chat_template_kwargs":{"enable_thinking":false}`, `"chat_template_kwargs":{"tokenize":true}`,
	`"chat_template_kwargs":{"chat_template":"x"}`,
	`"chat_template_kwargs":{"tokenize":null}`, `"documents":[{"text":"x"}]`, `"documents":["x"]`,
	`"anything":[{"x":1}]`, `"grammar":"g"`, `"grammar":"` + strings.Repeat("g", 300) + `"`,
	`"id_slot":0`, `"id_slot":null`, `"vertex_project":"x"`, `"vertex_project":null`, `"unknown":1`, `"unknown":null`,
	`"Api_Base":"x"`, `"\u0061pi_base":"x"`,
	`"tools":[{"type":"function","api_base":"x"}]`, `"tools":[{},{},{},{}]`, `"stop":["a","b","c"]`,
	`"response_format":{"type":"text","vertex_x":1}`,
	`"response_format":{"type":"text","other":1}`, `"stream_options":{"continuous_usage_stats":true}`,
	`"stream_options":{"other":1}`, `"ignore_eos":true`,
	`"ignore_eos":true,"max_tokens":3`, `"min_tokens":4,"max_tokens":3`, `"min_tokens":3,"max_tokens":3`,
	`"max_tokens":3,"max_completion_tokens":3`,
	`"messages":[{"role":"user","content":"x","api_base":"y"}]`,
	`"messages":[{"role":"user","content":[{"type":"text","text":"x","image_url":"y"}]}]`,
	`"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{}}]}]`,
}

func wordBodies() (bodies []string) {
	for _, s := range wordSeeds {
		bodies = append(bodies, `{`+s+`,"prompt":"x"}`)
		if !strings.Contains(s, "messages") {
			s += `,"messages":[{"role":"user","content":"x"}]`
		}
		bodies = append(bodies, `{`+s+`}`)
	}
	return bodies
}

func banned(lim Limits, name string) bool {
	if lim.Members == nil {
		return false
	}
	for _, m := range testMembers {
		if m.Name == name {
			return m.Takers == 0
		}
	}
	return strings.HasPrefix(name, "vertex_")
}

// countsOK judges what several counts say together.
func countsOK(body object) bool {
	count := func(name string) int64 {
		num, _ := body[name].(json.Number)
		n, err := num.Int64()
		if err != nil {
			return -1
		}
		return n
	}
	most := count("max_completion_tokens")
	if most < 0 {
		most = count("max_tokens")
	}
	endless, _ := body["ignore_eos"].(bool)
	return is[bool](body["ignore_eos"]) && within(body["min_tokens"], 0, maxInt) &&
		(most < 0 || count("min_tokens") <= most) && !(endless && most < 0)
}

// wordsOK judges the members that Parse reads by their forms.
func wordsOK(kind Kind, body object, lim Limits) bool {
	if lim.Members == nil {
		return true
	}
	for name, v := range body {
		if v != nil && banned(lim, name) {
			return false
		}
	}
	for _, m := range testMembers {
		if e := knows(kind, lim, m.Name); e.read == nil && body[m.Name] != nil && !formOK(m, body[m.Name], lim) {
			return false
		}
	}
	return true
}

func formOK(m Member, v any, lim Limits) bool {
	whole := func(v any) bool { return v != nil && within(v, int64(m.Lo), int64(m.Hi)) }
	// seeds spell without escapes
	short := func(v any) bool { return isString(v) && (m.Hi == 0 || len(v.(string)) <= int(m.Hi)) }
	switch m.Form {
	case FormFlag:
		return is[bool](v)
	case FormWhole:
		return whole(v)
	case FormReal:
		return ranged(v, m.Lo, m.Hi, false)
	case FormText:
		return short(v)
	case FormTexts:
		return short(v) || all(v, short) && few(v, lim.Entries)
	case FormWholes:
		return all(v, whole) && few(v, lim.Entries)
	case FormObjects:
		return all(v, isObject) && few(v, lim.Entries)
	case FormWeights:
		if all(v, func(e any) bool { _, pair := e.([]any); return pair }) {
			return few(v, lim.Entries)
		}
		return objectOK(v, lim, func(_ string, x any) bool { return ranged(x, m.Lo, m.Hi, false) })
	case FormObject:
		return objectOK(v, lim, func(name string, x any) bool {
			return m.Not == nil || x == nil || name != m.Not[0] && !banned(lim, name)
		})
	default: // FormAny: by its name
	}
	return true
}

func objectOK(v any, lim Limits, ok func(name string, v any) bool) bool {
	members, is := v.(object)
	for name, x := range members {
		is = is && ok(name, x)
	}
	return is && len(members) <= lim.Entries
}

// sizesOK judges how long parameters are as they are written.
func sizesOK(body []byte, lim Limits) bool {
	var raw map[string]json.RawMessage
	if json.Unmarshal(body, &raw) != nil {
		return true // no object
	}
	for name, v := range raw {
		if len(v) > lim.Bytes && knows(Chat, lim, name) != nil && !longParams[name] {
			return false
		}
	}
	return true
}

// checkTakers holds who takes a body to a count over its members.
func checkTakers(t *testing.T, body object, lim Limits, r *Request) {
	t.Helper()
	if lim.Members == nil {
		return
	}
	takers, unknown := one|two|three, false
	for name, v := range body {
		e := knows(r.Kind, lim, name)
		if e == nil && v != nil {
			unknown = true
		}
		for _, m := range testMembers {
			if m.Name == name && v != nil {
				takers &= m.Takers
			}
		}
	}
	format, _ := body["response_format"].(object)
	for name, v := range format {
		unknown = unknown || v != nil && !strings.Contains(
			" type json_schema schema structures triggers format grammar at_least_one stop_after_first ", " "+name+" ")
	}
	if (r.Unknown() != "") != unknown {
		t.Fatalf("unknown %q, by the oracle there is one: %t", r.Unknown(), unknown)
	}
	for _, engine := range []uint32{one, two, three} {
		if want := !unknown && takers&engine != 0; r.TakenBy(engine) != want ||
			(r.NotTaken(engine, lim.Members) == "") != want {
			t.Fatalf("engine %b takes the body: %t, not for %q; the oracle: %t", engine, r.TakenBy(engine),
				r.NotTaken(engine, lim.Members), want)
		}
	}
}

func TestMembersAreTakenByWhomTheVocabularySays(t *testing.T) {
	var r Request
	for _, body := range wordBodies() {
		for _, kind := range []Kind{Chat, Completion} {
			checkAgainstOracle(t, kind, []byte(body), fuzzLimits, &r)
		}
	}
}

//nolint:lll // raw text that cannot be broken
func TestARefusedMemberIsNamedByItsPath(t *testing.T) {
	lim := Limits{Members: testWords}
	var r Request
	for body, param := range map[string]string{
		`"id_slot":1`: "id_slot", `"vertex_x":1`: "vertex_x", `"tools":[{},{"api_base":"x"}]`: "tools[1].api_base",
		`"chat_template_kwargs":{"tokenize":1}`:                                              "chat_template_kwargs.tokenize",
		`"stream_options":{"x":1}`:                                                           "stream_options.x",
		`"response_format":{"type":"text","id_slot":1}`:                                      "response_format.id_slot",
		`"messages":[{"role":"user","content":"x","chat_template":"y"}]`:                     "messages[0].chat_template",
		`"messages":[{"role":"user","content":[{"type":"text","text":"x","image_url":{}}]}]`: "messages[0].content[0].image_url",
	} {
		if !strings.Contains(body, "messages") {
			body += `,"messages":[{"role":"user","content":"x"}]`
		}
		e := asError(t, Parse(Chat, []byte("{"+body+"}"), lim, &r))
		if e.Code != CodeUnsupportedParameter || e.Param != param {
			t.Errorf("%s: %v, want it refused at %s", body, e, param)
		}
	}
	body := `{"response_format":{"type":"text","odd":1},"messages":[{"role":"user","content":"x"}]}`
	if err := Parse(Chat, []byte(body), lim, &r); err != nil || r.Unknown() != "response_format.odd" {
		t.Errorf("unknown %q, %v", r.Unknown(), err)
	}
}
