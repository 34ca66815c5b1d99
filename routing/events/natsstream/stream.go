package natsstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// find returns the stream; it creates it where it is missing, bounded, and uses one that exists as it is.
func (c Config) find(ctx context.Context, js jetstream.JetStream) (jetstream.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	s, err := js.Stream(ctx, c.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = js.CreateStream(ctx, c.stream())
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another one was faster, and wanted it otherwise
		s, err = js.Stream(ctx, c.Stream)
	}
	if err != nil {
		return nil, fmt.Errorf("natsstream: stream %s: %w", c.Stream, err)
	}
	return s, nil
}

func (c Config) stream() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        c.Stream,
		Description: "cache events of inference engines",
		Subjects:    []string{c.Subject},
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardOld,
		Storage:     jetstream.FileStorage,
		MaxMsgs:     c.MaxMsgs,
		MaxBytes:    c.MaxBytes,
	}
}
