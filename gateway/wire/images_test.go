package wire

import (
	"slices"
	"testing"
)

// Images are counted and found, each by its own words, in their places among the texts; texts are what they were.
func TestImagesStandAmongTexts(t *testing.T) {
	chat := func(content string) *Request {
		t.Helper()
		var r Request
		body := `{"messages":[{"role":"system","content":"s"},{"role":"user","content":` + content + `}]}`
		if err := Parse(Chat, []byte(body), Limits{}, &r); err != nil {
			t.Fatal(content, err)
		}
		return &r
	}
	const one, other = `{"type":"image_url","image_url":{"url":"https://h/1"}}`,
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}`
	const text = `{"type":"text","text":"t"}`
	var seen []string
	for _, c := range []struct {
		content string
		images  int
		first   string
		text    string
	}{
		{`"t"`, 0, "", "t"}, {`[` + one + `]`, 1, "messages[1].content[0]", ""},
		{`[` + text + `,` + one + `]`, 1, "messages[1].content[1]", "t"},
		{`[` + one + `,` + text + `]`, 1, "messages[1].content[0]", "t"},
		{`[` + other + `,` + text + `]`, 1, "messages[1].content[0]", "t"},
		{`[` + one + `,` + other + `,` + text + `,` + text + `]`, 2, "messages[1].content[0]", "t\nt"},
		{`[` + text + `,` + one + `,` + text + `,` + other + `]`, 2, "messages[1].content[1]", "t\nt"},
	} {
		r := chat(c.content)
		worded := wordingOf(r)
		if got := string(r.AppendText(nil, 1)); r.Images() != c.images || r.FirstImage() != c.first || got != c.text {
			t.Errorf("%s: %d images, the first at %q, text %q", c.content, r.Images(), r.FirstImage(), got)
		}
		if slices.Contains(seen, worded) || worded != wordingOf(chat(c.content)) {
			t.Errorf("%s is worded %q, as another", c.content, worded)
		}
		seen = append(seen, worded)
	}
}
