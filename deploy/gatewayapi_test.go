package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	extproc "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	"google.golang.org/protobuf/encoding/protojson"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
)

// objects are the documents of a file of deploy/gateway-api, as JSON by their kinds.
func objects(t *testing.T, name string) map[string][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join("gateway-api", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, d := map[string][]byte{}, yaml.NewDecoder(f)
	for {
		var v map[string]any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := v["kind"].(string)
		all[kind] = text
	}
}

func TestThePickersManifestsAreOfTheirAPIs(t *testing.T) {
	all := objects(t, "deployment.yaml")
	var deployment apps.Deployment
	var service core.Service
	var settings core.ConfigMap
	for kind, into := range map[string]any{"Deployment": &deployment, "Service": &service, "ConfigMap": &settings,
		"Role": new(rbac.Role), "RoleBinding": new(rbac.RoleBinding), "ServiceAccount": new(core.ServiceAccount)} {
		d := json.NewDecoder(bytes.NewReader(all[kind]))
		d.DisallowUnknownFields()
		if err := d.Decode(into); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	var pool struct {
		Spec struct {
			EndpointPickerRef struct {
				Name string
				Port struct{ Number int32 }
			}
			TargetPorts []struct{ Number int32 }
		}
	}
	if err := json.Unmarshal(objects(t, "inferencepool.yaml")["InferencePool"], &pool); err != nil {
		t.Fatal(err)
	}
	ref, port := pool.Spec.EndpointPickerRef, deployment.Spec.Template.Spec.Containers[0].Ports[0].ContainerPort
	if ref.Name != service.Name || ref.Port.Number != service.Spec.Ports[0].Port || port != ref.Port.Number ||
		len(pool.Spec.TargetPorts) != 1 {
		t.Errorf("the pool asks %+v, the service is %s:%d, the port %d", ref, service.Name,
			service.Spec.Ports[0].Port, port)
	}
	pod := deployment.Spec.Template.Spec
	if hook := pod.Containers[0].Lifecycle; hook == nil || hook.PreStop == nil || hook.PreStop.Sleep == nil ||
		hook.PreStop.Sleep.Seconds < 1 {
		t.Error("a pod refuses requests before the proxies know that it ends")
	} else if least := hook.PreStop.Sleep.Seconds + 30 + 10; *pod.TerminationGracePeriodSeconds <= least {
		t.Errorf("a pod has %d s to end, and may take %d", *pod.TerminationGracePeriodSeconds, least)
	}
	var cfg struct {
		Specialists []struct{ Tokenizer string }
	}
	if err := yaml.Unmarshal([]byte(settings.Data["octet.yaml"]), &cfg); err != nil || len(cfg.Specialists) == 0 {
		t.Errorf("the picker's configuration: %v", err)
	}
	for _, sp := range cfg.Specialists {
		if sp.Tokenizer == "builtin" { // the emulated engines'
			t.Error("prompts for real engines are counted in the emulated engines' tokens")
		}
	}
	if settings.Data["octet.yaml"] == "" || objects(t, "httproute.yaml")["HTTPRoute"] == nil {
		t.Error("no configuration, or no route")
	}
}

func TestTheEnvoyConfigurationSetsTheFilterUp(t *testing.T) {
	text := objects(t, "envoy.yaml")[""]
	var found []json.RawMessage
	filters(text, &found)
	if len(found) != 1 {
		t.Fatalf("%d filters", len(found))
	}
	var filter extproc.ExternalProcessor
	if err := protojson.Unmarshal(found[0], &filter); err != nil {
		t.Fatal(err)
	}
	const duplex = extproc.ProcessingMode_FULL_DUPLEX_STREAMED
	if m := filter.GetProcessingMode(); m.GetRequestBodyMode() != duplex || m.GetResponseBodyMode() != duplex ||
		filter.Validate() != nil {
		t.Errorf("%v, %v", m, filter.Validate())
	}
}

// filters appends what v configures of ext_proc, without its type.
func filters(v json.RawMessage, found *[]json.RawMessage) {
	var members map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case json.Unmarshal(v, &members) == nil:
		const of = `"type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor"`
		if string(members["@type"]) == of {
			delete(members, "@type")
			text, _ := json.Marshal(members) // it was JSON before
			*found = append(*found, text)
			return
		}
		for _, m := range members {
			filters(m, found)
		}
	case json.Unmarshal(v, &list) == nil:
		for _, m := range list {
			filters(m, found)
		}
	}
}
