package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	slices "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	clienttest "k8s.io/client-go/testing"

	"octet/app/discovery"
	"octet/config"
	"octet/internal/await"
)

func of[T any](v T) *T { return &v }

// pod is an endpoint of a pod; state says "ready", "serving" (it terminates, and serves still), "terminating", "not".
func pod(name, address, state string) slices.Endpoint {
	e := slices.Endpoint{Addresses: []string{address}, NodeName: of("node-1"), Zone: of("zone-a")}
	if name != "" {
		e.TargetRef = podRef(name)
	}
	switch state {
	case "serving":
		e.Conditions = slices.EndpointConditions{Ready: of(false), Serving: of(true), Terminating: of(true)}
	case "terminating":
		e.Conditions = slices.EndpointConditions{Ready: of(false), Serving: of(false), Terminating: of(true)}
	case "not":
		e.Conditions = slices.EndpointConditions{Ready: of(false), Serving: of(false), Terminating: of(false)}
	case "ready":
		e.Conditions = slices.EndpointConditions{Ready: of(true), Serving: of(true), Terminating: of(false)}
	}
	return e
}

func slice(name string, endpoints ...slices.Endpoint) *slices.EndpointSlice {
	return &slices.EndpointSlice{
		ObjectMeta: meta.ObjectMeta{Name: name, Namespace: "ml",
			Labels: map[string]string{slices.LabelServiceName: "vllm"}},
		AddressType: slices.AddressTypeIPv4, Endpoints: endpoints,
		Ports: []slices.EndpointPort{{Name: of("metrics"), Port: of(int32(9090))},
			{Name: of("http"), Port: of(int32(8000))}},
	}
}

// six is a slice of IPv6 addresses.
func six(s *slices.EndpointSlice) *slices.EndpointSlice {
	s.AddressType = slices.AddressTypeIPv6
	return s
}

func specialist(k config.Kubernetes) *config.Specialist {
	if k.Service == "" && k.Selector == "" {
		k.Service = "vllm"
	}
	if k.Port == "" {
		k.Port = "http"
	}
	if k.Scheme == "" {
		k.Scheme, k.Family = "http", "auto"
	}
	return &config.Specialist{Name: "debug", BlockSize: 16, Discover: &config.Discover{Kubernetes: &k}}
}

// told is one call of a source.
type told struct {
	set discovery.Set
	err error
}

func (t told) String() string {
	var all []string
	for _, r := range t.set.Replicas {
		all = append(all, r.Name+"="+strings.TrimPrefix(r.URL, "http://"))
	}
	return strings.Join(all, " ")
}

// watched has a source watched, and returns what it tells.
func watched(t *testing.T, open Opener, k config.Kubernetes) <-chan told {
	t.Helper()
	all := make(chan told, 1<<10)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Kind(open).Open(specialist(k)).Watch(ctx, func(s discovery.Set, err error) { all <- told{s, err} })
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return all
}

// until waits for a set, by the replicas that are in it.
func until(t *testing.T, all <-chan told, want string) told {
	t.Helper()
	last := "nothing"
	for {
		select {
		case got := <-all:
			if last = fmt.Sprint(got, got.err); got.err == nil && got.String() == want {
				return got
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%q was not told, but %s at last", want, last)
		}
	}
}

// Replicas come and go with the endpoints of a service: one that is not ready yet is none, and one that terminates is
// drained, whether it serves still or not.
func TestReplicasFollowTheEndpointsOfAService(t *testing.T) {
	a := newAPI(t)
	a.put(slice("vllm-a", pod("vllm-0", "10.0.0.1", "ready"), pod("vllm-1", "10.0.0.2", "not")))
	all := watched(t, a.open, config.Kubernetes{})
	first := until(t, all, "vllm-0=10.0.0.1:8000")
	await.True(t, "a watch", func() bool { // the fake tells nothing of what changed before it
		return strings.Contains(fmt.Sprint(a.Actions()), "watch")
	})
	if l := first.set.Replicas[0].Labels; l["zone"] != "zone-a" || l["node"] != "node-1" {
		t.Errorf("labels %v", l)
	}
	a.put(slice("vllm-a", pod("vllm-0", "10.0.0.1", "ready"), pod("vllm-1", "10.0.0.2", "")))
	until(t, all, "vllm-0=10.0.0.1:8000 vllm-1=10.0.0.2:8000")
	a.put(slice("vllm-b", pod("vllm-2", "10.0.0.3", "ready")))
	until(t, all, "vllm-0=10.0.0.1:8000 vllm-1=10.0.0.2:8000 vllm-2=10.0.0.3:8000")
	a.put(slice("vllm-a", pod("vllm-0", "10.0.0.1", "serving"), pod("vllm-1", "10.0.0.2", "terminating")))
	until(t, all, "vllm-2=10.0.0.3:8000")
	if err := a.tracker.Delete(resource, "ml", "vllm-b"); err != nil {
		t.Fatal(err)
	}
	until(t, all, "")
}

// What the slices of a service say of its pods, in every way that they may, and what is no replica for a reason.
func TestSlicesAreMergedByPod(t *testing.T) {
	other := slice("other", pod("x", "10.9.9.9", "ready"))
	other.Labels[slices.LabelServiceName] = "other"
	foreign := slice("foreign", pod("x", "10.9.9.9", "ready"))
	foreign.Namespace = "kube-system"
	https := slice("https", pod("a", "10.0.0.1", "ready"))
	https.Ports = []slices.EndpointPort{{Name: of("http"), Port: of(int32(8443)), AppProtocol: of("https")}}
	udp := slice("udp", pod("a", "10.0.0.1", "ready"))
	udp.Ports = []slices.EndpointPort{{Name: of("http"), Port: of(int32(8000)), Protocol: of(udpProtocol)}}
	named := slice("fqdn", pod("", "engine.example", "ready"))
	named.AddressType = slices.AddressTypeFQDN
	long := strings.Repeat("x", 70)
	for name, c := range map[string]struct {
		k       config.Kubernetes
		slices  []*slices.EndpointSlice
		want    string
		refused string
	}{
		"a pod in two slices": {slices: []*slices.EndpointSlice{slice("a", pod("p", "10.0.0.1", "ready")),
			slice("b", pod("p", "10.0.0.1", "ready"))}, want: "p=10.0.0.1:8000"},
		"a pod that terminates by one of them": {slices: []*slices.EndpointSlice{
			slice("a", pod("p", "10.0.0.1", "ready")), slice("b", pod("p", "10.0.0.1", "serving"))}},
		"a pod with two families": {slices: []*slices.EndpointSlice{
			six(slice("a", pod("p", "fd00::1", "ready"), pod("q", "fd00::2", "ready"))),
			slice("b", pod("p", "10.0.0.1", "ready"))}, want: "p=10.0.0.1:8000 q=[fd00::2]:8000"},
		"by IPv6": {k: config.Kubernetes{Scheme: "http", Family: "ipv6"}, slices: []*slices.EndpointSlice{
			six(slice("a", pod("p", "fd00::1", "ready"))),
			slice("b", pod("p", "10.0.0.1", "ready"), pod("q", "10.0.0.2", "ready"))}, want: "p=[fd00::1]:8000"},
		"by IPv4": {k: config.Kubernetes{Scheme: "http", Family: "ipv4"}, slices: []*slices.EndpointSlice{
			six(slice("a", pod("p", "fd00::1", "ready"), pod("q", "fd00::2", "ready"))),
			slice("b", pod("p", "10.0.0.1", "ready"))}, want: "p=10.0.0.1:8000"},
		"another service's, another namespace's": {slices: []*slices.EndpointSlice{other, foreign,
			slice("a", pod("p", "10.0.0.1", "ready"))}, want: "p=10.0.0.1:8000"},
		"a port by its number": {k: config.Kubernetes{Port: "9090"}, slices: []*slices.EndpointSlice{
			slice("a", pod("p", "10.0.0.1", "ready"))}, want: "p=10.0.0.1:9090"},
		"a port that is not there": {k: config.Kubernetes{Port: "grpc"}, slices: []*slices.EndpointSlice{
			slice("a", pod("p", "10.0.0.1", "ready"))}, refused: `no TCP port "grpc"`},
		"a port that is not TCP": {slices: []*slices.EndpointSlice{udp}, refused: `no TCP port "http"`},
		"https by the port": {k: config.Kubernetes{Scheme: "auto", Family: "auto"},
			slices: []*slices.EndpointSlice{https}, want: "a=https://10.0.0.1:8443"},
		"an endpoint that is no pod": {slices: []*slices.EndpointSlice{slice("a", pod("", "10.0.0.1", "ready"))},
			want: "debug-10.0.0.1-8000=10.0.0.1:8000"},
		"a name too long": {slices: []*slices.EndpointSlice{slice("a", pod(long, "10.0.0.1", "ready"))},
			want: "debug-10.0.0.1-8000=10.0.0.1:8000"},
		"a host":     {slices: []*slices.EndpointSlice{named}, want: "debug-engine.example-8000=engine.example:8000"},
		"no address": {slices: []*slices.EndpointSlice{slice("a", slices.Endpoint{})}, refused: "has no address"},
		"an address of the other family": {slices: []*slices.EndpointSlice{slice("a", pod("p", "fd00::1", "ready"))},
			refused: "is no IPv4 address"},
		"an address with a zone": {slices: []*slices.EndpointSlice{six(slice("a", pod("p", "fe80::1%eth0", "ready")))},
			refused: "is no IPv6 address"},
	} {
		k := specialist(c.k)
		if name == "by IPv6" || name == "by IPv4" {
			k.Discover.Kubernetes.Family = c.k.Family
		}
		v := newView(k.Discover.Kubernetes, "ml")
		for _, s := range c.slices {
			v.put(s)
		}
		set, err := v.set(k)
		if got := (told{set: set}).String(); got != c.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
		if why := fmt.Sprint(set.Refused); (c.refused == "") != (len(set.Refused) == 0) ||
			!strings.Contains(why, c.refused) {
			t.Errorf("%s: refused %s, want %q", name, why, c.refused)
		}
	}
}

// Where no port is named there has to be one alone.
func TestAPortThatIsNotNamedIsTheOnlyOne(t *testing.T) {
	k := specialist(config.Kubernetes{})
	k.Discover.Kubernetes.Port = ""
	v := newView(k.Discover.Kubernetes, "ml")
	one := slice("a", pod("p", "10.0.0.1", "ready"))
	v.put(one)
	if set, _ := v.set(k); len(set.Replicas) != 0 || !strings.Contains(fmt.Sprint(set.Refused), "several ports") {
		t.Errorf("two ports: %+v", set)
	}
	one.Ports = one.Ports[1:]
	v.put(one)
	if set, _ := v.set(k); len(set.Replicas) != 1 || len(set.Refused) != 0 {
		t.Errorf("one port: %+v", set)
	}
}

// Ten thousand endpoints are read and told; more than are held are an error, which takes nothing away.
func TestTenThousandEndpoints(t *testing.T) {
	k := specialist(config.Kubernetes{})
	v := newView(k.Discover.Kubernetes, "ml")
	filled := func(n int) {
		for i := range n {
			var all []slices.Endpoint
			for j := range 100 {
				at := fmt.Sprintf("10.%d.%d.%d", i/256, i%256, j)
				all = append(all, pod(fmt.Sprintf("p-%03d-%02d", i, j), at, "ready"))
			}
			v.put(slice(fmt.Sprint("s", i), all...))
		}
	}
	began := time.Now()
	filled(100)
	set, err := v.set(k)
	if len(set.Replicas) != 10_000 || err != nil || time.Since(began) > 20*time.Second {
		t.Errorf("%d replicas, %v", len(set.Replicas), err)
	}
	filled(201)
	if set, err = v.set(k); !errors.Is(err, ErrTooMany) || len(set.Replicas) != 0 || v.held > maxEndpoints {
		t.Errorf("%d of %d: %v", len(set.Replicas), v.held, err)
	}
	v.drop(slice("s0"))
	for i := range 201 {
		v.drop(slice(fmt.Sprint("s", i)))
	}
	filled(1)
	if set, err = v.set(k); len(set.Replicas) != 100 || err != nil {
		t.Errorf("after all have gone: %d, %v", len(set.Replicas), err)
	}
}

// What fails is told, typed, and takes nothing away; then it is tried again.
func TestARefusalIsToldAndTriedAgain(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"},
		"", errors.New("RBAC"))
	for name, c := range map[string]struct {
		verb string
		err  error
		want error
	}{
		"a list that RBAC refuses":    {"list", forbidden, ErrForbidden},
		"a watch that RBAC refuses":   {"watch", forbidden, ErrForbidden},
		"a list without a key":        {"list", apierrors.NewUnauthorized("who"), ErrForbidden},
		"an API server that is busy":  {"list", apierrors.NewTooManyRequests("later", 1), ErrList},
		"a watch that is not offered": {"watch", errors.New("connection refused"), ErrWatch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			a.put(slice("vllm-a", pod("p", "10.0.0.1", "ready")))
			failures := 1
			refuse := func(clienttest.Action) (bool, runtime.Object, error) {
				failures--
				return failures >= 0, nil, c.err
			}
			if c.verb == "list" {
				a.PrependReactor(c.verb, "*", refuse)
			} else {
				a.PrependWatchReactor("*", func(x clienttest.Action) (bool, watch.Interface, error) {
					handled, _, err := refuse(x)
					return handled, nil, err
				})
			}
			all := watched(t, a.open, config.Kubernetes{})
			for {
				if got := <-all; got.err != nil {
					if !errors.Is(got.err, c.want) || len(got.set.Replicas) != 0 {
						t.Errorf("told %v", got.err)
					}
					break
				}
			}
			until(t, all, "p=10.0.0.1:8000")
		})
	}
	all := watched(t, func(*config.Kubernetes) (Slices, string, error) { return nil, "", errors.New("no cluster") },
		config.Kubernetes{})
	if got := <-all; !errors.Is(got.err, ErrAccess) {
		t.Errorf("told %v", got.err)
	}
}

// A watch that the API server ends goes on where it was. One whose version is too old begins with a list again, and
// what changed meanwhile is found.
func TestAWatchThatBreaksIsTakenUpAgain(t *testing.T) {
	a := newAPI(t)
	a.put(slice("vllm-a", pod("p", "10.0.0.1", "ready")))
	watches := make(chan *watch.FakeWatcher, 8)
	a.PrependWatchReactor("*", func(clienttest.Action) (bool, watch.Interface, error) {
		w := watch.NewFake()
		watches <- w
		return true, w, nil
	})
	all := watched(t, a.open, config.Kubernetes{})
	until(t, all, "p=10.0.0.1:8000")
	w := <-watches
	w.Add(slice("vllm-b", pod("q", "10.0.0.2", "ready")))
	until(t, all, "p=10.0.0.1:8000 q=10.0.0.2:8000")
	w.Stop() // as it does every few minutes: no list, and all is known still
	w = <-watches
	w.Delete(slice("vllm-b"))
	until(t, all, "p=10.0.0.1:8000")
	a.put(slice("vllm-c", pod("r", "10.0.0.3", "ready")))
	w.Action(watch.Error, &apierrors.NewResourceExpired("too old").ErrStatus)
	if got := <-all; got.err != nil || got.String() != "p=10.0.0.1:8000 r=10.0.0.3:8000" {
		t.Errorf("after a version that is too old: %v, %v", got, got.err)
	}
	w = <-watches
	w.Action(watch.Error, &apierrors.NewInternalError(errors.New("etcd")).ErrStatus)
	if got := <-all; !errors.Is(got.err, ErrWatch) {
		t.Errorf("told %v", got.err)
	}
	until(t, all, "p=10.0.0.1:8000 r=10.0.0.3:8000")
}
