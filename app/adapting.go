package app

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"octet/adapters"
	"octet/config"
	"octet/engine"
	"octet/engine/openai"
)

// adapting is an engine as a keeper asks it.
type adapting struct {
	client *openai.Client
	model  string // that it serves without adapters
	// what is declared, of an engine that has all its adapters since it began
	declared []config.Adapter
	scales   bool // it is one, and its requests say how much of each they want
}

// Load implements adapters.Engine.
func (a *adapting) Load(ctx context.Context, name, path string) error {
	return verdict(a.client.LoadAdapter(ctx, openai.Adapter{Name: name, Path: path}))
}

// Unload implements adapters.Engine.
func (a *adapting) Unload(ctx context.Context, name string) error {
	return verdict(a.client.UnloadAdapter(ctx, name))
}

// Probe implements adapters.Engine.
func (a *adapting) Probe(ctx context.Context) error { return a.client.Probe(ctx) }

// List implements adapters.Engine.
func (a *adapting) List(ctx context.Context) ([]adapters.Listed, error) {
	if a.scales {
		return a.listScaled(ctx)
	}
	models, err := a.client.Models(ctx)
	all := make([]adapters.Listed, 0, len(models))
	for _, m := range models {
		if m.ID != a.model || m.Parent != "" {
			all = append(all, adapters.Listed{Name: m.ID, Path: m.Root, Base: m.Parent == ""})
		}
	}
	return all, err
}

// listScaled lists the adapters of an engine that has had them since it began. Of those that are declared requests that
// name none are to have nothing: an engine that begins with more is told so.
func (a *adapting) listScaled(ctx context.Context) ([]adapters.Listed, error) {
	scaled, err := a.client.Scaled(ctx)
	if err != nil {
		return nil, err
	}
	all, applied := make([]adapters.Listed, len(scaled)), false
	for i, s := range scaled {
		name := strings.TrimSuffix(path.Base(s.Path), path.Ext(s.Path))
		all[i] = adapters.Listed{Name: name, Path: s.Path, ID: s.ID}
		if s.Scale != 0 && slices.ContainsFunc(a.declared, func(d config.Adapter) bool {
			return d.Path == s.Path || d.Name == name
		}) {
			scaled[i].Scale, applied = 0, true
		}
	}
	if applied {
		err = a.client.Scale(ctx, scaled)
	}
	return all, err
}

// verdict says what an engine's error means to a keeper.
func verdict(err error) error {
	switch {
	case errors.Is(err, openai.ErrAdapter):
		return fmt.Errorf("%w: %w", adapters.ErrRefused, err)
	case errors.Is(err, openai.ErrUnsupported):
		return fmt.Errorf("%w: %w", adapters.ErrUnsupported, err)
	case errors.Is(err, engine.ErrConnect):
		return fmt.Errorf("%w: %w", adapters.ErrAway, err)
	}
	return err
}

// numbers has replicas whose requests name adapters by number know them.
func (k *keepers) numbers(replicas map[string]*replica) {
	for _, r := range replicas {
		if keeper := k.of(r.key.specialist); keeper != nil && r.served.Kind.ScalesAdapters() {
			host := uint16(r.served.Host)
			r.served.AdapterNumber = func(served string) (int, bool) { return keeper.Number(host, served) }
		}
	}
}
