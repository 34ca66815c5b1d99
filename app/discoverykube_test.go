package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// kubeAPI is an API server as far as EndpointSlices go, over HTTP: a list, and a watch of what changes after it.
type kubeAPI struct {
	*httptest.Server
	mu      sync.Mutex
	slices  []map[string]any // guarded by mu like all below
	version int
	refuses bool          // as RBAC does
	changed chan struct{} // closed and replaced by each change
	asked   []string
}

func newKubeAPI(t *testing.T) *kubeAPI {
	k := &kubeAPI{changed: make(chan struct{})}
	k.Server = httptest.NewTLSServer(k)
	t.Cleanup(func() {
		k.CloseClientConnections()
		k.Close()
	})
	return k
}

// set makes what pods the service has: each in a slice of its own, for each has a port of its own.
func (k *kubeAPI) set(refuses bool, pods map[string]string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.slices, k.refuses, k.version = nil, refuses, k.version+1
	for name, at := range pods {
		u, _ := url.Parse(at)
		port, _ := strconv.Atoi(u.Port())
		family := "IPv4"
		if strings.Contains(u.Hostname(), ":") {
			family = "IPv6"
		}
		k.slices = append(k.slices, map[string]any{
			"metadata": map[string]any{"name": "vllm-" + name, "namespace": "ml", "resourceVersion": "1",
				"labels": map[string]string{"kubernetes.io/service-name": "vllm"}},
			"addressType": family, "ports": []any{map[string]any{"name": "http", "port": port, "protocol": "TCP"}},
			"endpoints": []any{map[string]any{"addresses": []string{u.Hostname()}, "zone": "a",
				"conditions": map[string]bool{"ready": true},
				"targetRef":  map[string]string{"kind": "Pod", "name": name, "namespace": "ml", "uid": "uid-" + name}}},
		})
	}
	close(k.changed)
	k.changed = make(chan struct{})
}

// ServeHTTP answers a list with all that there is, and ends a watch with each change, so that all is listed anew.
func (k *kubeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	k.asked = append(k.asked, r.URL.Path+"?"+r.URL.Query().Get("labelSelector")+" "+r.Header.Get("Authorization"))
	slices, refuses, changed, version := k.slices, k.refuses, k.changed, strconv.Itoa(k.version)
	k.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	say := func(v any) {
		_ = json.NewEncoder(w).Encode(v)
		w.(http.Flusher).Flush()
	}
	status := func(code int, reason string) map[string]any {
		return map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
			"reason": reason, "message": reason}
	}
	switch {
	case refuses:
		w.WriteHeader(http.StatusForbidden)
		say(status(http.StatusForbidden, "Forbidden"))
	case r.URL.Query().Get("watch") == "":
		say(map[string]any{"kind": "EndpointSliceList", "apiVersion": "discovery.k8s.io/v1",
			"metadata": map[string]string{"resourceVersion": version}, "items": slices})
	case r.URL.Query().Get("resourceVersion") != version:
		w.WriteHeader(http.StatusGone)
		say(status(http.StatusGone, "Expired"))
	default:
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		select {
		case <-changed:
			say(map[string]any{"type": "ERROR", "object": status(http.StatusGone, "Expired")})
		case <-r.Context().Done():
		}
	}
}

// kubeconfig writes the way to the API server.
func (k *kubeAPI) kubeconfig(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: test,
contexts: [{name: test, context: {cluster: test, user: test, namespace: ml}}],
clusters: [{name: test, cluster: {server: %q, insecure-skip-tls-verify: true}}], 
users: [{name: test, user: {token: sesame}}]}`, k.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Pods of a service serve as they become ready, and are drained as they go. What the API server refuses, and an address
// that no engine may have, changes nothing, and is said.
func TestPodsOfAServiceComeAndGo(t *testing.T) {
	k := newKubeAPI(t)
	yaml := strings.Replace(fmt.Sprintf(found, ""), "file: ''",
		fmt.Sprintf("kubernetes: {service: vllm, port: http, kubeconfig: '%s'}", k.kubeconfig(t)), 1)
	w := newWorld(t, yaml, nil)
	a, b := w.Start(debugEngine("a")), w.Start(debugEngine("b"))
	k.set(false, map[string]string{"pod-a": a.URL})
	eventually(t, "a serves", func() bool { return w.Replicas()["pod-a"] != nil })
	if resp, text := w.Post("/v1/chat/completions", simple); resp.StatusCode != 200 {
		t.Fatalf("%d: %s", resp.StatusCode, text)
	}
	k.set(false, map[string]string{"pod-a": a.URL, "pod-b": b.URL, "bad": "http://169.254.169.254:80"})
	eventually(t, "b serves", func() bool { return w.Replicas()["pod-b"] != nil })
	if w.Replicas()["bad"] != nil {
		t.Error("an engine at the metadata address")
	}
	k.set(false, map[string]string{"pod-b": b.URL})
	eventually(t, "a is drained", func() bool { return w.Replica("pod-a").Fleet.Withdrawn() })
	k.set(true, nil)
	asked := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return len(k.asked)
	}
	before := asked()
	eventually(t, "it is refused and asked again", func() bool { return asked() >= before+2 })
	if resp, text := w.Post("/v1/chat/completions", simple); resp.StatusCode != 200 ||
		w.Replica("pod-b").Fleet.Withdrawn() {
		t.Errorf("while the source fails: %d: %s", resp.StatusCode, text)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if want := "/apis/discovery.k8s.io/v1/namespaces/ml/endpointslices?kubernetes.io/service-name=vllm Bearer " +
		"sesame"; k.asked[0] != want {
		t.Errorf("asked %q, want %q", k.asked[0], want)
	}
}
