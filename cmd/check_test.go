package cmd

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"octet/config"
)

// check reads the files of specialists[].discover too: it counts what they list, tells of one that is absent, and
// refuses what is wrong in them.
func TestCheckReadsTheFilesOfDiscover(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func() (string, error) {
		var out bytes.Buffer
		root := Root()
		root.SetOut(&out)
		root.SetArgs([]string{"check", "octet.yaml"})
		err := root.ExecuteContext(t.Context())
		return out.String(), err
	}
	write("octet.yaml",
		"specialists:\n- {name: debug, replicas: [{url: 'http://a:1'}], discover: {file: found.yaml}}\n")
	if out, err := check(); err != nil || !strings.Contains(out, "1 specialists, 1 replicas\n") ||
		!strings.Contains(out, "found.yaml is not there") {
		t.Errorf("an absent file: %v\n%s", err, out)
	}
	write("found.yaml", "- {url: 'http://b:1'}\n- {url: 'http://c:1', engine: vllm, ranks: 2}\n")
	if out, err := check(); err != nil || !strings.Contains(out, "1 specialists, 4 replicas\n") {
		t.Errorf("%v\n%s", err, out)
	}
	write("found.yaml", "- {url: 'http://b:1'}\n- {url: 'http://A:1'}\n")
	_, err := check()
	var faults *config.Faults
	if !errors.As(err, &faults) || len(faults.List) != 1 || faults.List[0].Line != 2 ||
		faults.List[0].File != "found.yaml" {
		t.Errorf("a URL that is listed: %v", err)
	}
}
