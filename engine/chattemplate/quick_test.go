package chattemplate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sources are templates that models have, and small ones for what those leave out.
func sources(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.jinja")
	if err != nil || len(files) == 0 {
		tb.Fatal(err)
	}
	all := []string{
		"{% for m in messages %}{{ loop }}{{ loop.index }}{% endfor %}",
		"{% for m in messages %}{{ loop.index0 + 1 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ " +
			"loop.revindex }}{{ loop.depth }}{{ loop.nothing is defined }}{% endfor %}",
		"{% for m in messages %}{% for c in m.content %}{{ loop.depth0 }}{{ loop.depth }}{{ loop['index'] }}{{ c " +
			"}}{% endfor %}{{ loop.index }}{% endfor %}",
		"{% for m in messages %}{% set x = loop %}{% for c in messages %}{{ x.index }}{{ loop.index }}{{ loop.depth " +
			"}}{% endfor %}{% endfor %}",
		"{% for m in messages %}{% set loop = m %}{{ loop.role }}{{ loop.index }}{% endfor %}",
		"{% for loop in messages %}{{ loop.role }}{{ loop.index }}{% endfor %}",
		"{% for m in messages %}{% set loop.index = 7 %}{{ loop.index }}{{ loop.index0 }}{% for n in messages %}{{ " +
			"loop.depth }}{% endfor %}{% endfor %}",
		"{% for m in messages %}{% set loop.depth = 'x' %}{% for n in messages %}{{ loop.depth }}{% endfor %}{% " +
			"endfor %}",
		"{{ loop.index }}", "{{ loop is defined }}",
		"{% set loop = messages[0] %}{{ loop.role }}{% for m in messages %}{{ loop.depth }}{% endfor %}",
		"{% set ns = namespace(f=none) %}{% for m in messages %}{% set x = m.role %}{% macro f() %}{{ x }}{{ " +
			"loop.index }}{% endmacro %}{% if loop.first %}{% set ns.f = f %}{% endif %}{% endfor %}{{ ns.f() }}",
		"{% macro f(m) %}{{ loop is defined }}{{ m.role + m.content }}{% endmacro %}{% for m in messages %}{{ f(m) + " +
			"'|' }}{% endfor %}",
		"{% for m in messages %}{% if not x is defined %}{% set x = m.role %}{% endif %}{{ x }}{% endfor %}{{ x is " +
			"defined }}",
		"{{ messages[0].role + 1 }}", "{{ 1 + messages|length + 2.5 }}", "{{ 'a' + 'b' + 1 }}", "{{ nothing + 'a' }}",
		"{{ [1] + [2] }}", "{{ 'a' + nothing.b + 1 }}",
		"{{ messages[0].content + ('a' + 'b') + 'c' - 1 }}", "{{ ('a' + 'b') }}",
		"{{ 'a' + 'b' if messages else 'c' }}", "{{ messages[0].items + 'a' }}",
		"{{ messages[0].role == messages[1].role }}",
		"{% for m in messages %}{{ m.get('x', 'y') + m.role }}{{ m.items()|length }}{{ m.nothing }}{{ m.role.upper() " +
			"+ '.' }}{% break %}{% endfor %}",
		"{% for m in messages %}{{ m.content + m.content + m.content + m.content + m.content + m.content + m.content " +
			"+ m.content + m.content + '9' }}{% endfor %}",
		"{% for i in range(70) %}{% for m in messages %}{{ i ~ 'x' + m.content * 400 }}{% endfor %}{% endfor %}",
		"{% for m in messages if m.role != 'user' %}{{ loop.index }}{{ m.role + '\n' }}{% else %}none{{ loop is " +
			"defined }}{% endfor %}",
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, string(source))
	}
	return all
}

// same renders by short cuts and the plain way, and compares.
func same(t *testing.T, source string, c Chat) {
	t.Helper()
	tokens := map[string]string{"bos_token": "<s>", "eos_token": "</s>"}
	quick, err := New(source, tokens)
	slow, slowErr := read(source, tokens, true)
	if err != nil || slowErr != nil {
		if fmt.Sprint(err) != fmt.Sprint(slowErr) {
			t.Errorf("%q: %v, the plain way %v", source, err, slowErr)
		}
		return
	}
	got, err := quick.Render([]byte("before"), c)
	want, wantErr := slow.Render([]byte("before"), c)
	if slowly := fmt.Sprintf("more than %v", maxTime); strings.Contains(fmt.Sprint(err, wantErr), slowly) {
		return // how far a second goes is not the same
	}
	if string(got) != string(want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("%q of %.300s:\n got %q, %v\nwant %q, %v", source, c.Messages, got, err, want, wantErr)
	}
	if err != nil && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrTooLarge) {
		t.Errorf("%q: %v", source, err)
	}
}

//nolint:lll // raw text that cannot be broken
var chats = []string{
	talk, plain, calls, "[]", `[{"role":"user"},{"role":"assistant"},{"role":"user","name":"n"}]`, `[{"role":"user"}]`,
	`[{"role":"assistant","content":null,"tool_calls":[]},{"role":"system","content":""}]`,
	`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b\n"}]},{"role":"assistant","content":"\u00e9\t"},{"content":"c","role":"tool"}]`,
	`[{"role":"system","content":"s"},{"role":"user","content":"u","content":"v","index":1},{"role":"assistant","content":"a","reasoning_content":"r"},{"role":"user","content":"w"}]`,
}

func TestShortCutsGiveWhatThePlainWayGives(t *testing.T) {
	long := `[{"role":"user","content":"` + strings.Repeat("long\\n",
		40_000) + `"},{"role":"assistant","content":"` + strings.Repeat("x", 100_000) + `"}]`
	for _, source := range sources(t) {
		for _, messages := range append(chats, long) {
			for _, open := range []bool{true, false} {
				same(t, source, Chat{Messages: []byte(messages), Open: open, Now: friday})
			}
			same(t, source, Chat{Messages: []byte(messages), Tools: []byte(tools),
				Extra: []byte(`{"loop":5,"x":"y","messages":1}`), Now: friday})
		}
	}
}

// Both take as many steps, and so end where there are no more.
func TestShortCutsAreBoundedAsThePlainWayIs(t *testing.T) {
	source := func(n int) string {
		return fmt.Sprintf(
			"{%% for i in range(%d) %%}{%% for j in range(6) %%}{{ 'a' + 'b' }}{%% if loop.first == i %%}x{%% endif "+
				"%%}{%% endfor %%}{%% endfor %%}", n)
	}
	steps := func(n int) int {
		one, err := read(source(n), nil, true)
		if err != nil {
			t.Fatal(err)
		}
		r := &run{until: time.Now().Add(time.Hour), filters: filters}
		if err := one.execute(&frame{r, &scope{parent: one.globals}}); err != nil {
			t.Fatal(err)
		}
		return r.steps
	}
	each := (steps(200) - steps(100)) / 100
	most := 100 + (maxSteps-steps(100))/each
	for n := most; n <= most+1; n++ {
		same(t, source(n), Chat{Messages: []byte(plain)})
	}
}

// A template whose short cut forgets what it rendered before: one chat after another on one goroutine.
func TestChatsDoNotShowInEachOther(t *testing.T) {
	one := load(t, "qwen25")
	want := map[string]string{}
	for range 3 {
		for _, messages := range chats {
			got, _ := one.Render(nil, Chat{Messages: []byte(messages), Open: true})
			if before, ok := want[messages]; ok && before != string(got) {
				t.Errorf("%.100s: %q, before it was %q", messages, got, before)
			}
			want[messages] = string(got)
		}
	}
}

func FuzzShortCutsGiveWhatThePlainWayGives(f *testing.F) {
	all := sources(f)
	for i, source := range all {
		f.Add(source, chats[i%len(chats)], i%2 == 0)
	}
	for _, messages := range chats {
		f.Add(all[len(all)-3], messages, true)
	}
	f.Fuzz(func(t *testing.T, source, messages string, open bool) {
		if len(source) < 1<<12 {
			same(t, source, Chat{Messages: []byte(messages), Open: open, Now: friday})
		}
		for _, known := range all[len(all)-7:] {
			same(t, known, Chat{Messages: []byte(messages), Open: open, Now: friday})
		}
	})
}
