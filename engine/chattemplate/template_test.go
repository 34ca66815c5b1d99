package chattemplate

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

var friday = time.Date(2026, 11, 20, 9, 8, 7, 0, time.UTC)

func load(tb testing.TB, name string) *Template {
	tb.Helper()
	source, err := os.ReadFile("testdata/" + name + ".jinja")
	if err != nil {
		tb.Fatal(err)
	}
	t, err := New(string(source), map[string]string{"bos_token": "<s>", "eos_token": "</s>"})
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return t
}

//nolint:lll // raw text that cannot be broken
const (
	talk  = `[{"role":"system","content":" Be <brief>. "},{"role":"user","content":"Hi\n"},{"role":"assistant","content":" Hello! "},{"role":"user","content":"Why?"}]`
	plain = `[{"role":"user","content":"Hi"}]`
	tools = `[{"type":"function","function":{"name":"at","description":"It's <where>","parameters":{"type":"object","properties":{"zip":{"type":"string"},"a":{"type":"number","default":1.0}},"required":["zip"]}}}]`
	calls = `[{"role":"user","content":"Weather?"},{"role":"assistant","content":null,"tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"at","arguments":"{\"zip\": \"é1\", \"n\": [1, 2.5, true, null]}"}}]},{"role":"tool","tool_call_id":"abcdefghi","content":"15"}]`

	flatTool   = `{"type": "function", "function": {"name": "at", "description": "It's <where>", "parameters": {"type": "object", "properties": {"zip": {"type": "string"}, "a": {"type": "number", "default": 1.0}}, "required": ["zip"]}}}`
	indentTool = `{
    "type": "function",
    "function": {
        "name": "at",
        "description": "It's <where>",
        "parameters": {
            "type": "object",
            "properties": {
                "zip": {
                    "type": "string"
                },
                "a": {
                    "type": "number",
                    "default": 1.0
                }
            },
            "required": [
                "zip"
            ]
        }
    }
}`
	qwenSystem = "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant."
	llamaHead  = "<s><|start_header_id|>system<|end_header_id|>\n\n"
	llamaDates = "Cutting Knowledge Date: December 2023\nToday Date: 20 Nov 2026\n\n"
)

// What models' own templates make of chats, derived by hand from what Jinja does under transformers' settings.
//
//nolint:lll // raw text that cannot be broken
func TestTemplatesRenderAsTheirEnginesDo(t *testing.T) {
	for _, c := range []struct {
		template, messages, tools string
		open                      bool
		want                      string
	}{
		{"chatml", talk, "", true,
			"<|im_start|>system\n Be <brief>. <|im_end|>\n<|im_start|>user\nHi\n<|im_end|>\n<|im_start|>assistant\n " +
				"Hello! <|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"},
		{"chatml", plain, "", false, "<|im_start|>user\nHi<|im_end|>\n"},
		{"chatml", `[{"role":"user"},{"role":"assistant"}]`, "", false,
			"<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"},
		{"llama3", talk, "", true,
			llamaHead +
				"Be <brief>.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n" +
				"Hi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n" +
				"Hello!<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n" +
				"Why?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
		{"llama31", talk, "", true,
			llamaHead + llamaDates +
				"Be <brief>.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n" +
				"Hi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n" +
				"Hello!<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n" +
				"Why?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
		{"llama31", calls, tools, true,
			llamaHead + "Environment: ipython\n" + llamaDates +
				"<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n" +
				"Given the following functions, please respond with a JSON for a function call with its proper " +
				"arguments that best answers the given prompt.\n\n" +
				`Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.` + "Do not use variables.\n\n" + indentTool + "\n\nWeather?<|eot_id|>" +
				"<|start_header_id|>assistant<|end_header_id|>\n\n" +
				`{"name": "at", "parameters": {"zip": "é1", "n": [1, 2.5, true, null]}}` +
				"<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n" + `"15"` + "<|eot_id|>" +
				"<|start_header_id|>assistant<|end_header_id|>\n\n"},
		{"qwen25", plain, "", true, qwenSystem + "<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
		{"qwen25", calls, tools, true,
			qwenSystem +
				"\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are " +
				"provided with function signatures within <tools></tools> XML tags:\n<tools>\n" + flatTool +
				"\n</tools>\n\nFor each function call, return a json object with function name and arguments within " +
				"<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": " +
				"<args-json-object>}\n</tool_call><|im_end|>\n" +
				"<|im_start|>user\nWeather?<|im_end|>\n<|im_start|>assistant\n<tool_call>\n" +
				`{"name": "at", "arguments": {"zip": "é1", "n": [1, 2.5, true, null]}}` +
				"\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n15\n</tool_response><|im_end|>\n" +
				"<|im_start|>assistant\n"},
		{"mistral", talk, "", true, "<s>[INST] Hi\n[/INST] Hello!</s>[INST]  Be <brief>. \n\nWhy?[/INST]"},
		{"mistral", calls, tools, true,
			`<s>[AVAILABLE_TOOLS] [{"type": "function", "function": {"name": "at", "description": "It's <where>", "parameters": {"type": "object", "properties": {"zip": {"type": "string"}, "a": {"type": "number", "default": 1.0}}, "required": ["zip"]}}}][/AVAILABLE_TOOLS][INST] Weather?[/INST]` +
				`[TOOL_CALLS] [{"name": "at", "arguments": {"zip": "é1", "n": [1, 2.5, true, null]}, "id": "abcdefghi"}]</s>[TOOL_RESULTS] {"content": 15, "call_id": "abcdefghi"}[/TOOL_RESULTS]`},
		{"gemma", plain, "", true, "<s><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n"},
		{"zephyr", plain, "", true, "<|user|>\nHi</s>\n<|assistant|>\n"},
		{"zephyr", talk, "", false,
			"<|system|>\n Be <brief>. </s>\n<|user|>\nHi\n</s>\n<|assistant|>\n Hello! </s>\n<|user|>\nWhy?</s>\n"},
	} {
		chat := Chat{Messages: []byte(c.messages), Open: c.open, Now: friday}
		if c.tools != "" {
			chat.Tools = []byte(c.tools)
		}
		got, err := load(t, c.template).Render(nil, chat)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.template, err, got, c.want)
		}
	}
}

// White-space control is Jinja's.
func TestWhiteSpaceControlIsJinjas(t *testing.T) {
	for source, want := range map[string]string{
		"a {% if true %}\nb{% endif %}\nc":                       "a b" + "c",
		"  {% if true %}\n  b\n  {% endif %}\nc":                 "  b\nc",
		"a\n  {%- if true %} b {%- endif -%} \n c":               "a b" + "c",
		"a\n  {%+ if true %}b{% endif +%}\nc":                    "a\n  b\nc",
		"x {{- 'y' -}}  z":                                       "xyz",
		"x {{ 'y' }}\nz\n":                                       "x y\nz",
		"x\n\n":                                                  "x\n",
		"  {# note #}\nx{#- more -#} y":                          "xy",
		"{{ '%} }} {%' }}{{ \"it's\" }}":                         "%} }} {%it's",
		"{{ {'a': {'b': 'c'}}['a']['b'] }}":                      "c",
		"{{ 'a\\nb\\t\\\\c\\'d' }}":                              "a\nb\t\\c'd",
		"{% generation %}x{% endgeneration %}":                   "x",
		"{% set x = 'a' %}\n{% if x == 'a' %}\nyes\n{% endif %}": "yes\n",
	} {
		one, err := New(source, nil)
		if err != nil {
			t.Errorf("%q: %v", source, err)
			continue
		}
		if got, err := one.Render(nil, Chat{Messages: []byte("[]")}); err != nil || string(got) != want {
			t.Errorf("%q: %v\n got %q\nwant %q", source, err, got, want)
		}
	}
}

// What templates do with values is what Python does.
//
//nolint:lll // raw text that cannot be broken
func TestExpressionsArePythons(t *testing.T) {
	for source, want := range map[string]string{
		"{{ messages[-1].content.strip() }}|{{ messages[0]['content'].split('i')[0] }}":                       "Hi|H",
		"{{ messages|length }}{{ messages[0].nothing is defined }}{{ nothing }}":                              "1False",
		"{{ 'a' if not messages[0].tool_calls else 'b' }}":                                                    "a",
		"{% for k, v in {'z': 1, 'a': 2}.items() %}{{ k }}{{ v }}{% endfor %}":                                "z1a2",
		"{{ messages[0].role in ['user', 'x'] }}{{ 'o' not in 'user' }}":                                      "TrueTrue",
		"{{ 'x' ~ 1 ~ true ~ none }}":                                                                         "x1TrueNone",
		"{{ messages[0].content.startswith('H') and 'Hi'.endswith('i') }}":                                    "True",
		"{% for m in messages %}{{ loop.index }}{{ loop.last }}{{ loop.first }}{% endfor %}":                  "1TrueTrue",
		"{% macro f(x, y='d') %}{{ x }}{{ y }}{% endmacro %}{{ f('a') }}{{ f('a', y='b') }}":                  "adab",
		"{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}": "3",
		"{{ [1,2,3]|join(', ') }}{{ 'AbC'|lower|upper|title }}":                                               "1, 2, 3Abc",
		"{{ messages[0] | tojson }}":                                                                          `{"role": "user", "content": "Hi"}`,
		"{{ messages|map(attribute='role')|list|tojson }}":                                                    `["user"]`,
		"{{ {'a': 1e20, 'b': 0.00001, 'c': -0.5, 'd': '\u00e9\"'} | tojson }}":                                `{"a": 1e+20, "b": 1e-05, "c": -0.5, "d": "é\""}`,
		"{{ [] | tojson(indent=2) }}{{ {} | tojson }}":                                                        "[]{}",
		"{{ 'a,b'.split(',') | last }}{{ 'xay'.replace('a', '') }}":                                           "bxy",
		"{{ '\n\nx\n'.lstrip('\n') }}{{ 7 // 2 }}{{ 7 % 2 }}{{ 2 * 3 }}":                                      "x\n316",
		"{{ messages is iterable }}{{ messages[0] is mapping }}{{ 'x' is string }}{{ true is boolean }}{{ none is " +
			"none }}": "TrueTrueTrueTrueTrue",
		"{{ messages[0].get('nope', 'd') }}{{ messages[0].get('role') }}":                             "duser",
		"{% for m in messages[::-1] %}{{ m.role }}{% endfor %}":                                       "user",
		"{{ strftime_now('%Y-%m-%d %H:%M') }}":                                                        "2026-11-20 09:08",
		"{{ 'a' + 'b' + 'c' }}{{ 1 + 2 + 3 - 4 + 1 }}{{ [1] + [2] + [3] }}{{ 1.5 + 1 }}{{ 'x' * 3 }}": "abc3[1, 2, 3]2.5xxx",
		"{{ 'x'.split('y')[-1] }}{{ [7][-1] }}{{ ('a', 'b')[1] }}{{ 'abc'[1:] }}{{ 'abc'[::-1] }}{{ [1,2,3,4][1:-1] " +
			"}}": "x7bbccba[2, 3]",
		"{{ 1 < 2 < 3 }}{{ 2 < 1 < 3 }}{{ 1 == 1.0 }}{{ 'a' < 'b' }}{{ none == none }}{{ 3 is divisibleby 3 }}{{ 2 " +
			"is in [1, 2] }}": "TrueFalseTrueTrueTrueTrueTrue",
		"{{ {'a': [1, 'b', none, true]} }}{{ \"it's\" | string }}{{ ['it\\'s', 'x\\n'] }}":                  `{'a': [1, 'b', None, True]}it's["it's", 'x\n']`,
		"{% set a, b = ('x', 'y') %}{{ a }}{{ b }}{% with c = 'z' %}{{ c }}{% endwith %}{{ c is defined }}": "xyzFalse",
		"{% for i in range(5) if i % 2 == 0 %}{{ i }}{% if i == 2 %}{% break %}{% endif %}{% else %}none{% endfor " +
			"%}": "02",
		"{% for i in [] %}x{% else %}none{% endfor %}{% for i in range(3) %}{% if i == 1 %}{% continue %}{% endif " +
			"%}{{ i }}{% endfor %}": "none02",
		"{% set x %}a{{ 'b' }}{% endset %}{{ x }}{% set y | upper %}q{% endset %}{{ y }}": "abQ",
		"{% for a in [1, 2] %}{% for b in [1] %}{{ loop.depth }}{% endfor %}{{ loop.revindex }}{{ loop.nextitem is " +
			"defined }}{% endfor %}": "22True21False",
		"{{ 'hello world' | title }}{{ 'ab' | capitalize }}{{ [3, 1] | max }}{{ [1, 1, 2] | unique | list }}{{ '5' | " +
			"int + 1 }}{{ '2.5' | float }}": "Hello WorldAb3[1, 2]62.5",
		"{{ 'a\nb' | indent(2) }}|{{ nothing | default('d') }}|{{ '' | default('e', true) }}|{{ {'b': 1, 'a': 2} | " +
			"dictsort }}": "a\n  b|d|e|[['a', 2], ['b', 1]]",
		"{{ messages | selectattr('role', 'in', ['user']) | list | length }}{{ [0, 1, ''] | select | list }}{{ [1, " +
			"none] | reject('none') | list }}": "1[1][1]",
		"{{ not true or true and false }}{{ -1 | abs }}{{ -7 // 2 }}{{ -7 % 3 }}{{ 7 / 2 }}":                         "False1-423.5",
		"{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{% for i in [1] %}{% set x = 3 %}{% endfor %}{{ x }}": "2",
		"{{ ' x '.strip() }}{{ 'xxa'.lstrip('x') }}{{ 'a.b.c'.rsplit('.', 1) }}{{ 'abc'.find('c') }}{{ 'a b  " +
			"c'.split() }}": "xa['a.b', 'c']2['a', 'b', 'c']",
		"{% if tools %}a{% elif tools is none %}b{% endif %}": "b",
		"{{ enable_thinking }}":                               "False",
	} {
		one, err := New(source, nil)
		if err != nil {
			t.Errorf("%q: %v", source, err)
			continue
		}
		got, err := one.Render(nil,
			Chat{Messages: []byte(plain), Now: friday, Extra: []byte(`{"enable_thinking":false}`)})
		if err != nil || string(got) != want {
			t.Errorf("%q: %v\n got %q\nwant %q", source, err, got, want)
		}
	}
}

func TestRenderingIsBounded(t *testing.T) {
	for source, want := range map[string]error{
		"{% for i in range(100000000) %}x{% endfor %}":                                                  ErrTooLarge,
		"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}":                                               ErrTooLarge,
		"{% for i in range(60000) %}{% for j in range(60000) %}{{ i }}{% endfor %}{% endfor %}":         ErrTooLarge,
		"{% for i in range(60000) %}{% for j in range(60000) %}{% set x = j %}{% endfor %}{% endfor %}": ErrTooLarge,
		"{{ raise_exception('no') }}":                                                                   ErrRefused,
		"{{ strftime_now('%Q') }}":                                                                      ErrRefused,
		"{{ messages[0].content + 1 }}":                                                                 ErrRefused,
	} {
		one, err := New(source, nil)
		if err != nil {
			t.Errorf("%q: %v", source, err)
			continue
		}
		if got, err := one.Render([]byte("as it was"), Chat{Messages: []byte(plain)}); !errors.Is(err, want) ||
			string(got) != "as it was" {
			t.Errorf("%q: %v, %q", source, err, got)
		}
	}
}

func TestBadTemplatesAreRefused(t *testing.T) {
	for _, source := range []string{
		"{% if %}", "{{ 'a }}", "{% for x in messages %}", "{{ ", "{% include '/etc/passwd' %}", "{% extends 'x' %}",
		"{%- import 'x' as y %}", "{% nope %}",
		"{{ x | nofilter }}", strings.Repeat("x", maxSource+1),
	} {
		one, err := New(source, nil)
		if err == nil {
			_, err = one.Render(nil, Chat{Messages: []byte(plain)})
			if !errors.Is(err, ErrRefused) {
				t.Errorf("%.40q: %v", source, err)
			}
		} else if !errors.Is(err, ErrTemplate) {
			t.Errorf("%.40q: %v", source, err)
		}
	}
}

func TestChatsThatAreNoneAreRefused(t *testing.T) {
	one := load(t, "chatml")
	for _, messages := range []string{"", "{}", "[1]", `[{"role":"user","content":5}]`,
		`[{"role":"user","content":[{"type":"image_url"}]}]`, `[{"role":"user","content":["x"]}]`,
		strings.Repeat("[", 100) + strings.Repeat("]", 100),
		`[{"role":"a","content":"","tool_calls":[{"function":{"arguments":"{"}}]}]`} {
		if _, err := one.Render(nil, Chat{Messages: []byte(messages)}); !errors.Is(err, ErrRefused) &&
			!errors.Is(err, ErrTooLarge) {
			t.Errorf("%.40q: %v", messages, err)
		}
	}
}

func FuzzNothingPanics(f *testing.F) {
	for _, name := range []string{"chatml", "llama31", "mistral", "zephyr"} {
		source, _ := os.ReadFile("testdata/" + name + ".jinja")
		f.Add(string(source), talk)
	}
	f.Fuzz(func(_ *testing.T, source, messages string) {
		if one, err := New(source, nil); err == nil {
			_, _ = one.Render(nil, Chat{Messages: []byte(messages), Now: friday})
		}
	})
}
