package load

import (
	"fmt"
	"sync"
)

// Idle are connections that have had an answer each and ask nothing more.
type Idle struct{ conns []*conn }

// Idle opens n connections and has one request answered on each.
func (r Requests) Idle(n int) (*Idle, error) {
	all := &Idle{conns: make([]*conn, n)}
	errs := make([]error, openers)
	var opening sync.WaitGroup
	for k := range openers {
		opening.Go(func() {
			for i := k; i < n && errs[k] == nil; i += openers {
				if all.conns[i], errs[k] = r.dial(); errs[k] == nil {
					errs[k] = all.conns[i].ask(r.Bodies[i%len(r.Bodies)], r.Status)
				}
			}
		})
	}
	opening.Wait()
	for _, err := range errs {
		if err != nil {
			all.Close()
			return nil, fmt.Errorf("load: an idle connection: %w", err)
		}
	}
	return all, nil
}

// Close ends all of them.
func (i *Idle) Close() {
	for _, c := range i.conns {
		if c != nil {
			_ = c.Close()
		}
	}
}
