package app

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"octet/config"
	"octet/gateway/picker"
)

// PickerOptions are of a gateway that is an endpoint picker as well.
type PickerOptions struct {
	Listener net.Listener
	FailOpen bool // what this program fails with goes to any healthy replica
}

// ServePicking is Serve with a third listener, for a proxy that asks where requests go.
func (a *App) ServePicking(ctx context.Context, data, admin net.Listener, o PickerOptions) error {
	limits := func() *config.Limits { return &a.Config().Limits }
	cfg := picker.Config{Line: a.server.Carried(), Via: a.server.Via(), Ready: a.server.Proved,
		WriteTimeout: func() time.Duration { return limits().WriteTimeout },
		MostKept:     func() int64 { return int64(limits().QueueBytes) }}
	if o.FailOpen {
		cfg.Endpoint = a.server.Endpoint
	}
	if secure := a.certificates.server(pickerTLS); secure != nil {
		cfg.Options = append(cfg.Options, grpc.Creds(credentials.NewTLS(secure)))
	}
	if err := a.Start(); err != nil { // before the first request may come
		_, _, _ = data.Close(), admin.Close(), o.Listener.Close() // never served
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done, failed := make(chan struct{}), error(nil)
	var picking sync.WaitGroup
	picking.Go(func() {
		defer stop() // a gateway that cannot be asked ends
		failed = picker.New(cfg).Serve(ctx, o.Listener, done)
	})
	err := a.Serve(ctx, data, admin)
	close(done)
	picking.Wait()
	if err == nil {
		err = failed
	}
	return err
}
