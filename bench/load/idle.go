package load

import "fmt"

// Idle are connections that have had an answer each and ask nothing more.
type Idle struct{ conns []*conn }

// Idle opens n connections and has one request answered on each.
func (r Requests) Idle(n int) (*Idle, error) {
	all := &Idle{conns: make([]*conn, n)}
	err := spread(n, func(i int) (err error) {
		if all.conns[i], err = r.dial(); err == nil {
			err = all.conns[i].ask(r.Bodies[i%len(r.Bodies)], r.Status)
		}
		return err
	})
	if err != nil {
		all.Close()
		return nil, fmt.Errorf("load: an idle connection: %w", err)
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
