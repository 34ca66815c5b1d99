package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong in a file of discover is said with the file, the entry, the key and the line, whether it is wrong by
// itself, beside another entry, beside what the configuration lists, or beside what another file has.
func TestFilesOfDiscoverAreReadAndChecked(t *testing.T) {
	many := strings.Builder{}
	for i := range MaxReplicas {
		fmt.Fprintf(&many, "- {url: 'http://10.0.%d.%d:1'}\n", i/250, i%250)
	}
	for _, c := range []struct {
		name, debug, systems string // the lists of two specialists; empty: no file
		want                 []string
		line                 int
		replicas             int
	}{
		{name: "good", debug: "- {url: 'http://a:1'}\n", systems: "[{url: 'http://b:1'}]", replicas: 2},
		{name: "no entry", debug: "[]"},
		{name: "by itself", debug: "- {url: 'http://a:1'}\n- {url: 'ftp://b:1'}\n", line: 2,
			want: []string{`specialists[0].discover.file[1].url: bad_url: debug.yaml: "ftp://b:1" is not`, "(line 2)"}},
		{name: "an unknown key", debug: "- {url: 'http://a:1'}\n-\n  url: 'http://b:1'\n  blokcs: 5\n", line: 4,
			want: []string{"specialists[0].discover.file[1].blokcs: unknown_key: debug.yaml: ", "(line 4)"}},
		{name: "no list", debug: "replicas: []", line: 1,
			want: []string{"specialists[0].discover.file: wrong_type: debug.yaml: want a list of replicas"}},
		{name: "half written", debug: "- {url: 'http://a:1'",
			want: []string{"discover.file: yaml_syntax: debug.yaml: "}},
		{name: "a link-local address", debug: "- {url: 'http://a:1'}\n- {url: 'http://169.254.169.254'}\n", line: 2,
			want: []string{"specialists[0].discover.file[1].url: bad_url: debug.yaml: ", "link-local", "(line 2)"}},
		{name: "a name that is listed", debug: "- {name: listed-0, url: 'http://a:1'}", line: 1,
			want: []string{"specialists[0].discover.file[0].name: duplicate_name: debug.yaml: ", "(line 1)"}},
		{name: "a URL twice", debug: "- {url: 'http://a:1'}\n- {url: 'http://A:1/', name: other}\n", line: 2,
			want: []string{"specialists[0].discover.file[1].url: duplicate_url: debug.yaml: ", "(line 2)"}},
		{name: "the same twice", debug: "- {url: 'http://a:1'}\n- {url: 'http://a:1'}\n", line: 2,
			want: []string{"specialists[0].discover.file[1]", "duplicate_name", "(line 2)"}},
		{name: "a name of the other file", debug: "- {name: x, url: 'http://a:1'}",
			systems: "\n- {name: x, url: 'http://b:1'}", line: 2,
			want: []string{"specialists[1].discover.file[0].name: duplicate_name: systems.yaml: ", "(line 2)"}},
		{name: "ranks", debug: "- {url: 'http://a:1', engine: vllm, ranks: 4}\n- {url: 'http://b:1'}\n", replicas: 5},
		{name: "ranks that cannot be asked", debug: "- {url: 'http://b:1'}\n- {url: 'http://a:1', ranks: 4}\n", line: 2,
			want: []string{"specialists[0].discover.file[1].ranks: conflict: debug.yaml: no rank of", "(line 2)"}},
		{name: "an engine whole and by ranks", debug: "- {url: 'http://a:1', engine: vllm, ranks: 2}\n" +
			"- {url: 'http://c:1'}\n- {url: 'http://a:1', name: whole}\n", line: 3,
			want: []string{"specialists[0].discover.file[2].url: duplicate_url: debug.yaml: ", "(line 3)"}},
		{name: "more than a gateway can tell apart", debug: many.String(), line: MaxReplicas,
			want: []string{fmt.Sprintf("specialists[0].discover.file[%d]: too_many: debug.yaml: ", MaxReplicas-1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			for name, text := range map[string]string{"debug.yaml": c.debug, "systems.yaml": c.systems} {
				if text != "" {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			cfg := parsed(t, "specialists:\n- {name: debug, discover: {file: debug.yaml}}\n"+
				"- {name: systems, discover: {file: systems.yaml}}\n"+
				"- {name: listed, replicas: [{url: 'http://listed:1'}]}\n")
			files, err := cfg.ReadFiles("octet.yaml", Options{})
			if c.want == nil {
				if err != nil || files.Replicas != c.replicas {
					t.Errorf("%+v, %v", files, err)
				}
				return
			}
			var faults *Faults
			if !errors.As(err, &faults) || faults.File != "octet.yaml" || len(faults.List) != 1 {
				t.Fatalf("%v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want %q, found %v", want, err)
				}
			}
			if f := faults.List[0]; c.line > 0 && f.Line != c.line || !strings.HasSuffix(f.File, ".yaml") {
				t.Errorf("line %d of %s", f.Line, f.File)
			}
		})
	}
}

// A file that is not there may be written later: it is told apart, and is no fault.
func TestAFileOfDiscoverThatIsAbsentIsNoFault(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg := parsed(t, "specialists:\n- {name: debug, discover: {file: absent.yaml}}\n")
	if files, err := cfg.ReadFiles("octet.yaml", Options{}); err != nil || len(files.Absent) != 1 ||
		files.Absent[0] != "absent.yaml" {
		t.Errorf("%+v, %v", files, err)
	}
}
