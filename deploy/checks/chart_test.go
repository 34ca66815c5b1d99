package checks

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

var update = flag.Bool("update", false, "write testdata/*.golden.yaml")

// rendered returns the objects of each values file in testdata.
func rendered(t *testing.T, each func(t *testing.T, objects []any)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.values.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".values.yaml"), func(t *testing.T) {
			manifests, err := render(readValues(t, file))
			if err != nil {
				t.Fatal(err)
			}
			objects, err := decode(manifests)
			if err != nil {
				t.Fatal(err)
			}
			each(t, objects)
		})
	}
}

func TestTheChartRendersWhatItDid(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.values.yaml")
	for _, file := range files {
		got, err := render(readValues(t, file))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		golden := strings.Replace(file, ".values.", ".golden.", 1)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
			t.Errorf("%s: %v; -update writes it anew\n%s", golden, err, diff)
		}
	}
}

// What is rendered hangs together: selectors find pods, references find objects, ports find ports.
func TestWhatIsRenderedHangsTogether(t *testing.T) {
	rendered(t, func(t *testing.T, objects []any) {
		deployment := all[*appsv1.Deployment](objects)[0]
		pod := deployment.Spec.Template
		selects := func(what string, labels map[string]string) {
			for k, v := range labels {
				if pod.Labels[k] != v {
					t.Errorf("%s selects %v, pods have %v", what, labels, pod.Labels)
				}
			}
		}
		selects("the Deployment", deployment.Spec.Selector.MatchLabels)
		ports := map[string]bool{}
		for _, p := range pod.Spec.Containers[0].Ports {
			ports[p.Name] = true
		}
		for _, s := range all[*corev1.Service](objects) {
			selects(s.Name, s.Spec.Selector)
			for _, p := range s.Spec.Ports {
				if !ports[p.TargetPort.StrVal] {
					t.Errorf("%s goes to port %s", s.Name, p.TargetPort.StrVal)
				}
			}
		}
		for _, b := range all[*policyv1.PodDisruptionBudget](objects) {
			selects("the PodDisruptionBudget", b.Spec.Selector.MatchLabels)
		}
		for _, h := range all[*autoscalingv2.HorizontalPodAutoscaler](objects) {
			if h.Spec.ScaleTargetRef.Name != deployment.Name || deployment.Spec.Replicas != nil {
				t.Errorf("the HPA scales %s, which keeps %v", h.Spec.ScaleTargetRef.Name, deployment.Spec.Replicas)
			}
		}
		for _, s := range all[*scaledObject](objects) {
			if s.Spec.ScaleTargetRef.Name != deployment.Name || deployment.Spec.Replicas != nil {
				t.Errorf("KEDA scales %s, which keeps %v", s.Spec.ScaleTargetRef.Name, deployment.Spec.Replicas)
			}
		}
		for _, m := range all[*serviceMonitor](objects) {
			found := 0
			for _, s := range all[*corev1.Service](objects) {
				labels := maps.Clone(s.Labels)
				maps.Copy(labels, m.Spec.Selector.MatchLabels)
				if maps.Equal(labels, s.Labels) && s.Spec.Ports[0].Name == m.Spec.Endpoints[0].Port {
					found++
				}
			}
			if found != 1 {
				t.Errorf("the ServiceMonitor finds %d services", found)
			}
		}
		if config := all[*corev1.ConfigMap](objects)[0]; pod.Spec.Volumes[0].ConfigMap.Name != config.Name {
			t.Errorf("%s is mounted", pod.Spec.Volumes[0].ConfigMap.Name)
		}
	})
}

// A pod may do what it must, and has the time that a drain takes.
func TestPodsAreConfinedAndAreGivenTheirDrain(t *testing.T) {
	rendered(t, func(t *testing.T, objects []any) {
		pod := all[*appsv1.Deployment](objects)[0].Spec.Template.Spec
		c := pod.Containers[0]
		sc := c.SecurityContext
		if !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser == 0 || !*sc.ReadOnlyRootFilesystem ||
			*sc.AllowPrivilegeEscalation || sc.Capabilities.Drop[0] != "ALL" ||
			pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%+v, %+v", pod.SecurityContext, sc)
		}
		text := all[*corev1.ConfigMap](objects)[0].Data["octet.yaml"]
		drain, stop := seconds(t, text, "drain"), seconds(t, text, "stop")
		pre := int64(0)
		if c.Lifecycle != nil {
			pre = c.Lifecycle.PreStop.Sleep.Seconds
		}
		if *pod.TerminationGracePeriodSeconds <= pre+drain+stop {
			t.Errorf("%d s are given, %d + %d + %d may be taken", *pod.TerminationGracePeriodSeconds, pre, drain, stop)
		}
		if c.ReadinessProbe.HTTPGet.Path != "/readyz" || c.LivenessProbe.HTTPGet.Path != "/livez" {
			t.Error("probes", c.ReadinessProbe, c.LivenessProbe)
		}
		checkCommand(t, c.Args)
		checkConfig(t, withCertificates(t, text))
	})
}

// seconds reads a key of limits.
func seconds(t *testing.T, text, key string) (n int64) {
	t.Helper()
	m := regexp.MustCompile(`(?m)^  ` + key + `: (\d+)s$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("limits.%s is missing:\n%s", key, text)
	}
	for _, d := range m[1] {
		n = n*10 + int64(d-'0')
	}
	return n
}

// The gateway's account may list and watch EndpointSlices, and nothing else.
func TestTheAccountMayOnlyWatchEndpointSlices(t *testing.T) {
	rendered(t, func(t *testing.T, objects []any) {
		roles, bindings := all[*rbacv1.Role](objects), all[*rbacv1.RoleBinding](objects)
		if len(roles) != len(bindings) || len(all[*rbacv1.ClusterRole](objects)) > 0 {
			t.Errorf("%d roles, %d bindings", len(roles), len(bindings))
		}
		want := []rbacv1.PolicyRule{{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"},
			Verbs: []string{"list", "watch"}}}
		for i, r := range roles {
			if diff := cmp.Diff(want, r.Rules); diff != "" {
				t.Error(diff)
			}
			if b := bindings[i]; b.Namespace != r.Namespace || b.RoleRef.Name != r.Name ||
				b.Subjects[0].Name != all[*appsv1.Deployment](objects)[0].Spec.Template.Spec.ServiceAccountName {
				t.Errorf("%+v", b)
			}
		}
	})
}

// A secret stands in no object but a Secret.
func TestSecretsStandInSecretsAlone(t *testing.T) {
	values := readValues(t, "testdata/trial.values.yaml")
	token := values["secret"].(map[string]any)["values"].(map[string]any)["OCTET_ADMIN_TOKEN"].(string)
	manifests, err := render(values)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(manifests, "\n---\n") {
		if strings.Contains(text, token) && !strings.Contains(text, "kind: Secret\n") {
			t.Error(text)
		}
	}
}

// Examples are objects of their APIs, on a metric that there is.
func TestExamplesAreObjectsOfTheirAPIs(t *testing.T) {
	files, _ := filepath.Glob(chartPath + "/examples/*.yaml")
	if len(files) < 2 {
		t.Fatal(files)
	}
	source, err := os.ReadFile("../../gateway/api/slogauges.go")
	if err != nil || !strings.Contains(string(source), `"octet_load_pressure"`) {
		t.Errorf("the gateway has no octet_load_pressure: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if !strings.Contains(string(text), "octet_load_pressure") {
			t.Errorf("%s is on no metric of ours", file)
		}
	}
}
