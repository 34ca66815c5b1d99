package chattemplate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files writes a model's directory and returns the path of its tokenizer.json, which need not be there.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "tokenizer.json")
}

//nolint:lll // raw text that cannot be broken
func TestTheTemplateStandsBesideTheTokenizer(t *testing.T) {
	const config = `{"bos_token":"<b>","eos_token":{"content":"<e>","lstrip":false},"pad_token":null,"added_tokens_decoder":{},`
	for name, c := range map[string]struct {
		texts map[string]string
		path  string // of chat_template, in the directory
		want  string
	}{
		"in the config": {
			map[string]string{"tokenizer_config.json": config +
				`"chat_template":"{{ bos_token }}c{{ eos_token }}{{ pad_token }}"}`}, "", "<b>c<e>"},
		"of several": {
			map[string]string{"tokenizer_config.json": config +
				`"chat_template":[{"name":"tool_use","template":"t"},{"name":"default","template":"d"}]}`}, "", "d"},
		"in a file of its own": {map[string]string{"tokenizer_config.json": config + `"chat_template":"c"}`,
			"chat_template.jinja": "{{ bos_token }}j"}, "", "<b>j"},
		"without a config": {map[string]string{"chat_template.jinja": "j{{ bos_token }}"}, "", "j"},
		"named": {map[string]string{"tokenizer_config.json": config + `"chat_template":"c"}`,
			"mine.jinja": "m{{ eos_token }}"}, "mine.jinja", "m<e>"},
		"another config": {map[string]string{"other.json": `{"chat_template":"o"}`}, "other.json", "o"},
	} {
		path := files(t, c.texts)
		given := c.path
		if given != "" {
			given = filepath.Join(filepath.Dir(path), given)
		}
		l, err := Load(path, given)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := l.Template.Render(nil, Chat{Messages: []byte(plain)}); err != nil || string(got) != c.want {
			t.Errorf("%s: %v: got %q, want %q", name, err, got, c.want)
		}
	}
}

func TestAMissingTemplateIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		texts map[string]string
		given string
		want  error
	}{
		"nothing":          {nil, "", ErrTemplate},
		"a config without": {map[string]string{"tokenizer_config.json": `{}`}, "", ErrTemplate},
		"no JSON":          {map[string]string{"tokenizer_config.json": `{`}, "", ErrTemplate},
		"a bad template":   {map[string]string{"chat_template.jinja": `{% nope %}`}, "", ErrTemplate},
		"a missing file":   {nil, "/nowhere/x.jinja", fs.ErrNotExist},
		"a missing config": {nil, "/nowhere/x.json", fs.ErrNotExist},
		"several, no usual": {map[string]string{
			"tokenizer_config.json": `{"chat_template":[{"name":"x","template":"t"}]}`}, "", ErrTemplate},
	} {
		path := files(t, c.texts)
		if _, err := Load(path, c.given); !errors.Is(err, c.want) || !strings.Contains(err.Error(), "/") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
