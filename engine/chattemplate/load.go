package chattemplate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxFile bounds a tokenizer_config.json, in bytes: some list thousands of tokens.
const maxFile = 16 << 20

// Loaded is what the files beside a tokenizer.json say.
type Loaded struct {
	Template *Template
	// Plain says that special tokens in a text are text (split_special_tokens).
	Plain bool
}

// tokenizerConfig is a tokenizer_config.json: chat_template, split_special_tokens and bos_token with its like matter
// here.
type tokenizerConfig map[string]jsontext.Value

// Load reads the chat template of the tokenizer at tokenizerPath: the one at path where that is not empty, else
// chat_template.jinja or tokenizer_config.json in the tokenizer's directory. Every error names the file.
func Load(tokenizerPath, path string) (Loaded, error) {
	beside := func(name string) string { return filepath.Join(filepath.Dir(tokenizerPath), name) }
	configPath := beside("tokenizer_config.json")
	if strings.HasSuffix(path, ".json") {
		configPath = path
	}
	c, err := readConfig(configPath, path == configPath)
	if err != nil {
		return Loaded{}, err
	}
	if path == "" {
		if path = configPath; exists(beside("chat_template.jinja")) {
			path = beside("chat_template.jinja")
		}
	}
	source, err := c.source(path, configPath)
	if err != nil {
		return Loaded{}, fmt.Errorf("%s: %w", path, err)
	}
	t, err := New(source, c.tokens())
	if err != nil {
		return Loaded{}, fmt.Errorf("%s: %w", path, err)
	}
	return Loaded{t, string(c["split_special_tokens"]) == "true"}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readConfig reads a tokenizer_config.json; one that need not be there may be missing.
func readConfig(path string, needed bool) (c tokenizerConfig, err error) {
	text, err := readFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) && !needed {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c, jsontext.AllowDuplicateNames(true)); err != nil {
		return c, fmt.Errorf("%s: %w: %w", path, ErrTemplate, err)
	}
	return c, nil
}

// readFile returns what is in a regular file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	about, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !about.Mode().IsRegular() || about.Size() > limit:
		return nil, fmt.Errorf("%s: %w: not a file of at most %d bytes", path, ErrTemplate, limit)
	}
	return os.ReadFile(path)
}

// source returns the template's text: of a file of its own, or the config's.
func (c tokenizerConfig) source(path, configPath string) (string, error) {
	if path != configPath {
		text, err := readFile(path, maxSource)
		return string(text), err
	}
	var one string
	var several []struct {
		Name     string `json:"name"`
		Template string `json:"template"`
	}
	given := c["chat_template"]
	switch given.Kind() {
	case '"':
		err := json.Unmarshal(given, &one)
		return one, err
	case '[':
		if err := json.Unmarshal(given, &several); err != nil {
			return "", fmt.Errorf("%w: %w", ErrTemplate, err)
		}
		for _, s := range several {
			if s.Name == "default" {
				return s.Template, nil
			}
		}
	default: // no template
	}
	return "", fmt.Errorf("%w: there is no chat_template", ErrTemplate)
}

// tokens returns the tokens that templates know by name: bos_token and its like.
func (c tokenizerConfig) tokens() map[string]string {
	named := map[string]string{}
	for name, v := range c {
		var plain string
		var added struct {
			Content string `json:"content"`
		}
		if !strings.HasSuffix(name, "_token") {
			continue
		}
		switch {
		case v.Kind() == '"' && json.Unmarshal(v, &plain) == nil:
			named[name] = plain
		case v.Kind() == '{' && json.Unmarshal(v, &added) == nil:
			named[name] = added.Content
		}
	}
	return named
}
