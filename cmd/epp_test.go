package cmd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"octet/app"
	"octet/internal/apptest"
	"octet/internal/await"
	"octet/internal/certs"
	"octet/internal/tlstest"
)

// The picker's certificate is what its flags name, read again as the files change; without TLS no proxy is answered.
func TestThePickerHasTheCertificateOfItsFlags(t *testing.T) {
	ca, next, soon := tlstest.New(t), tlstest.New(t), time.Now().Add(time.Hour)
	dir := t.TempDir()
	files := certs.Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	ca.Write(t, files.Cert, files.Key, soon, "127.0.0.1")
	w := apptest.New(t, apptest.Small, apptest.SmallEngines())
	cfg := *w.App.Config()
	cfg.Listen.Data, cfg.Listen.Admin = "127.0.0.1:0", "127.0.0.1:0"
	g, err := begin(t.Context(), &cfg, app.Options{PickerTLS: files})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.ServePicking(ctx, g.data, g.admin, app.PickerOptions{Listener: asked}) }()
	serves := func(by credentials.TransportCredentials) error {
		conn, err := grpc.NewClient(asked.Addr().String(), grpc.WithTransportCredentials(by))
		if err != nil {
			return err
		}
		defer conn.Close()
		one, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err = healthpb.NewHealthClient(conn).Check(one, &healthpb.HealthCheckRequest{})
		return err
	}
	trusting := func(roots *x509.CertPool) credentials.TransportCredentials {
		return credentials.NewTLS(&tls.Config{RootCAs: roots})
	}
	if err := serves(trusting(ca.Roots)); err != nil {
		t.Errorf("by TLS: %v", err)
	}
	if err := serves(insecure.NewCredentials()); err == nil {
		t.Error("it answers in the clear")
	}
	if err := alive(t.Context(), watched{Addr: asked.Addr(), tls: true}); err != nil {
		t.Errorf("as the watchdog asks: %v", err)
	}
	next.Write(t, files.Cert, files.Key, soon, "127.0.0.1")
	await.True(t, "the renewed certificate is shown", func() bool { return serves(trusting(next.Roots)) == nil })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// A certificate that cannot be used ends the command before it serves.
func TestThePickersCertificateIsCheckedAtItsStart(t *testing.T) {
	w, path := apptest.New(t, apptest.Small, apptest.SmallEngines()), filepath.Join(t.TempDir(), "none")
	cfg := *w.App.Config()
	cfg.Listen.Data, cfg.Listen.Admin = "127.0.0.1:0", "127.0.0.1:0"
	err := epp(t.Context(), &cfg, &eppFlags{listen: "127.0.0.1:0", tls: certs.Files{Cert: path, Key: path}})
	if err == nil || !strings.Contains(err.Error(), "epp: "+path) {
		t.Error(err)
	}
	for _, line := range []string{"epp", "epp --config x --cert a", "epp --config x --key a"} {
		if out, err := command(t, strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), "--") {
			t.Errorf("octet %s: %v\n%s", line, err, out)
		}
	}
}
