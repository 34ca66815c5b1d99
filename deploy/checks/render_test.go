package checks

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const chartPath = "../helm/octet"

// render returns the chart's manifests under values, in the order in which Helm applies them.
func render(values map[string]any) (string, error) {
	chart, err := loader.LoadDir(chartPath)
	if err != nil {
		return "", err
	}
	release := chartutil.ReleaseOptions{Name: "gw", Namespace: "ml", IsInstall: true, Revision: 1}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.33.0", Major: "1", Minor: "33"}
	all, err := chartutil.ToRenderValues(chart, values, release, capabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return "", err
	}
	for name := range files {
		if strings.HasSuffix(name, ".txt") {
			delete(files, name)
		}
	}
	_, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	var out strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&out, "---\n%s\n", strings.TrimSpace(m.Content))
	}
	return out.String(), err
}

// readValues reads a values file.
func readValues(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// What other projects define, as far as the chart uses it: fields that are not here are faults of the chart.
type metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

type serviceMonitor struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       struct {
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		Endpoints []struct {
			Port      string `json:"port"`
			Path      string `json:"path"`
			Interval  string `json:"interval"`
			Scheme    string `json:"scheme"`
			TLSConfig struct {
				CA struct {
					Secret corev1.SecretKeySelector `json:"secret"`
				} `json:"ca"`
				ServerName string `json:"serverName"`
			} `json:"tlsConfig"`
			Authorization struct {
				Type        string                   `json:"type"`
				Credentials corev1.SecretKeySelector `json:"credentials"`
			} `json:"authorization"`
		} `json:"endpoints"`
	} `json:"spec"`
}

type scaledObject struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       struct {
		ScaleTargetRef struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		MinReplicaCount int32 `json:"minReplicaCount"`
		MaxReplicaCount int32 `json:"maxReplicaCount"`
		CooldownPeriod  int32 `json:"cooldownPeriod"`
		Triggers        []struct {
			Type       string            `json:"type"`
			MetricType string            `json:"metricType"`
			Metadata   map[string]string `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}

// decode returns the objects of manifests, each of the type that its API has. A field that there is not is an error.
func decode(manifests string) (objects []any, err error) {
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for text := range strings.SplitSeq("\n"+manifests, "\n---\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		object, _, failed := strict.Decode([]byte(text), nil, nil)
		var of any = object
		if runtime.IsNotRegisteredError(failed) {
			of, failed = decodeOthers(text)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%w in\n%s", failed, text))
		}
		objects = append(objects, of)
	}
	return objects, err
}

func decodeOthers(text string) (any, error) {
	var kind runtime.TypeMeta
	if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
		return nil, err
	}
	switch kind.APIVersion + " " + kind.Kind {
	case "monitoring.coreos.com/v1 ServiceMonitor":
		o := new(serviceMonitor)
		return o, yaml.UnmarshalStrict([]byte(text), o)
	case "keda.sh/v1alpha1 ScaledObject":
		o := new(scaledObject)
		return o, yaml.UnmarshalStrict([]byte(text), o)
	}
	return nil, fmt.Errorf("no API has %v", kind)
}

// all returns the objects of one type, by name.
func all[T any](objects []any) (of []T) {
	for _, o := range objects {
		if o, is := o.(T); is {
			of = append(of, o)
		}
	}
	return slices.Clip(of)
}
