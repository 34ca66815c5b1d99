package checks

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// tlsDir is where pods have the Secrets of listeners.
const tlsDir = "/etc/octet-tls"

// withCertificates returns a configuration whose certificates are files of this machine.
func withCertificates(t *testing.T, config string) string {
	t.Helper()
	if !strings.Contains(config, tlsDir) {
		return config
	}
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pair := s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	files := map[string][]byte{"tls.crt": cert, "ca.crt": cert,
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})}
	dir := t.TempDir()
	for _, listener := range []string{"data", "admin"} {
		if err := os.Mkdir(filepath.Join(dir, listener), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, listener, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return strings.ReplaceAll(config, tlsDir, dir)
}

// What asks a listener asks as it speaks, and each file of a certificate is mounted.
func TestWhatAsksAListenerAsksAsItSpeaks(t *testing.T) {
	rendered(t, func(t *testing.T, objects []any) {
		config := all[*corev1.ConfigMap](objects)[0].Data["octet.yaml"]
		byTLS := strings.Contains(config, "admin_tls:")
		pod := all[*appsv1.Deployment](objects)[0].Spec.Template.Spec
		c := pod.Containers[0]
		for _, p := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe, c.StartupProbe} {
			if (p.HTTPGet.Scheme == corev1.URISchemeHTTPS) != byTLS {
				t.Errorf("TLS %v: a probe asks by %q", byTLS, p.HTTPGet.Scheme)
			}
		}
		for _, m := range all[*serviceMonitor](objects) {
			e := m.Spec.Endpoints[0]
			if (e.Scheme == "https") != byTLS || (e.TLSConfig.CA.Secret.Name != "") != byTLS {
				t.Errorf("TLS %v: monitoring asks by %+v", byTLS, e)
			}
		}
		for _, s := range all[*corev1.Service](objects) {
			key := "\n  tls:"
			if s.Spec.Ports[0].Name == "admin" {
				key = "admin_tls:"
			}
			if said := *s.Spec.Ports[0].AppProtocol; (said == "https") != strings.Contains(config, key) {
				t.Errorf("%s speaks %s", s.Name, said)
			}
		}
		mounted := map[string]bool{}
		for _, m := range c.VolumeMounts {
			mounted[m.MountPath] = true
		}
		for line := range strings.Lines(config) {
			if at := strings.Index(line, tlsDir); at >= 0 && !mounted[filepath.Dir(strings.TrimSpace(line[at:]))] {
				t.Errorf("%s is not mounted", strings.TrimSpace(line))
			}
		}
	})
}
