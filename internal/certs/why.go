package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
)

// Why returns in a few words why a handshake with a server failed; "" if err does not come of one.
func Why(err error) string {
	var (
		host    x509.HostnameError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &host):
		return "its certificate is of another host"
	case errors.As(err, &unknown):
		return "its certificate is of an unknown authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired, or is not valid yet"
	case errors.As(err, &invalid):
		return "its certificate is not valid"
	case errors.As(err, &record):
		return "it does not speak TLS"
	case errors.As(err, &alert), strings.Contains(err.Error(), "remote error: tls: "):
		return remote(err)
	}
	return ""
}

// remote is why the other side ended a handshake. Its words come as text alone.
func remote(err error) string {
	_, said, _ := strings.Cut(err.Error(), "tls: ")
	if strings.Contains(said, "certificate") || strings.Contains(said, "unknown certificate authority") {
		return "it does not accept the gateway's certificate: " + said
	}
	return "it ended the handshake: " + said
}
