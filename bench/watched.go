package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"octet/bench/load"
)

// watchedRow is what a page that shows the decisions live costs a request, × the same without one: it reads their
// stream, and asks for the state every other second.
func watchedRow(own []kind) row {
	return row{name: "watched-1k", unit: "× unwatched", only: own, measure: func(b *bench, p *peer) (float64, error) {
		short := *b
		short.span /= turns
		r := load.Requests{Bodies: load.Chat("template", 1<<10, false), Addr: p.addr, Status: 200}
		var watched, unwatched float64
		for range turns {
			alone, err := requestCost(&short, p, r)
			if err != nil {
				return 0, err
			}
			end, err := watch(p)
			if err != nil {
				return 0, err
			}
			seen, err := requestCost(&short, p, r)
			end()
			if err != nil {
				return 0, err
			}
			watched, unwatched = watched+seen, unwatched+alone
		}
		return watched / unwatched, nil
	}}
}

// stateEvery is how often a page asks for the state.
const stateEvery = 2 * time.Second

// watch reads what a page reads until it is ended.
func watch(p *peer) (end func(), err error) {
	at, err := os.ReadFile(filepath.Join(p.dir, adminFile))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := open(ctx, fmt.Sprintf("http://%s/admin/decisions", at))
	if err != nil {
		cancel()
		return nil, err
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body) // ends with ctx
	})
	reading.Go(func() {
		for ctx.Err() == nil {
			if state, err := open(ctx, fmt.Sprintf("http://%s/admin/state", at)); err == nil {
				_, _ = io.Copy(io.Discard, state.Body)
				_ = state.Body.Close()
			}
			select {
			case <-ctx.Done():
			case <-time.After(stateEvery):
			}
		}
	})
	return func() { cancel(); reading.Wait() }, nil
}

func open(ctx context.Context, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err == nil && resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		err = fmt.Errorf("%s: status %d", url, resp.StatusCode)
	}
	return resp, err
}
