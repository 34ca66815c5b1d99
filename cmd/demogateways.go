package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"octet/app"
	"octet/config"
)

// several runs as many gateways as the demo is to have, with one address before them, until ctx ends or one has failed.
func (f demoFlags) several(ctx context.Context, out io.Writer, cfg *config.Config) error {
	front, err := net.Listen("tcp", f.listen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		failed  error
		up      = make(chan gatewayAddresses, f.gateways)
	)
	defer running.Wait()
	for i := range f.gateways {
		one := f.gateway(cfg, i)
		running.Go(func() {
			err := serve(ctx, one, app.Source{}, func(data, admin net.Addr) {
				up <- gatewayAddresses{one.Gateways.Name, data.String(), admin.String()}
			})
			if err != nil {
				mu.Lock()
				failed = errors.Join(failed, fmt.Errorf("%s: %w", one.Gateways.Name, err))
				mu.Unlock()
				cancel()
			}
		})
	}
	all := make([]gatewayAddresses, 0, f.gateways)
	for len(all) < f.gateways {
		select {
		case one := <-up:
			all = append(all, one)
		case <-ctx.Done():
			running.Wait()
			return errors.Join(failed, front.Close())
		}
	}
	slices.SortFunc(all, func(a, b gatewayAddresses) int { return strings.Compare(a.name, b.name) })
	printTour(out, front.Addr().String(), all[0].admin, cfg)
	fmt.Fprintf(out, "\n%d gateways behind %s:\n", len(all), front.Addr())
	addresses := make([]string, len(all))
	for i, one := range all {
		addresses[i] = one.data
		fmt.Fprintf(out, "  %s  data http://%s  admin http://%s\n", one.name, one.data, one.admin)
	}
	fmt.Fprintf(out, "What each has in flight, as another one sees it:\n   curl -s http://%s/admin/gateways\n",
		all[0].admin)
	spread(ctx, front, addresses)
	running.Wait()
	return failed
}

// gatewayAddresses are where one of several gateways listens.
type gatewayAddresses struct{ name, data, admin string }

// gateway returns the configuration of one of several gateways: the first one has the demo's admin address.
func (f demoFlags) gateway(cfg *config.Config, i int) *config.Config {
	one := *cfg
	one.Listen.Data = "127.0.0.1:0"
	if i > 0 {
		one.Listen.Admin = "127.0.0.1:0"
	}
	group := *cfg.Gateways
	group.Name = fmt.Sprintf("gw-%c", 'a'+i)
	one.Gateways = &group
	return &one
}
