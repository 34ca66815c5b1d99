package cmd

import (
	"crypto/tls"
	"reflect"

	"octet/config"
	"octet/routing/events"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
)

// consumersOf returns the sources of cache events that the configuration names, by name.
func consumersOf(cfg *config.Config) (map[string]events.Consumer, error) {
	all := map[string]events.Consumer{}
	if r := cfg.Events.Redis; r != nil {
		c, err := redisstream.NewConsumer(redisConfig(r))
		if err != nil {
			return nil, err
		}
		all["redis"] = c
	}
	if n := cfg.Events.NATS; n != nil {
		c, err := natsstream.NewConsumer(natsConfig(n))
		if err != nil {
			return nil, err
		}
		all["nats"] = c
	}
	return all, nil
}

func redisConfig(r *config.Redis) redisstream.Config {
	c := redisstream.Config{Addr: r.Addr, Username: r.Username, Password: r.Password, Stream: r.Stream, MaxLen: r.MaxLen}
	if r.TLS {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return c
}

func natsConfig(n *config.NATS) natsstream.Config {
	return natsstream.Config{URL: n.URL, Subject: n.Subject, Stream: n.Stream, Creds: n.Creds}
}

// redisPublisher and natsPublisher are an engine's side, at the defaults of the configuration.
func redisPublisher(addr, stream string) (events.Publisher, error) {
	return redisstream.NewPublisher(redisstream.Config{Addr: addr, Stream: stream})
}

func natsPublisher(url string) (events.Publisher, error) {
	return natsstream.NewPublisher(natsstream.Config{URL: url})
}

func sameEvents(a, b *config.Config) bool { return reflect.DeepEqual(a.Events, b.Events) }
