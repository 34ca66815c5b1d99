package config

import "time"

// Discover is where replicas of a specialist are found, beside those that the file lists or instead of them. A replica
// that is found is held to what a listed one is held to. An empty section (discover: {}) has them registered by
// POST /admin/replicas alone.
type Discover struct {
	// A file with a list like replicas, in YAML or JSON; watched. One that is missing or at fault changes nothing: the
	// last good list stays.
	File string `yaml:"file"`
	// A name that is looked up again and again.
	DNS *DNS `yaml:"dns"`
	// A service of Kubernetes: its EndpointSlices are watched. A pod that is ready is a replica; one that terminates is
	// drained.
	Kubernetes *Kubernetes `yaml:"kubernetes"`
	// What replicas that are found have in common; what a source says of one of them wins.
	Template Template `yaml:"template"`
}

// DNS is a name that leads to replicas: by A and AAAA records, or by SRV records where it begins with "_".
type DNS struct {
	// Such as vllm.debug.svc, or _http._tcp.vllm.debug.svc.
	Name string `yaml:"name" required:"true" form:"domain"`
	// Of each address; required, save for SRV records, which have their own.
	Port int `yaml:"port" default:"0" range:"0..65535"`
	// Time between two lookups; a record's TTL is not looked at.
	Every time.Duration `yaml:"every" default:"5s" range:"100ms..1h"`
	// How the replicas are asked.
	Scheme string `yaml:"scheme" default:"http" enum:"http https"`
	// Which addresses are replicas. auto = those of A records, and of AAAA records only where there are no others: an
	// engine that has both is one replica.
	Family string `yaml:"family" default:"auto" enum:"auto ipv4 ipv6 both"`
	// An answer without addresses (NXDOMAIN too) counts once it has been given for so long; until then the last
	// replicas stay. A lookup that fails never takes a replica away.
	EmptyAfter time.Duration `yaml:"empty_after" default:"30s" range:"0s..24h"`
}

// Kubernetes is a service whose EndpointSlices lead to replicas. The account needs list and watch of
// endpointslices.discovery.k8s.io in the namespace.
type Kubernetes struct {
	// Empty = the pod's own, or that of the kubeconfig's context.
	Namespace string `yaml:"namespace" form:"domain"`
	// Its name; required without selector.
	Service string `yaml:"service" form:"domain"`
	// The name of a port of the service, or its number in the pods; empty = the only one that it has.
	Port string `yaml:"port" form:"name"`
	// Further labels of the slices, such as team=ml.
	Selector string `yaml:"selector" form:"text"`
	// How the replicas are asked; auto = https where the port's appProtocol says so.
	Scheme string `yaml:"scheme" default:"http" enum:"http https auto"`
	// Which address of a pod is used. auto = IPv4, and IPv6 where a pod has no other. A pod is one replica.
	Family string `yaml:"family" default:"auto" enum:"auto ipv4 ipv6"`
	// A kubeconfig; empty = KUBECONFIG, ~/.kube/config, or the pod's account.
	Kubeconfig string `yaml:"kubeconfig"`
	// A context of the kubeconfig; empty = its current one.
	Context string `yaml:"context"`
}

// Template is what replicas that are found have in common.
type Template struct {
	// Tokens a KV block holds: the block_size of the specialist, if it is not said there; 0 = not said here.
	BlockSize int `yaml:"block_size" default:"0" range:"0..1024"`
	// Every other key of a replica but url, name and dp_rank.
	Replica Replica `yaml:",inline" except:"url name dp_rank"`
}

// Discovery is how the fleet changes by what is found.
type Discovery struct {
	// What is found is taken over once it has not changed for so long, or after a second.
	Settle time.Duration `yaml:"settle" default:"100ms" range:"0s..1s"`
	// A replica that is found no more gets no new requests; the streams that it has go on. It keeps its slot, and what
	// is known of its cache, pace and adapters, for so long: if it is back by then, it is as it was. 0s = not at all.
	Keep time.Duration `yaml:"keep" default:"1m" range:"0s..24h"`
	// Time that a replica which is registered by POST /admin/replicas stays without saying ttl.
	Lease time.Duration `yaml:"lease" default:"30s" range:"1s..24h"`
}
