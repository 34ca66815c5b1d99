package config

import (
	"strings"
	"testing"
)

// What would have two tenants be one, or tell outsiders what is the operator's, is a fault of the file.
func TestWhatWouldShareOrLeakIsAFault(t *testing.T) {
	const sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	const other = "0f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	tenant := func(more string) string {
		return "auth: {tenants: [{name: acme, key_sha256: " + sha + "}, {" + more + "}]}\n"
	}
	at := func(url string) string {
		return "specialists: [{name: debug, replicas: [{url: \"" + url + "\"}]}]\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"a tenant named as requests without a key", small + tenant("name: anonymous, key_sha256: "+other),
			"auth.tenants[1].name: reserved_name"},
		{"in other letters", small + tenant("name: Anonymous, key_sha256: "+other),
			"auth.tenants[1].name: reserved_name"},
		{"two tenants with one salt",
			small + "auth: {tenants: [{name: a, key_sha256: " + sha + ", cache_salt: x}, {name: b, key_sha256: " +
				other + ", cache_salt: x}]}\n",
			"auth.tenants[1].cache_salt: duplicate_name"},
		{"an empty key", small + tenant("name: b, key_sha256: E3"+noKey[2:]), "auth.tenants[1].key_sha256: bad_value"},
		{"a short secret", small + "auth: {secret: fifteen bytes..}\n", "auth.secret: out_of_range"},
		{"a short token", small + "admin: {token: fifteen bytes..}\n", "admin.token: out_of_range"},
		{"a short token beyond loopback", small + "listen: {admin: 0.0.0.0:8081}\nadmin: {token: x}\n",
			"admin.token: out_of_range"},
		{"a verifier of no kind", small + "outcomes: {kinds: [test], verifier: {sample: 1}}\n",
			"outcomes.verifier.kind: unknown_name"},
		{"more kinds than are published", small + "outcomes: {kinds: [" + strings.Repeat("k, ", 17) + "]}\n",
			"outcomes.kinds: too_many"},
		{"judges without a key", small + "outcomes: {tenants: [anonymous]}\n", "outcomes.tenants[0]: conflict"},
		{"judges where nobody judges",
			small + "auth: {verdicts: none, tenants: [{name: acme, key_sha256: " + sha +
				"}]}\noutcomes: {tenants: [acme]}\n", "outcomes.tenants: conflict"},
		{"an origin that is a page", small + "auth: {origins: [\"https://a.example/x\"]}\n",
			"auth.origins[0]: bad_url"},
		{"the gateway as its own replica", at("http://127.0.0.1:8080"), "specialists[0].replicas[0].url: conflict"},
		{"by name", at("http://localhost:8080"), "specialists[0].replicas[0].url: conflict"},
		{"its admin listener", at("http://127.0.0.1:8081/v1"), "specialists[0].replicas[0].url: conflict"},
		{"through a wildcard", "listen: {data: \":80\"}\n" + at("http://127.0.0.1"),
			"specialists[0].replicas[0].url: conflict"},
		{"through every interface", at("http://0.0.0.0:8080"), "specialists[0].replicas[0].url: conflict"},
		{"a cloud's metadata", at("http://169.254.169.254/latest"), "specialists[0].replicas[0].url: bad_url"},
		{"as IPv6", at("http://[::ffff:169.254.169.254]"), "specialists[0].replicas[0].url: bad_url"},
		{"a link-local engine", at("http://[fe80::1]:8000"), "specialists[0].replicas[0].url: bad_url"},
		{"a link-local store", small + "events: {redis: {addr: \"169.254.1.1:6379\"}}\n",
			"events.redis.addr: bad_address"},
		{"a user in the URL", at("http://me:secret@engine:8000"), "specialists[0].replicas[0].url: bad_url"},
		{"a query", at("http://engine:8000/?x=1"), "specialists[0].replicas[0].url: bad_url"},
		{"dot segments", at("http://engine:8000/v1/../admin"), "specialists[0].replicas[0].url: bad_url"},
		{"escaped segments", at("http://engine:8000/v1%2f..%2fadmin"), "specialists[0].replicas[0].url: bad_url"},
		{"an empty segment", at("http://engine:8000//v1"), "specialists[0].replicas[0].url: bad_url"},
		{"dots in a probe's path", strings.Replace(small, "replicas: [{", "replicas: [{health_path: /a/../b, ", 1),
			"health_path: bad_value"},
		{"events from anybody", small + "events: {grpc: {listen: 0.0.0.0:8082}}\n", "events.grpc.listen: exposed"},
		{"publishers in plain text",
			small + "events: {grpc: {listen: 0.0.0.0:8082, publishers: [{token: a token of twenty}]}}\n",
			"events.grpc.listen: exposed"},
	} {
		_, err := Parse("octet.yaml", []byte(c.text), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %s, found %v", c.name, c.want, err)
		}
	}
	parsed(t, "listen: {data: 0.0.0.0:8000}\n"+at("http://10.0.0.9:8000/base/"))
	parsed(
		t, small+
			"events: {grpc: {listen: 0.0.0.0:8082, cert: a.pem, key: a.key, publishers: [{token: a token of "+
			"twenty}]}}\n")
}
