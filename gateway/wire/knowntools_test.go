package wire

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// cacheTool is a tool of at least 200 bytes.
func cacheTool(name string, n int) string {
	return fmt.Sprintf(`{"type":"function","function":{"name":"%s_%d","description":"Reads a \"file\", é.",`+
		`"parameters":{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"number"}},`+
		`"required":["path"]}}}`, name, n)
}

// listBody is a chat with tools.
func listBody(tools ...string) string {
	return `{"messages":[{"role":"user","content":"x"}],"tools":[` + strings.Join(tools, ",") + `],"seed":1}`
}

var oneToolBody = listBody(cacheTool("one", 1))

// read parses a body with a vocabulary, and says all that it is read as.
func readWith(v *Vocabulary, body []byte, depth int) (said string, known int) {
	var r Request
	err := Parse(Chat, body, Limits{Depth: depth, Members: v}, &r)
	if err != nil {
		return fmt.Sprintf("%+v", *err.(*Error)), 0
	}
	for i := range r.listed {
		if r.listed[i].known != nil {
			known++
		}
	}
	said = fmt.Sprintf("%s %v %v %v", r.Raw("tools"), r.Params, r.tools, r.Raw("seed"))
	for _, shown := range everyShown {
		said += string(bytes.Join(r.Wording(nil, testFrames, shown), nil))
	}
	return said, known
}

func words() *Vocabulary { return NewVocabulary(testMembers, []string{"vertex_"}) }

func TestAToolIsKnownWhenItHasComeTwice(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = cacheTool("tool", i)
	}
	spaced := strings.ReplaceAll(cacheTool("spaced", 1), `":`, `" : `)
	for name, c := range map[string]struct {
		tools []string
		want  int
	}{
		"one": {[]string{cacheTool("a", 1)}, 1}, "many": {many, 40}, "spaced": {[]string{spaced, cacheTool("a", 2)}, 2},
		"short": {[]string{`{"type":"function","function":{"name":"x"}}`}, 0},
		"long":  {[]string{`{"x":"` + strings.Repeat("x", mostTool) + `"}`}, 0},
	} {
		v, body := words(), []byte(listBody(c.tools...))
		first, known := readWith(v, body, 64)
		second, again := readWith(v, body, 64)
		if known+again != 0 || first != second {
			t.Errorf("%s: %d known at first, then %d", name, known, again)
		}
		if third, known := readWith(v, body, 64); known != c.want || third != first {
			t.Errorf("%s: %d known:\n%s\n%s", name, known, first, third)
		}
	}
}

// Whatever is changed of a body whose tools are known, it is judged and read as by a parser that knows none.
func TestWhatIsKnownChangesNoVerdict(t *testing.T) {
	escaped := strings.Replace(cacheTool("esc", 1), "Reads", `\u0052e\/ads`, 1)
	spaced := strings.ReplaceAll(cacheTool("spaced", 1), `,"`, ` , "`)
	body := []byte(listBody(cacheTool("a", 1), escaped, spaced, cacheTool("a", 2)))
	v := words()
	for range 3 {
		readWith(v, body, 64)
	}
	if _, known := readWith(v, body, 64); known != 4 {
		t.Fatalf("%d tools are known", known)
	}
	check := func(body []byte, depth int) {
		t.Helper()
		want, _ := readWith(words(), body, depth)
		if got, _ := readWith(v, body, depth); got != want {
			t.Fatalf("%s\nknown: %s\nnew:   %s", body, got, want)
		}
	}
	for depth := 1; depth < 10; depth++ {
		check(body, depth)
	}
	from := bytes.Index(body, []byte(`"tools"`))
	for i := from; i < len(body); i++ {
		check(body[:i:i], 64)
		for _, b := range []byte("\"{}[]:, x\\\xff\n") {
			changed := bytes.Clone(body)
			changed[i] = b
			check(changed, 64)
		}
		check(append(append(bytes.Clone(body[:i]), body[i+1:]...), ' '), 64)
		check([]byte(string(body[:i])+"}"+string(body[i:])), 64)
	}
	bad := strings.Replace(cacheTool("a", 1), `{"type":"function",`, `{"vertex_x":1,"type":"function",`, 1)
	for range 4 {
		check([]byte(listBody(bad)), 64)
		check([]byte(listBody(cacheTool("a", 1)+cacheTool("a", 2))), 64)
	}
}

// What a cache holds is bounded, whatever comes, and the lookups of several requests at a time are apart.
func TestAToolCacheIsBoundedAndShared(t *testing.T) {
	v := words()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 600 {
				body := []byte(listBody(cacheTool("shared", n), cacheTool("shared", n/2), cacheTool("hot", 0)))
				want, _ := readWith(words(), body, 64)
				for range 3 {
					if got, _ := readWith(v, body, 64); got != want {
						t.Errorf("%s\nreads %s", body, got)
					}
				}
			}
		})
	}
	all.Wait()
	held := 0
	for i := range v.tools.sets {
		for k := range v.tools.sets[i].kept {
			if v.tools.sets[i].kept[k].Load() != nil {
				held++
			}
		}
	}
	if held < 300 || held > toolSets*toolWays {
		t.Errorf("%d tools are kept", held)
	}
}

// BenchmarkParseTools reads 40 tools of about 250 bytes, known and new.
func BenchmarkParseTools(b *testing.B) {
	tools := make([]string, 40)
	for i := range tools {
		tools[i] = cacheTool("tool", i)
	}
	compact := listBody(tools...)
	for _, row := range []struct{ name, body string }{{"compact", compact},
		{"spaced", strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(compact)}} {
		for _, known := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/known=%v", row.name, known), func(b *testing.B) {
				parseTools(b, []byte(row.body), known)
			})
		}
	}
}

func parseTools(b *testing.B, body []byte, known bool) {
	var marks []int // of a byte in each name, which makes a tool another
	for at := 0; !known; {
		i := bytes.Index(body[at:], []byte("tool_"))
		if i < 0 {
			break
		}
		marks = append(marks, at+i)
		at += i + 5
	}
	var r Request
	var pieces [][]byte
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		for _, at := range marks {
			copy(body[at:], fmt.Sprintf("%05x", n&0xfffff))
		}
		if err := Parse(Chat, body, Limits{}, &r); err != nil {
			b.Fatal(err)
		}
		pieces = r.Wording(pieces[:0], testFrames, Shown{})
	}
}
