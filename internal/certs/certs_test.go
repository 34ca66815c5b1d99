package certs

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octet/internal/tlstest"
)

var soon = func() time.Time { return time.Now().Add(time.Hour) }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFilesOfNoUseAreNamedWithTheReason(t *testing.T) {
	ca := tlstest.New(t)
	a, b := ca.Issue(t, soon(), "127.0.0.1"), ca.Issue(t, soon(), "127.0.0.1")
	dir := t.TempDir()
	half, empty := filepath.Join(dir, "half"), filepath.Join(dir, "empty")
	write(t, half, text(t, a.CertFile)[:200])
	write(t, empty, "")
	large := filepath.Join(dir, "large")
	write(t, large, strings.Repeat("x", mostBytes+1))
	for name, c := range map[string]struct {
		files Files
		key   string
		is    error
	}{
		"absent":              {Files{dir + "/no", a.KeyFile, ""}, "cert", os.ErrNotExist},
		"a directory":         {Files{dir, a.KeyFile, ""}, "cert", nil},
		"half a certificate":  {Files{half, a.KeyFile, ""}, "cert", ErrNoCertificate},
		"no certificate":      {Files{a.KeyFile, a.KeyFile, ""}, "cert", ErrNoCertificate},
		"no key":              {Files{a.CertFile, a.CertFile, ""}, "key", ErrNoKey},
		"an empty key":        {Files{a.CertFile, empty, ""}, "key", ErrNoKey},
		"another's key":       {Files{a.CertFile, b.KeyFile, ""}, "key", ErrNoPair},
		"an empty authority":  {Files{a.CertFile, a.KeyFile, empty}, "ca", ErrNoCertificate},
		"a large authority":   {Files{"", "", large}, "ca", ErrTooLarge},
		"a key alone":         {Files{"", a.KeyFile, ""}, "key", ErrAlone},
		"a certificate alone": {Files{a.CertFile, "", ""}, "key", ErrAlone},
	} {
		_, err := Open(c.files)
		var of *FileError
		if !errors.As(err, &of) || of.Key != c.key || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "BEGIN") {
			t.Errorf("%s: the text of the file is told: %v", name, err)
		}
	}
}

// open is a Source of a pair in a directory of its own, and the look that ends in a decision.
func open(t *testing.T, ca tlstest.Authority) (s *Source, f Files, look func() (Changed, error)) {
	t.Helper()
	dir := t.TempDir()
	f = Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	ca.Write(t, f.Cert, f.Key, soon(), "127.0.0.1")
	s, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return s, f, func() (Changed, error) {
		if changed, err := s.Look(time.Now()); changed != Same || err != nil {
			t.Errorf("the first look has decided: %v, %v", changed, err)
		}
		return s.Look(time.Now())
	}
}

func leaf(s *Source) string { return string(s.Held().Pair.Certificate[0]) }

func TestAPairThatIsReplacedIsTakenOnceItIsWhole(t *testing.T) {
	ca := tlstest.New(t)
	s, f, look := open(t, ca)
	first := leaf(s)
	if changed, err := s.Look(time.Now()); changed != Same || err != nil {
		t.Fatalf("%v, %v", changed, err)
	}
	next := ca.Issue(t, soon(), "127.0.0.1")
	write(t, f.Cert, text(t, next.CertFile))
	if changed, err := s.Look(time.Now()); changed != Same || err != nil { // between the steps of writing
		t.Errorf("%v, %v", changed, err)
	}
	write(t, f.Key, text(t, next.KeyFile))
	if changed, err := look(); changed != Taken || err != nil || leaf(s) == first {
		t.Errorf("%v, %v", changed, err)
	}
}

func TestTheLastGoodPairStays(t *testing.T) {
	ca := tlstest.New(t)
	for name, spoil := range map[string]func(f Files){
		"half written": func(f Files) { write(t, f.Cert, text(t, f.Cert)[:100]) },
		"empty":        func(f Files) { write(t, f.Key, "") },
		"absent":       func(f Files) { _ = os.Remove(f.Cert) },
		"another key":  func(f Files) { write(t, f.Key, text(t, ca.Issue(t, soon()).KeyFile)) },
		"expired":      func(f Files) { ca.Write(t, f.Cert, f.Key, time.Now().Add(-time.Hour), "127.0.0.1") },
	} {
		s, f, look := open(t, ca)
		first, cert, key := leaf(s), text(t, f.Cert), text(t, f.Key)
		spoil(f)
		if changed, err := look(); changed != Refused || err == nil || leaf(s) != first || s.Bad() == nil {
			t.Errorf("%s: %v, %v", name, changed, err)
		}
		if changed, err := s.Look(time.Now()); changed != Same || err != nil {
			t.Errorf("%s: told twice: %v, %v", name, changed, err)
		}
		write(t, f.Cert, cert)
		write(t, f.Key, key)
		if changed, err := look(); changed != Restored || err != nil || s.Bad() != nil {
			t.Errorf("%s: mended: %v, %v", name, changed, err)
		}
	}
}

// As the files of a Kubernetes Secret are replaced: the link to the directory of all is turned.
func TestALinkThatIsTurnedIsAChange(t *testing.T) {
	ca, root := tlstest.New(t), t.TempDir()
	for _, version := range []string{"..1", "..2"} {
		dir := filepath.Join(root, version)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		ca.Write(t, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), soon(), "127.0.0.1")
		now := time.Unix(1e9, 0) // that they are as old says nothing
		_ = os.Chtimes(filepath.Join(dir, "tls.crt"), now, now)
	}
	link := func(to string) {
		next := filepath.Join(root, "..tmp")
		if err := errors.Join(os.Symlink(to, next), os.Rename(next, filepath.Join(root, "..data"))); err != nil {
			t.Fatal(err)
		}
	}
	link("..1")
	f := Files{Cert: filepath.Join(root, "tls.crt"), Key: filepath.Join(root, "tls.key")}
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	first := leaf(s)
	link("..2")
	_, _ = s.Look(time.Now())
	if changed, err := s.Look(time.Now()); changed != Taken || err != nil || leaf(s) == first {
		t.Errorf("%v, %v", changed, err)
	}
}

// What a server demands of clients is what is in force at their handshake.
func TestAuthoritiesOfClientsAreReloaded(t *testing.T) {
	ca, one, two := tlstest.New(t), tlstest.New(t), tlstest.New(t)
	own := ca.Issue(t, soon(), "127.0.0.1")
	roots := filepath.Join(t.TempDir(), "ca.crt")
	write(t, roots, text(t, one.CertFile))
	s, err := Open(Files{own.CertFile, own.KeyFile, roots})
	if err != nil {
		t.Fatal(err)
	}
	cache := tls.NewLRUClientSessionCache(8)
	shake := func(of tlstest.Authority) error {
		client, server := net.Pipe()
		defer client.Close()
		defer server.Close()
		go func() {
			c := tls.Client(client, &tls.Config{RootCAs: ca.Roots, ServerName: "127.0.0.1", ClientSessionCache: cache,
				Certificates: []tls.Certificate{of.Issue(t, soon()).Cert}})
			_ = c.Handshake()
			_, _ = c.Read(make([]byte, 1)) // what the server says of the handshake
		}()
		return tls.Server(server, s.Server()).Handshake()
	}
	if shake(one) != nil || shake(two) == nil {
		t.Error("the first authority is not the one that counts")
	}
	write(t, roots, text(t, two.CertFile))
	_, _ = s.Look(time.Now())
	_, _ = s.Look(time.Now())
	if shake(two) != nil || shake(one) == nil {
		t.Error("the second authority is not the one that counts")
	}
}
