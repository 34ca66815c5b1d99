package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

const composePath = "../compose.yaml"

func project(t *testing.T, env ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{composePath}, cli.WithEnv(env), cli.WithInterpolation(true))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

func composed(t *testing.T) *types.Project {
	t.Helper()
	p, err := project(t, "OCTET_ADMIN_TOKEN=a token that is long enough")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// host returns the file on this machine that a container has at path.
func host(t *testing.T, s types.ServiceConfig, path string) string {
	t.Helper()
	for _, v := range s.Volumes {
		if rest, ok := strings.CutPrefix(path, v.Target); ok && v.Type == "bind" && (rest == "" || rest[0] == '/') {
			return filepath.Join(v.Source, rest)
		}
	}
	t.Errorf("%s has nothing at %s", s.Name, path)
	return ""
}

func read(t *testing.T, path string, v any) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil && v != nil {
		err = yaml.Unmarshal(text, v)
	}
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestComposeDoesNotStartWithoutAToken(t *testing.T) {
	if _, err := project(t); err == nil || !strings.Contains(err.Error(), "OCTET_ADMIN_TOKEN") {
		t.Errorf("%v", err)
	}
}

func TestEveryServiceIsConfinedAndHasItsFiles(t *testing.T) {
	p := composed(t)
	for name, s := range p.Services {
		if !s.ReadOnly || s.HealthCheck == nil || s.Privileged || len(s.CapAdd) > 0 ||
			!slices.Contains(s.CapDrop, "ALL") ||
			!slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s is not confined, or has no healthcheck", name)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %s beyond this host", name, port.Published)
			}
		}
		for _, v := range s.Volumes {
			if v.Type != "bind" {
				continue
			}
			if _, err := os.Stat(v.Source); err != nil || !v.ReadOnly {
				t.Errorf("%s: %s: %v, or it may be written", name, v.Source, err)
			}
		}
	}
}

func TestTheGatewayOfComposeTakesItsConfigurationAndFlags(t *testing.T) {
	s := composed(t).Services["octet"]
	checkCommand(t, s.Command)
	checkCommand(t, s.HealthCheck.Test[2:])
	config := s.Command[slices.Index(s.Command, "--config")+1]
	checkConfig(t, read(t, host(t, s, config), nil))
	if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	var octet struct {
		Listen   struct{ Data, Admin string }
		Limits   struct{ Drain, Stop string }
		Events   struct{ Snapshot struct{ File string } }
		Receipts struct{ File string }
	}
	read(t, host(t, s, config), &octet)
	for _, file := range []string{octet.Events.Snapshot.File, octet.Receipts.File} {
		if !slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool {
			return v.Type == "volume" && strings.HasPrefix(file, v.Target+"/")
		}) {
			t.Errorf("%s is on no volume", file)
		}
	}
	if octet.Limits.Drain != "" || octet.Limits.Stop != "" || s.StopGracePeriod.String() != "50s" {
		t.Errorf("stop_grace_period %s is for the defaults of limits.drain and limits.stop", s.StopGracePeriod)
	}
}

func TestPrometheusAndGrafanaFindWhatTheyAreTold(t *testing.T) {
	p := composed(t)
	s := p.Services["prometheus"]
	file := ""
	for _, a := range s.Command {
		if path, ok := strings.CutPrefix(a, "--config.file="); ok {
			file = path
		}
	}
	var prometheus struct {
		Rules  []string `json:"rule_files"`
		Scrape []struct {
			Authorization struct {
				File string `json:"credentials_file"`
			}
			Static []struct{ Targets []string } `json:"static_configs"`
		} `json:"scrape_configs"`
	}
	read(t, host(t, s, file), &prometheus)
	for _, r := range prometheus.Rules {
		read(t, host(t, s, r), nil)
	}
	job := prometheus.Scrape[0]
	secret := filepath.Base(job.Authorization.File)
	if s.Secrets[0].Source != secret || p.Secrets[secret].Environment == "" {
		t.Errorf("%s is no secret of prometheus", secret)
	}
	if job.Static[0].Targets[0] != "octet:8081" {
		t.Errorf("%v are scraped", job.Static)
	}
	g := p.Services["grafana"]
	var sources struct{ Datasources []struct{ URL string } }
	read(t, filepath.Join(host(t, g, "/etc/grafana/provisioning/datasources"), "prometheus.yml"), &sources)
	if sources.Datasources[0].URL != "http://prometheus:9090" {
		t.Errorf("%v", sources)
	}
	var boards struct {
		Providers []struct{ Options struct{ Path string } }
	}
	read(t, filepath.Join(host(t, g, "/etc/grafana/provisioning/dashboards"), "octet.yml"), &boards)
	if found, _ := filepath.Glob(host(t, g, boards.Providers[0].Options.Path) + "/*.json"); len(found) == 0 {
		t.Error("no dashboard is provisioned")
	}
}
