package kubernetes

import (
	"context"
	"testing"

	core "k8s.io/api/core/v1"
	slices "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttest "k8s.io/client-go/testing"

	"octet/config"
)

const udpProtocol = core.ProtocolUDP

func podRef(name string) *core.ObjectReference {
	return &core.ObjectReference{Kind: "Pod", Namespace: "ml", Name: name}
}

var (
	resource = slices.SchemeGroupVersion.WithResource("endpointslices")
	kind     = slices.SchemeGroupVersion.WithKind("EndpointSlice")
)

// api is client-go's fake of an API server, in which slices can be changed. It implements Slices as client-go's typed
// fakes do, which know every type of Kubernetes and take minutes to build.
type api struct {
	*testing.T
	*clienttest.Fake
	tracker clienttest.ObjectTracker
}

func newAPI(t *testing.T) *api {
	scheme := runtime.NewScheme()
	if err := slices.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	a := &api{T: t, Fake: new(clienttest.Fake)}
	a.tracker = clienttest.NewObjectTracker(scheme, nothingToDecode{})
	a.AddReactor("*", "*", clienttest.ObjectReaction(a.tracker))
	a.AddWatchReactor("*", func(action clienttest.Action) (bool, watch.Interface, error) {
		w, err := a.tracker.Watch(action.GetResource(), action.GetNamespace())
		return true, w, err
	})
	return a
}

// nothingToDecode is the decoder of an ObjectTracker that is given objects alone.
type nothingToDecode struct{ runtime.Decoder }

// open connects to the fake.
func (a *api) open(*config.Kubernetes) (Slices, string, error) { return a, "ml", nil }

// List implements Slices.
func (a *api) List(_ context.Context, o meta.ListOptions) (*slices.EndpointSliceList, error) {
	got, err := a.Invokes(clienttest.NewListActionWithOptions(resource, kind, "ml", o), new(slices.EndpointSliceList))
	if err != nil {
		return nil, err
	}
	return got.(*slices.EndpointSliceList), nil
}

// Watch implements Slices.
func (a *api) Watch(_ context.Context, o meta.ListOptions) (watch.Interface, error) {
	return a.InvokesWatch(clienttest.NewWatchActionWithOptions(resource, "ml", o))
}

// put makes s what the API server has by its name.
func (a *api) put(s *slices.EndpointSlice) {
	a.Helper()
	err := a.tracker.Update(resource, s, "ml")
	if apierrors.IsNotFound(err) {
		err = a.tracker.Create(resource, s, "ml")
	}
	if err != nil {
		a.Fatal(err)
	}
}
