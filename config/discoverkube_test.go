package config

import (
	"errors"
	"strings"
	"testing"
)

// A source of Kubernetes has a service or a selector, and defaults for the rest.
func TestASourceOfKubernetesNamesItsPods(t *testing.T) {
	parse := func(section string) (*Config, error) {
		return Parse("x.yaml", []byte("specialists: [{name: debug, discover: {kubernetes: "+section+"}}]"), Options{})
	}
	c, err := parse("{namespace: ml, service: vllm-debug, port: http, selector: team=ml}")
	if err != nil {
		t.Fatal(err)
	}
	want := Kubernetes{Namespace: "ml", Service: "vllm-debug", Port: "http", Selector: "team=ml", Scheme: "http",
		Family: "auto"}
	if k := *c.Specialists[0].Discover.Kubernetes; k != want {
		t.Errorf("%+v", k)
	}
	for section, want := range map[string]string{
		"{namespace: ml}":                          "service or selector is required",
		"{service: a/b}":                           "service",
		"{service: a, scheme: ftp}":                "scheme",
		"{service: a, family: both}":               "family",
		"{service: a, port: 'http{}'}":             "port",
		"{service: a, labels: {a: b}}":             "labels",
		"{selector: a=b, service: '', port: http}": "",
	} {
		_, err := parse(section)
		var faults *Faults
		typed := err == nil || errors.As(err, &faults) && strings.Contains(err.Error(), want)
		if (want == "") != (err == nil) || !typed {
			t.Errorf("%s: %v, want %q", section, err, want)
		}
	}
}
