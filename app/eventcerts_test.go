package app_test

import (
	"crypto/tls"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octet/internal/tlstest"
	"octet/routing/events"
	"octet/routing/events/grpcstream"
)

// The certificate of the listener that engines stream their events to is renewed as those of the others: engines that
// trust a new authority alone are heard once the files are replaced, without a restart.
func TestTheCertificateOfTheEventListenerIsRenewed(t *testing.T) {
	before, after := tlstest.New(t), tlstest.New(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	before.Write(t, cert, key, time.Now().Add(time.Hour), "127.0.0.1")
	addr := freeAddr(t)
	w := newWiredWorld(t, smallWorld, smallEngines(), "events.grpc.listen="+addr, "events.grpc.cert="+cert,
		"events.grpc.key="+key)
	heard := func(ca tlstest.Authority) func() bool {
		p, err := grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: addr,
			TLS: &tls.Config{RootCAs: ca.Roots, MinVersion: tls.VersionTLS12}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		return func() bool {
			return p.Publish(t.Context(), events.Batch{Replica: "debug-0", Epoch: 1, Seq: 1}) == nil
		}
	}
	eventually(t, "an engine is heard", heard(before))
	after.Write(t, cert, key, time.Now().Add(2*time.Hour), "127.0.0.1")
	eventually(t, "one that trusts the new authority is heard", heard(after))
	if !strings.Contains(w.Metrics(), `octet_certificate_expiry_timestamp_seconds{replica="",use="events.grpc"} `) {
		t.Error("no metric says when it expires")
	}
}
