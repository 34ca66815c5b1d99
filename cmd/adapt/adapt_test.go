package adapt

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octet/routing/plugins"
)

var update = flag.Bool("update", false, "write what the examples become")

// adapters are the routers, by how the names of their examples begin.
var adapters = map[string]func([]byte) (*Result, error){
	"litellm": func(text []byte) (*Result, error) {
		return LiteLLM(text, func(string) (string, bool) { return "", false })
	},
	"epp": EPP, "sglang": SGLang,
}

// Each example becomes what stands beside it: a configuration that has no fault (settle looks), and all notes.
func TestExamplesBecomeConfigurationsWithoutFaults(t *testing.T) {
	examples, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range examples {
		if filepath.Ext(path) == ".golden" {
			continue
		}
		seen++
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		router, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), "-")
		got := told(t, adapters[router], text)
		golden := path + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s becomes\n%s\nwant\n%s", path, got, want)
		}
	}
	if seen < 5 {
		t.Errorf("%d examples", seen)
	}
}

// told returns the result and its notes as one text, the same twice.
func told(t *testing.T, adapt func([]byte) (*Result, error), text []byte) string {
	t.Helper()
	var all [2]string
	for i := range all {
		r, err := adapt(text)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.Write(r.YAML)
		for _, note := range r.Notes {
			fmt.Fprintln(&b, "#", note)
		}
		all[i] = b.String()
	}
	if all[0] != all[1] {
		t.Errorf("once\n%s\nand once\n%s", all[0], all[1])
	}
	return all[0]
}

// No secret of a source is in a result or in a note.
func TestSecretsAreNotShown(t *testing.T) {
	for file, secrets := range map[string][]string{
		"litellm.yaml": {"sk-master-of-all", "sk-of-the-second-box", "u:p@db"}, "sglang.sh": {"not-to-be-shown"},
	} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		router, _, _ := strings.Cut(file, ".")
		for _, secret := range secrets {
			if !strings.Contains(string(text), secret) {
				t.Errorf("%s has no %s", file, secret)
			}
			if got := told(t, adapters[router], text); strings.Contains(got, secret) {
				t.Errorf("%s shows %s:\n%s", file, secret, got)
			}
		}
	}
}

// A master key that the environment has becomes its hash; one that it has not is told of, and tenants are not made up.
func TestAMasterKeyOfTheEnvironmentIsHashed(t *testing.T) {
	text := []byte("model_list: [{model_name: a, litellm_params: {model: hosted_vllm/a, api_base: 'http://h:1'}}]\n" +
		"general_settings: {master_key: os.environ/KEY}\n")
	r, err := LiteLLM(text, func(name string) (string, bool) { return "sk-1", name == "KEY" })
	if err != nil || !strings.Contains(string(r.YAML), hashOf("sk-1")) || strings.Contains(string(r.YAML), "sk-1\n") {
		t.Errorf("%v\n%s", err, r.YAML)
	}
	r, err = LiteLLM(text, func(string) (string, bool) { return "", false })
	if err != nil || strings.Contains(string(r.YAML), "auth") || len(r.Notes) != 1 {
		t.Errorf("%v\n%s%v", err, r.YAML, r.Notes)
	}
}

// What octet check would refuse is left out with its place, and the rest stays.
func TestWhatIsOutOfBoundsIsLeftOut(t *testing.T) {
	r, err := SGLang([]byte("--worker-urls http://h:1 --retry-max-retries 900 --log-level loud"))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(r.Notes)
	for _, want := range []string{"--retry-max-retries: left out: limits.max_attempts", "--log-level: left " +
		"out: log.level"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if strings.Contains(string(r.YAML), "max_attempts") {
		t.Errorf("%s", r.YAML)
	}
}

// Every name that the catalogue of plugins has of the endpoint picker's is known here, and leads to a plugin of ours.
func TestEveryPluginOfTheCatalogueIsKnown(t *testing.T) {
	catalogue, err := os.ReadFile("../../routing/plugins/CATALOGUE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(catalogue), "## Other names")
	section, _, _ = strings.Cut(section, "\n## ")
	known, names := 0, strings.Split(section, "`")
	for i := 1; i < len(names); i += 2 {
		if _, is := eppPlugins[names[i]]; !is && names[i] != "device-aware-weighted" { // which is Dynamo's
			t.Errorf("%s is not known", names[i])
		}
		known++
	}
	registry := plugins.Registry(plugins.Deps{})
	for theirs, p := range eppPlugins {
		if _, is := registry[p.name]; p.name != "" && !is {
			t.Errorf("%s leads to %s, which there is not", theirs, p.name)
		}
	}
	if known < 25 {
		t.Errorf("the catalogue has %d other names", known)
	}
}

// Hostile sources are refused in bounded time, each with its reason.
func TestHostileSourcesAreRefused(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'j'; i++ {
		bomb += fmt.Sprintf("%c: &%c "+
			"[*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1,
			i-1, i-1)
	}
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"aliases": {bomb, ErrTooComplex}, "depth": {strings.Repeat("[", 90) + strings.Repeat("]", 90), ErrTooComplex},
		"a merge of itself": {"a: &a {<<: *a}", ErrTooComplex},
		"size":              {strings.Repeat("#", MaxBytes+1), ErrTooLarge}, "nothing": {"", ErrNothing},
	} {
		for router, adapt := range adapters {
			if _, err := adapt([]byte(c.text)); !errors.Is(err, c.want) && !errors.Is(err, ErrSyntax) {
				t.Errorf("%s, %s: %v", name, router, err)
			}
		}
	}
}

func FuzzAdapt(f *testing.F) {
	examples, _ := filepath.Glob("testdata/*")
	for _, path := range examples {
		if text, err := os.ReadFile(path); err == nil && filepath.Ext(path) != ".golden" {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for router, adapt := range adapters {
			r, err := adapt(text)
			if err == nil && len(r.YAML) == 0 {
				t.Errorf("%s: nothing, and no error", router)
			}
		}
	})
}
