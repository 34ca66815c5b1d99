package certs

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Files are the paths of PEM files. Each is "" if there is none; Cert and Key are given together.
type Files struct {
	Cert string // certificates: the own one, then those between it and its authority
	Key  string // its private key
	CA   string // authorities whose certificates are accepted
}

// Zero returns true if there are no files.
func (f Files) Zero() bool { return f == Files{} }

// FileError is what is wrong with one of the files.
type FileError struct {
	Key   string // cert, key or ca
	Path  string
	Cause error
}

func (e *FileError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Cause) }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Cause }

// What is wrong with files that can be read.
var (
	ErrNoCertificate = errors.New("it holds no certificate in PEM")
	ErrNoKey         = errors.New("it holds no private key in PEM that can be used without a passphrase")
	ErrNoPair        = errors.New("the private key is not that of the certificate")
	ErrTooLarge      = fmt.Errorf("it is larger than %d bytes", mostBytes)
	ErrExpired       = errors.New("the certificate has expired")
	ErrAlone         = errors.New("a certificate needs its key, and a key its certificate")
)

// mostBytes bounds a file: the authorities of a system are 250 KiB.
const mostBytes = 4 << 20

// Held is what the files held when they were read.
type Held struct {
	Pair    *tls.Certificate // nil without Cert
	Roots   *x509.CertPool   // nil without CA
	Expires time.Time        // the first end of a certificate of Pair's chain; zero without Cert
}

// Expired returns true if the own certificate is of no use at a time.
func (h *Held) Expired(at time.Time) bool { return !h.Expires.IsZero() && at.After(h.Expires) }

// texts are the bytes of the files.
type texts struct{ cert, key, ca []byte }

// sum tells texts apart.
func (t *texts) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, one := range [][]byte{t.cert, t.key, t.ca} {
		fmt.Fprintf(h, "%d:", len(one))
		h.Write(one)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Read reads the files once. The error is a *FileError.
func Read(f Files) (*Held, error) {
	t, err := f.read()
	if err != nil {
		return nil, err
	}
	return f.parse(t)
}

func (f Files) read() (t texts, err error) {
	if (f.Cert == "") != (f.Key == "") {
		return t, &FileError{"key", f.Key + f.Cert, ErrAlone}
	}
	for _, one := range []struct {
		key, path string
		into      *[]byte
	}{{"cert", f.Cert, &t.cert}, {"key", f.Key, &t.key}, {"ca", f.CA, &t.ca}} {
		if one.path == "" {
			continue
		}
		if *one.into, err = readFile(one.path); err != nil {
			return t, &FileError{one.key, one.path, err}
		}
	}
	return t, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case len(text) > mostBytes:
		return nil, ErrTooLarge
	}
	return text, nil
}

// withoutPath is err without the path, which a FileError has.
func withoutPath(err error) error {
	var of *os.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// parse makes of texts what can be in force.
func (f Files) parse(t texts) (*Held, error) {
	h := &Held{}
	if f.CA != "" {
		h.Roots = x509.NewCertPool()
		if !h.Roots.AppendCertsFromPEM(t.ca) {
			return nil, &FileError{"ca", f.CA, ErrNoCertificate}
		}
	}
	if f.Cert == "" {
		return h, nil
	}
	if !has(t.cert, "CERTIFICATE") {
		return nil, &FileError{"cert", f.Cert, ErrNoCertificate}
	}
	if !has(t.key, "PRIVATE KEY") {
		return nil, &FileError{"key", f.Key, ErrNoKey}
	}
	pair, err := tls.X509KeyPair(t.cert, t.key)
	if err != nil {
		return nil, f.pairError(t, err)
	}
	h.Pair = &pair
	h.Expires, err = firstEnd(pair.Certificate)
	if err != nil {
		return nil, &FileError{"cert", f.Cert, err}
	}
	return h, nil
}

// pairError tells which of both files is wrong. The texts of errors hold nothing of the files.
func (f Files) pairError(t texts, err error) error {
	for rest := t.cert; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if _, bad := x509.ParseCertificate(block.Bytes); block.Type == "CERTIFICATE" && bad != nil {
			return &FileError{"cert", f.Cert, bad}
		}
	}
	if bytes.Contains([]byte(err.Error()), []byte("does not match")) {
		return &FileError{"key", f.Key, ErrNoPair}
	}
	return &FileError{"key", f.Key, ErrNoKey}
}

// has returns true if text has a whole block whose type ends so.
func has(text []byte, kind string) bool {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return false
		}
		if bytes.HasSuffix([]byte(block.Type), []byte(kind)) {
			return true
		}
	}
}

// firstEnd returns the first time at which a certificate of a chain is no longer good.
func firstEnd(chain [][]byte) (end time.Time, err error) {
	for _, der := range chain {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return end, err
		}
		if end.IsZero() || cert.NotAfter.Before(end) {
			end = cert.NotAfter
		}
	}
	return end, nil
}
