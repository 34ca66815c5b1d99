package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"octet/internal/natsserver"
	"octet/internal/tlstest"
)

// jetStream starts a server whose streams are those of configs, and returns the way to it.
func jetStream(t *testing.T, change func(*server.Options), configs ...jetstream.StreamConfig) (*server.Server,
	jetstream.JetStream) {
	t.Helper()
	o := server.Options{StoreDir: t.TempDir()}
	var options []nats.Option
	if change != nil {
		change(&o)
		options = append(options, nats.RootCAs(o.TLSCaCert))
		o.TLSCaCert = ""
	}
	srv := natsserver.RunWith(t, o)
	conn, err := nats.Connect(srv.ClientURL(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range configs {
		if _, err := js.CreateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return srv, js
}

func publish(t *testing.T, js jetstream.JetStream, subject string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if _, err := js.Publish(t.Context(), subject, []byte(l)); err != nil {
			t.Fatal(err)
		}
	}
}

func collect(ctx context.Context, c NATSConfig) (lines []string, err error) {
	for line, err := range c.Lines(ctx) {
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(line))
	}
	return lines, nil
}

// MEGA-15: what a JetStream keeps of the subject is read in its order, over several pages, and other subjects are not;
// nothing of the reader stays at the server.
func TestAKeptSubjectIsReadToItsEnd(t *testing.T) {
	srv, js := jetStream(t, nil, jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"octet:shadow", "other"}})
	c := NATSConfig{URL: srv.ClientURL(), Subject: "octet:shadow"}
	if lines, err := collect(t.Context(), c); err != nil || len(lines) != 0 {
		t.Fatalf("of an empty one: %v %q", err, lines)
	}
	var want []string
	for i := range 2*handful + 3 {
		want = append(want, fmt.Sprint("record ", i))
	}
	publish(t, js, "other", "not this")
	publish(t, js, "octet:shadow", want...)
	publish(t, js, "other", "nor this")
	for range 2 { // reading takes nothing away
		if lines, err := collect(t.Context(), c); err != nil || !slices.Equal(lines, want) {
			t.Fatalf("%v: %d lines, want %d", err, len(lines), len(want))
		}
	}
	for line, err := range c.Lines(t.Context()) {
		if err != nil || string(line) != want[0] {
			t.Errorf("%v: %q", err, line)
		}
		break
	}
	stream, err := js.Stream(t.Context(), "KEPT")
	if err != nil {
		t.Fatal(err)
	}
	if about, err := stream.Info(t.Context()); err != nil || about.State.Consumers != 0 {
		t.Errorf("%v: %d readers are remembered", err, about.State.Consumers)
	}
}

// Records that come while it is read are not waited for: a subject that never rests has an end.
func TestASubjectThatGrowsHasAnEnd(t *testing.T) {
	srv, js := jetStream(t, nil, jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"s"}})
	publish(t, js, "s", "a", "b", "c")
	n := 0
	for line, err := range (NATSConfig{URL: srv.ClientURL(), Subject: "s"}).Lines(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n > 3 {
			t.Fatalf("%q is of later", line)
		}
		publish(t, js, "s", "later", "later still")
	}
	if n != 3 {
		t.Errorf("%d records", n)
	}
}

func TestASubjectThatNobodyKeepsIsAnError(t *testing.T) {
	srv, _ := jetStream(t, nil)
	if lines, err := collect(t.Context(), NATSConfig{URL: srv.ClientURL(), Subject: "s"}); !errors.Is(err,
		ErrNotKept) || lines != nil {
		t.Errorf("%v %q", err, lines)
	}
	bare := natsserver.RunWith(t, server.Options{})
	if _, err := collect(t.Context(), NATSConfig{URL: bare.ClientURL(), Subject: "s"}); !errors.Is(err, ErrNotKept) {
		t.Error(err)
	}
	bare.Shutdown()
	if _, err := collect(t.Context(), NATSConfig{URL: bare.ClientURL(), Subject: "s"}); err == nil {
		t.Error("a server that is away has no records")
	}
}

// A reader that has read enough time ends it, and is told why.
func TestReadingEndsWithItsTime(t *testing.T) {
	srv, js := jetStream(t, nil, jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"s"}})
	publish(t, js, "s", make([]string, handful+1)...)
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	n := 0
	for _, err := range (NATSConfig{URL: srv.ClientURL(), Subject: "s"}).Lines(ctx) {
		if n++; n == 2 {
			cancel(late)
		}
		if err != nil && !errors.Is(err, late) {
			t.Error(err)
		}
		if err != nil {
			return
		}
	}
	t.Errorf("%d records and no error", n)
}

// TLS and the roots to trust are as for the events.
func TestASubjectIsReadOverTLS(t *testing.T) {
	by := tlstest.New(t)
	srv, js := jetStream(t, func(o *server.Options) {
		cfg, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: by.CertFile, KeyFile: by.KeyFile})
		if err != nil {
			t.Fatal(err)
		}
		o.TLS, o.TLSConfig, o.TLSCaCert = true, cfg, by.CertFile
	}, jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"s"}})
	publish(t, js, "s", "secret")
	if lines, err := collect(t.Context(), NATSConfig{URL: srv.ClientURL(), Subject: "s",
		CA: by.CertFile}); err != nil || !slices.Equal(lines, []string{"secret"}) {
		t.Errorf("%v %q", err, lines)
	}
	if lines, err := collect(t.Context(), NATSConfig{URL: srv.ClientURL(), Subject: "s"}); err == nil {
		t.Errorf("an unknown authority was trusted: %q", lines)
	}
}
