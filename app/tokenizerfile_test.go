package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octet/app"
	"octet/config"
)

// bpeFile is a small tokenizer of our own, with ChatML beside it.
const bpeFile = "../engine/bpe/testdata/octet.json"

// A file that is missing or not understood is a fault with its path, for `octet check` and on a reload, which changes
// nothing.
func TestABadTokenizerFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct{ tokenizer, template, want string }{
		"missing": {dir + "/none.json", "", "none.json"},
		"unsupported": {write("wp.json",
			`{"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"WordPiece","vocab":{"a":0}}}`), "", "WordPiece"},
		"no template": {write("bare.json",
			`{"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0},"merges":[]}}`), "",
			"chat_template"},
		"bad template": {bpeFile, write("bad.jinja", "{% nope %}"), "nope"},
	} {
		yaml := fmt.Sprintf(
			"specialists:\n  - {name: a, tokenizer: %q, chat_template: %q, replicas: [{url: "+
				"\"http://127.0.0.1:9\"}]}\n", c.tokenizer, c.template)
		_, err := app.Source{Path: write("octet.yaml", yaml)}.Load()
		if err == nil || !strings.Contains(err.Error(), "specialists[0].tokenizer") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := config.Parse("x", []byte(yaml), config.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"bultin", "tokenizer.json"} {
		if _, err := config.Parse("x",
			[]byte("specialists:\n  - {name: a, tokenizer: "+bad+", replicas: [{url: \"http://127.0.0.1:9\"}]}\n"),
			config.Options{}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
