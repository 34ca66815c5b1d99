package cmd

import (
	"crypto/tls"
	"os"

	"github.com/spf13/cobra"

	"octet/cmd/adminclient"
	"octet/internal/certs"
)

// secureFlags are the files by which a command speaks TLS to an admin listener. What is not given is read from the
// environment.
type secureFlags struct{ ca, cert, key string }

func (f *secureFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.ca, "ca", "",
		"a PEM file of the authorities that the gateway's certificate may be of; default "+adminclient.CAVar)
	c.Flags().StringVar(&f.cert, "tls-cert", "", "a client's certificate, where the gateway wants one; default "+
		adminclient.CertVar)
	c.Flags().StringVar(&f.key, "tls-key", "", "its private key; default "+adminclient.KeyVar)
}

// config returns the TLS of the files; nil if there are none.
func (f *secureFlags) config() (*tls.Config, error) {
	from := func(flag, variable string) string {
		if flag != "" {
			return flag
		}
		return os.Getenv(variable)
	}
	files := certs.Files{Cert: from(f.cert, adminclient.CertVar), Key: from(f.key, adminclient.KeyVar),
		CA: from(f.ca, adminclient.CAVar)}
	if files.Zero() {
		return nil, nil //nolint:nilnil // documented: no files are no error
	}
	source, err := certs.Open(files)
	if err != nil {
		return nil, usageError{err}
	}
	return source.Client(), nil
}
