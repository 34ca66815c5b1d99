package main

// hall has the gateways that run, each started when its first turn comes.
type hall struct {
	dir, core, engine string
	open              map[string]*peer
	missing           map[string]string
}

// peer returns a running gateway of kind k, nil where it cannot run; a fresh one takes the place of the one before.
func (h *hall) peer(k kind, fresh bool) *peer {
	if k.missing != "" {
		h.missing[k.name] = k.missing
		return nil
	}
	if h.missing[k.name] != "" {
		return nil
	}
	p := h.open[k.name]
	if p != nil && !fresh {
		return p
	}
	if p != nil {
		p.stop()
		delete(h.open, k.name)
	}
	p, err := start(k, h.dir, h.core, h.engine)
	if err != nil {
		h.missing[k.name] = err.Error()
		return nil
	}
	if h.open == nil {
		h.open = map[string]*peer{}
	}
	h.open[k.name] = p
	return p
}

func (h *hall) close() {
	for _, p := range h.open {
		p.stop()
	}
	clear(h.open)
}
