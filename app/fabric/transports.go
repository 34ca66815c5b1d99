package fabric

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"octet/config"
	"octet/routing/events"
	"octet/routing/events/grpcstream"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
)

// source is a consumer that counts what it does.
type source interface {
	events.Consumer
	Stats() events.ConsumerStats
}

// openSources returns the sources of cache events that all replicas share, by name. secure is the TLS of events.grpc.
func openSources(c config.Events, secure *tls.Config) (map[string]source, error) {
	all := map[string]source{}
	if c.Redis != nil {
		rc, err := Redis(c.Redis)
		if err != nil {
			return nil, err
		}
		if all["redis"], err = redisstream.NewConsumer(rc); err != nil {
			return nil, err
		}
	}
	if c.NATS != nil {
		consumer, err := natsstream.NewConsumer(NATS(c.NATS))
		if err != nil {
			return nil, err
		}
		all["nats"] = consumer
	}
	if c.GRPC != nil {
		consumer, err := grpcstream.NewConsumer(grpcConfig(c.GRPC, secure))
		if err != nil {
			return nil, err
		}
		all["grpc"] = consumer
	}
	return all, nil
}

// Redis returns a Redis server of the configuration as its stream takes it. It reads the file of authorities.
func Redis(r *config.Redis) (redisstream.Config, error) {
	c := redisstream.Config{
		Addr: r.Addr, Username: r.Username, Password: r.Password, Stream: r.Stream, MaxReply: int64(r.MaxReply),
		MaxLen: r.MaxLen, Secret: events.Secret(r.Key),
	}
	if !r.TLS && r.CA == "" {
		return c, nil
	}
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if r.CA == "" {
		return c, nil // the system's authorities
	}
	roots, err := readRoots(r.CA)
	c.TLS.RootCAs = roots
	return c, err
}

// NATS returns a NATS server of the configuration as its stream takes it.
func NATS(n *config.NATS) natsstream.Config {
	return natsstream.Config{
		URL: n.URL, Subject: n.Subject, Stream: n.Stream, Creds: n.Creds, CA: n.CA, MaxMessage: int64(n.MaxMessage),
		Secret: events.Secret(n.Key),
	}
}

func grpcConfig(g *config.GRPC, secure *tls.Config) grpcstream.Config {
	c := grpcstream.Config{Listen: g.Listen, TLS: secure}
	for _, p := range g.Publishers {
		c.Tokens = append(c.Tokens, grpcstream.Token{Token: p.Token, Replicas: p.Replicas})
	}
	return c
}

// readRoots reads the authorities of a PEM file.
func readRoots(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%w: %s holds no certificate", ErrConfig, path)
	}
	return pool, nil
}
