package kubernetes

import (
	"context"

	slices "k8s.io/api/discovery/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"octet/config"
)

// Open connects as clients of Kubernetes do: by the named kubeconfig; else by KUBECONFIG or ~/.kube/config; else, in a
// cluster, by the pod's account.
func Open(c *config.Kubernetes) (in Slices, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: c.Context})
	access, err := loaded.ClientConfig()
	if err != nil {
		return nil, "", err
	}
	if namespace = c.Namespace; namespace == "" {
		if namespace, _, err = loaded.Namespace(); err != nil {
			return nil, "", err
		}
	}
	in, err = connect(access, namespace)
	return in, namespace, err
}

// client reads EndpointSlices and nothing else. The typed clients of client-go know every type of Kubernetes, which
// makes a binary by half larger.
type client struct {
	rest      *rest.RESTClient
	params    runtime.ParameterCodec
	namespace string
}

func connect(access *rest.Config, namespace string) (*client, error) {
	scheme := runtime.NewScheme()
	if err := slices.AddToScheme(scheme); err != nil {
		return nil, err
	}
	meta.AddToGroupVersion(scheme, meta.SchemeGroupVersion) // Status, which refusals are told by
	access = rest.CopyConfig(access)
	access.APIPath, access.GroupVersion = "/apis", &slices.SchemeGroupVersion
	access.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	access.UserAgent, access.WarningHandler = "octet", rest.NoWarnings{}
	c, err := rest.RESTClientFor(access)
	if err != nil {
		return nil, err
	}
	return &client{c, runtime.NewParameterCodec(scheme), namespace}, nil
}

// List implements Slices.
func (c *client) List(ctx context.Context, o meta.ListOptions) (*slices.EndpointSliceList, error) {
	list := new(slices.EndpointSliceList)
	err := c.ask(&o).Do(ctx).Into(list)
	return list, err
}

// Watch implements Slices.
func (c *client) Watch(ctx context.Context, o meta.ListOptions) (watch.Interface, error) {
	o.Watch = true
	return c.ask(&o).Watch(ctx)
}

func (c *client) ask(o *meta.ListOptions) *rest.Request {
	return c.rest.Get().Namespace(c.namespace).Resource("endpointslices").VersionedParams(o, c.params)
}
