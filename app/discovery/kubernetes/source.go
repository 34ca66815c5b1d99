package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	slices "k8s.io/api/discovery/v1"

	"octet/app/discovery"
	"octet/config"
)

// Errors of the source. Each wraps what the API server or the file said.
var (
	ErrAccess    = errors.New("kubernetes: no way to the API server")            // no cluster, no kubeconfig
	ErrForbidden = errors.New("kubernetes: endpointslices may not be read")      // RBAC refuses
	ErrList      = errors.New("kubernetes: endpointslices cannot be listed")     // anything else
	ErrWatch     = errors.New("kubernetes: the watch of endpointslices is lost") // what is known is what was
	ErrTooMany   = errors.New("kubernetes: too many endpoints")
)

const (
	firstPause = time.Second // before what failed is tried again; twice as long each time, up to
	lastPause  = 30 * time.Second
	listFor    = 30 * time.Second // a page of a list
	watchFor   = 5 * time.Minute  // a watch, which then begins anew where it was
	pageSize   = 500              // slices; a slice has at most 1000 endpoints, 100 by default
)

// Slices are the EndpointSlices of one namespace, as client-go offers them.
type Slices interface {
	List(ctx context.Context, o meta.ListOptions) (*slices.EndpointSliceList, error)
	Watch(ctx context.Context, o meta.ListOptions) (watch.Interface, error)
}

// Opener connects to the API server. It returns the namespace too: that of the configuration, else that of the pod or
// of the kubeconfig.
type Opener func(c *config.Kubernetes) (in Slices, namespace string, err error)

// Kind is the source of a service's EndpointSlices, which open connects to; nil means Open.
func Kind(open Opener) discovery.Kind {
	if open == nil {
		open = Open
	}
	return discovery.Kind{Name: "kubernetes", Open: func(sp *config.Specialist) discovery.Source {
		if sp.Discover.Kubernetes == nil {
			return nil
		}
		return &source{sp: sp, cfg: sp.Discover.Kubernetes, open: open}
	}}
}

type source struct {
	sp   *config.Specialist
	cfg  *config.Kubernetes
	open Opener

	worked bool // a watch has brought something, or lasted, since the last failure; of Watch's goroutine
}

// Watch implements discovery.Source.
func (s *source) Watch(ctx context.Context, tell func(discovery.Set, error)) {
	pause := firstPause
	for ctx.Err() == nil {
		s.worked = false
		err := s.follow(ctx, tell)
		if ctx.Err() != nil {
			return
		}
		expired := apierrors.IsResourceExpired(err) || apierrors.IsGone(err) // which a list cures
		if !expired {
			tell(discovery.Set{}, err)
		}
		if s.worked {
			pause = firstPause
		}
		again := time.NewTimer(pause/2 + rand.N(pause/2))
		select {
		case <-ctx.Done():
			again.Stop()
			return
		case <-again.C:
		}
		if !expired {
			pause = min(2*pause, lastPause)
		}
	}
}

// follow lists the slices and then watches them, until something fails.
func (s *source) follow(ctx context.Context, tell func(discovery.Set, error)) error {
	in, namespace, err := s.open(s.cfg)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAccess, err)
	}
	v := newView(s.cfg, namespace)
	at, err := s.list(ctx, in, v)
	if err != nil {
		return err
	}
	for {
		found, err := v.set(s.sp)
		tell(found, err)
		if at, err = s.watch(ctx, in, v, at, tell); err != nil {
			return err
		}
	}
}

// list fills v with all slices, page by page, and returns the version from which they are to be watched.
func (s *source) list(ctx context.Context, in Slices, v *view) (at string, err error) {
	o := meta.ListOptions{LabelSelector: v.selector(), Limit: pageSize}
	for {
		within, cancel := context.WithTimeout(ctx, listFor)
		page, err := in.List(within, o)
		cancel()
		if err != nil {
			return "", refusal(ErrList, v.namespace, err)
		}
		for i := range page.Items {
			v.put(&page.Items[i])
		}
		if o.Continue = page.Continue; o.Continue == "" || v.full() {
			return page.ResourceVersion, nil
		}
	}
}

// watch keeps v as the slices are and tells each change. It returns the version at which a watch of the same may begin
// anew, once the API server has ended this one as it does from time to time.
func (s *source) watch(ctx context.Context, in Slices, v *view, at string,
	tell func(discovery.Set, error)) (string, error) {
	most := int64(watchFor / time.Second)
	w, err := in.Watch(ctx, meta.ListOptions{LabelSelector: v.selector(), ResourceVersion: at,
		AllowWatchBookmarks: true, TimeoutSeconds: &most})
	if err != nil {
		return at, refusal(ErrWatch, v.namespace, err)
	}
	defer w.Stop()
	began, events := time.Now(), 0
	defer func() { s.worked = s.worked || time.Since(began) > firstPause }()
	for {
		select {
		case <-ctx.Done():
			return at, ctx.Err()
		case e, ok := <-w.ResultChan():
			if !ok && events == 0 && time.Since(began) < firstPause {
				return at, fmt.Errorf("%w: it ends as it begins", ErrWatch)
			}
			if !ok {
				return at, nil
			}
			if events++; e.Type != watch.Error {
				s.worked = true
			}
			if at, err = v.take(e, at); err != nil {
				return at, refusal(ErrWatch, v.namespace, err)
			}
			if e.Type != watch.Bookmark {
				tell(v.set(s.sp))
			}
		}
	}
}

// take changes v by an event and returns the version that it is of.
func (v *view) take(e watch.Event, at string) (string, error) {
	slice, ok := e.Object.(*slices.EndpointSlice)
	switch {
	case e.Type == watch.Error:
		return at, apierrors.FromObject(e.Object)
	case !ok:
		return at, fmt.Errorf("an event %s of %T", e.Type, e.Object)
	case e.Type == watch.Deleted:
		v.drop(slice)
	case e.Type != watch.Bookmark:
		v.put(slice)
	}
	if slice.ResourceVersion != "" {
		at = slice.ResourceVersion
	}
	return at, nil
}

// refusal is err as one of the source's errors.
func refusal(what error, namespace string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return fmt.Errorf("%w: the account needs list and watch of endpointslices.discovery.k8s.io in namespace %q: %w",
			ErrForbidden, namespace, err)
	}
	return fmt.Errorf("%w: %w", what, err)
}
