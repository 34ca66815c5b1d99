package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octet/internal/program"
)

// cluster is a real kube-apiserver over a real etcd. Nothing else of Kubernetes runs: the test is the controller that
// writes EndpointSlices.
type cluster struct {
	t      *testing.T
	dir    string
	etcd   string // its address
	listen string // of the API server
	server *program.Program
	client http.Client
}

// Tokens of the API server's users.
const (
	adminToken = "admin-of-a-test"
	octetToken = "octet-of-a-test"
)

// newCluster starts both programs, whose paths the environment says; a test that has none is skipped.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	server, etcd := os.Getenv("OCTET_KUBE_APISERVER"), os.Getenv("OCTET_ETCD")
	if server == "" || etcd == "" {
		t.Skip("OCTET_KUBE_APISERVER and OCTET_ETCD are to be the paths of kube-apiserver and etcd: how to get both " +
			"stands in docs/decisions/0136-endpointslices-are-listed-and-watched.md")
	}
	c := &cluster{t: t, dir: t.TempDir(), etcd: freeAddress(t), listen: freeAddress(t)}
	peer := "http://" + freeAddress(t)
	store, err := program.Start(etcd, "--data-dir", c.path("etcd"), "--listen-client-urls", "http://"+c.etcd,
		"--advertise-client-urls", "http://"+c.etcd, "--listen-peer-urls", peer,
		"--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Kill)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c.write("account.key", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})))
	c.write("tokens.csv", adminToken+",admin,1,system:masters\n"+octetToken+",octet,2\n")
	c.client.Transport = &http.Transport{ //nolint:gosec // the server makes its certificate itself
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	c.start(server)
	t.Cleanup(func() { c.server.Kill() })
	return c
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *cluster) write(name, text string) string {
	c.t.Helper()
	if err := os.WriteFile(c.path(name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return c.path(name)
}

// start starts the API server, and waits until it is ready.
func (c *cluster) start(binary string) {
	c.t.Helper()
	_, port, _ := net.SplitHostPort(c.listen)
	var err error
	c.server, err = program.Start(binary, "--etcd-servers=http://"+c.etcd, "--bind-address=127.0.0.1",
		"--secure-port="+port, "--cert-dir="+c.path("certs"), "--token-auth-file="+c.path("tokens.csv"),
		"--authorization-mode=RBAC", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.path("account.key"),
		"--service-account-signing-key-file="+c.path("account.key"),
		"--service-cluster-ip-range=10.96.0.0/24", "--disable-admission-plugins=ServiceAccount")
	if err != nil {
		c.t.Fatal(err)
	}
	limit := time.Now().Add(4 * time.Minute) // a slow machine takes a while
	for time.Now().Before(limit) {
		if status, _ := c.ask(http.MethodGet, "/readyz", nil); status == http.StatusOK {
			return
		}
		select {
		case <-c.server.Ended():
			c.t.Fatalf("the API server has ended:\n%s", c.server.Output())
		case <-time.After(200 * time.Millisecond):
		}
	}
	c.t.Fatalf("the API server is not ready:\n%s", c.server.Output())
}

// stop ends the API server. Its store stays.
func (c *cluster) stop() {
	c.t.Helper()
	c.server.Kill()
	<-c.server.Ended()
}

// ask asks the API server as its administrator; the status is 0 if it does not answer.
func (c *cluster) ask(method, path string, object any) (int, string) {
	c.t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, "https://"+c.listen+path, bytes.NewReader(text))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer)
}

// have creates an object in a collection, or replaces the one of its name.
func (c *cluster) have(collection, name string, object map[string]any) {
	c.t.Helper()
	object["metadata"].(map[string]any)["name"] = name
	status, answer := c.ask(http.MethodPost, collection, object)
	if status == http.StatusConflict {
		status, answer = c.ask(http.MethodPut, collection+"/"+name, object)
	}
	if status != http.StatusOK && status != http.StatusCreated {
		c.t.Fatalf("%s/%s: %d %s", collection, name, status, answer)
	}
}

func (c *cluster) remove(collection, name string) {
	c.t.Helper()
	if status, answer := c.ask(http.MethodDelete, collection+"/"+name, nil); status != http.StatusOK {
		c.t.Fatalf("%s/%s: %d %s", collection, name, status, answer)
	}
}

const (
	namespaces = "/api/v1/namespaces"
	rbac       = "/apis/rbac.authorization.k8s.io/v1/namespaces/ml"
)

func slicesOf(namespace string) string {
	return "/apis/discovery.k8s.io/v1/namespaces/" + namespace + "/endpointslices"
}

// namespace creates a namespace with a service vllm that has no selector: its slices are what the test says.
func (c *cluster) namespace(name string) {
	c.have(namespaces, name, map[string]any{"metadata": map[string]any{}})
	c.have(namespaces+"/"+name+"/services", "vllm", map[string]any{"metadata": map[string]any{},
		"spec": map[string]any{"ports": []any{map[string]any{"name": "http", "port": 80}}}})
}

// pod has one ready or unready pod at a URL in a slice of its own, since each has a port of its own.
func (c *cluster) pod(namespace, name, at string, ready bool) {
	c.t.Helper()
	host, port, err := net.SplitHostPort(strings.TrimPrefix(at, "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.have(slicesOf(namespace), "vllm-"+name, map[string]any{
		"metadata":    map[string]any{"labels": map[string]string{"kubernetes.io/service-name": "vllm"}},
		"addressType": "IPv4",
		"ports":       []any{map[string]any{"name": "http", "port": json.Number(port), "protocol": "TCP"}},
		"endpoints": []any{map[string]any{"addresses": []string{host}, "zone": "zone-a", "nodeName": "node-1",
			"conditions": map[string]bool{"ready": ready, "serving": ready, "terminating": false},
			"targetRef":  map[string]string{"kind": "Pod", "name": name, "namespace": namespace}}}})
}

// allow gives the gateway's account what it needs in the namespace ml; forbid takes it away.
func (c *cluster) allow() {
	c.have(rbac+"/roles", "octet", map[string]any{"metadata": map[string]any{}, "rules": []any{map[string]any{
		"apiGroups": []string{"discovery.k8s.io"}, "resources": []string{"endpointslices"},
		"verbs": []string{"list", "watch"}}}})
	c.have(rbac+"/rolebindings", "octet", map[string]any{"metadata": map[string]any{},
		"subjects": []any{map[string]any{"kind": "User", "name": "octet", "apiGroup": "rbac.authorization.k8s.io"}},
		"roleRef":  map[string]any{"kind": "Role", "name": "octet", "apiGroup": "rbac.authorization.k8s.io"}})
}

func (c *cluster) forbid() { c.remove(rbac+"/rolebindings", "octet") }

// kubeconfig writes the gateway's way to the API server, which it holds to its certificate.
func (c *cluster) kubeconfig() string {
	return c.write("kubeconfig", fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: test,
contexts: [{name: test, context: {cluster: test, user: test, namespace: ml}}],
clusters: [{name: test, cluster: {server: "https://%s", certificate-authority: %q}}],
users: [{name: test, user: {token: %s}}]}`, c.listen, c.path("certs/apiserver.crt"), octetToken))
}

// freeAddress returns an address of this machine's own on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// outward returns an address of this machine that is not its loopback, which endpoints cannot have; the test is skipped
// if there is none.
func outward(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no IPv4 address but its loopback, which an API server refuses in EndpointSlices")
	return ""
}
