package app

import (
	"context"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"octet/gateway/picker"
	"octet/internal/certs"
)

// pickerTLS is the section that the picker's certificate stands for: its flags.
const pickerTLS = "epp"

// PickerOptions are of a gateway that is an endpoint picker as well.
type PickerOptions struct {
	Listener net.Listener
	FailOpen bool        // what this program fails with goes to any healthy replica
	TLS      certs.Files // the zero Files: plain
}

// ServePicking is Serve with a third listener, for a proxy that asks where requests go. It is called before Start, or
// instead of it.
func (a *App) ServePicking(ctx context.Context, data, admin net.Listener, o PickerOptions) error {
	cfg := picker.Config{Line: a.server.Carried(), Via: a.server.Via()}
	if o.FailOpen {
		cfg.Endpoint = a.server.Endpoint
	}
	if !o.TLS.Zero() {
		source, err := certs.Open(o.TLS)
		if err != nil {
			_, _, _ = data.Close(), admin.Close(), o.Listener.Close() // never served
			return fmt.Errorf("%w: %s: %w", ErrConfig, pickerTLS, err)
		}
		a.certificates.listeners[pickerTLS] = &held{source: source}
		cfg.Options = append(cfg.Options, grpc.Creds(credentials.NewTLS(source.Server())))
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
