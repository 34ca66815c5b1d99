package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// secure.go has the gateways whose listener speaks TLS: the same certificate, TLS 1.3 and HTTP/1.1 for all of them.

// identity is the certificate that gateways show, and what clients need to trust it.
type identity struct {
	cert, key string // files
	client    *tls.Config
}

// newIdentity makes one that is good for a day, with its files in dir.
func newIdentity(dir string) (identity, error) {
	id := identity{cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return id, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return id, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return id, err
	}
	roots := x509.NewCertPool()
	for file, block := range map[string]*pem.Block{id.cert: {Type: "CERTIFICATE", Bytes: der},
		id.key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		text := pem.EncodeToMemory(block)
		roots.AppendCertsFromPEM(text)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return id, err
		}
	}
	id.client = &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13}
	return id, nil
}

// octetSecure speaks TLS to clients. Its limits have room for idle connections of one address.
func octetSecure(name, binary string, id identity) kind {
	k := octetIdle(name, binary)
	plain := k.command
	k.client = id.client
	k.command = func(dir, listen, engine string) ([]string, error) {
		args, err := plain(dir, listen, engine)
		if err != nil {
			return nil, err
		}
		return args, changed(args[len(args)-1], "listen: {",
			fmt.Sprintf("listen: {tls: {cert: %q, key: %q}, ", id.cert, id.key))
	}
	return k
}

// changed replaces old by new in a file.
func changed(file, old, new string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return writeFile(file, strings.Replace(string(text), old, new, 1))
}

// nginxSecure speaks TLS to clients.
func nginxSecure(id identity) kind {
	k := nginxWith("nginx", fmt.Sprintf("ssl_certificate %s; ssl_certificate_key %s; ssl_protocols TLSv1.3;", id.cert,
		id.key), " ssl", "")
	k.client = id.client
	return k
}

// secureRows are what requests and streams cost over TLS, on connections that are kept.
func secureRows(octets map[string]string, id identity) []row {
	kinds := []kind{nginxSecure(id)}
	for _, name := range sorted(octets) {
		kinds = append(kinds, octetSecure(name, octets[name], id))
	}
	const request, event = "µs CPU/request", "µs CPU/event"
	all := []row{
		{name: "tls-unary-1k", unit: request, measure: unaryCPU("template", 1<<10)},
		{name: "tls-unary-16k", unit: request, measure: unaryCPU("template", 16<<10)},
		{name: "tls-sse-paced", unit: event, measure: pacedCPU},
		{name: "tls-sse-burst", unit: event, measure: burstCPU},
		{name: "tls-open-stream", unit: "KiB RSS/stream", fresh: true, measure: streamMemory},
		{name: "tls-idle", unit: "KiB RSS/connection", fresh: true, measure: idleMemory},
		{name: "tls-beside-idle", unit: besideUnit, measure: besideIdle},
	}
	for i := range all {
		all[i].only = kinds
	}
	return all
}
