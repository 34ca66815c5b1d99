package cmd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"reflect"
	"sync"

	"octet/config"
	"octet/routing/events"
	"octet/routing/events/grpcstream"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
)

// supply is a consumer that tells how it is doing.
type supply interface {
	events.Consumer
	Stats() events.ConsumerStats
}

// consumersOf returns the sources of cache events that all replicas share, by name.
func consumersOf(cfg *config.Config) (map[string]supply, error) {
	all := map[string]supply{}
	if r := cfg.Events.Redis; r != nil {
		rc, err := redisConfig(r)
		if err != nil {
			return nil, err
		}
		if all["redis"], err = redisstream.NewConsumer(rc); err != nil {
			return nil, err
		}
	}
	if n := cfg.Events.NATS; n != nil {
		c, err := natsstream.NewConsumer(natsConfig(n))
		if err != nil {
			return nil, err
		}
		all["nats"] = c
	}
	if g := cfg.Events.GRPC; g != nil {
		gc, err := grpcConfig(g)
		if err != nil {
			return nil, err
		}
		if all["grpc"], err = grpcstream.NewConsumer(gc); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func redisConfig(r *config.Redis) (redisstream.Config, error) {
	c := redisstream.Config{
		Addr: r.Addr, Username: r.Username, Password: r.Password, Stream: r.Stream, MaxReply: int64(r.MaxReply),
		MaxLen: r.MaxLen, Secret: events.Secret(r.Key),
	}
	if !r.TLS && r.CA == "" {
		return c, nil
	}
	roots, err := rootsOf(r.CA)
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	return c, err
}

func natsConfig(n *config.NATS) natsstream.Config {
	return natsstream.Config{
		URL: n.URL, Subject: n.Subject, Stream: n.Stream, Creds: n.Creds, CA: n.CA, MaxMessage: int64(n.MaxMessage),
		Secret: events.Secret(n.Key),
	}
}

func grpcConfig(g *config.GRPC) (grpcstream.Config, error) {
	c := grpcstream.Config{Listen: g.Listen}
	for _, p := range g.Publishers {
		c.Tokens = append(c.Tokens, grpcstream.Token{Token: p.Token, Replicas: p.Replicas})
	}
	if g.Cert == "" {
		return c, nil
	}
	cert, err := tls.LoadX509KeyPair(g.Cert, g.Key)
	if err != nil {
		return c, fmt.Errorf("%w: events.grpc: %w", errConfig, err)
	}
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}
	if g.ClientCA != "" {
		c.TLS.ClientAuth = tls.RequireAndVerifyClientCert
		c.TLS.ClientCAs, err = rootsOf(g.ClientCA)
	}
	return c, err
}

// rootsOf reads the authorities of a PEM file; nil, the system's, without one.
func rootsOf(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil // what crypto/tls takes for the system's roots
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errConfig, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%w: %s holds no certificate", errConfig, path)
	}
	return pool, nil
}

// consume runs the shared sources until ctx ends.
func (h *house) consume(ctx context.Context, shared map[string]supply, running *sync.WaitGroup) {
	for name, c := range shared {
		running.Go(func() {
			if err := c.Consume(ctx, h.feed.From(name)); err != nil && ctx.Err() == nil {
				h.log.Error("cache events stopped", "source", name, "error", err)
			}
		})
	}
}

// redisPublisher and natsPublisher are an engine's side, at the defaults of the configuration.
func redisPublisher(addr, stream string) (events.Publisher, error) {
	return redisstream.NewPublisher(redisstream.Config{Addr: addr, Stream: stream})
}

func natsPublisher(url string) (events.Publisher, error) {
	return natsstream.NewPublisher(natsstream.Config{URL: url})
}

func sameEvents(a, b *config.Config) bool { return reflect.DeepEqual(a.Events, b.Events) }
