package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// Each row is a file, appended to the smallest one unless it is whole, and the lines that are printed for it.
// Line 3 is the first after the smallest file.
//
//nolint:lll // raw text that cannot be broken
func TestEveryFaultIsNamedWithItsPathCodeAndLine(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		// The document.
		{"tabs", "log:\n\tlevel: info", ".: yaml_syntax: found character that cannot start any token (line 4)"},
		{"an open list", "x-a: [1\nlog: {}\n", ".: yaml_syntax: did not find expected ',' or ']' (line 3)"},
		{"two documents", "---\nlog: {}", ".: multi_document: one document a file (line 3)"},
		{"bytes that are no text", "log: {level: \xff}", ".: yaml_syntax: not UTF-8 (line 3)"},
		{"an anchor that is not there", "log: *nowhere",
			".: yaml_syntax: unknown anchor 'nowhere' referenced (line 3)"},
		{"a key that is no text", "1: 2", ".: wrong_type: a key must be text, found a number (line 3)"},

		// Keys.
		{"an unknown key", "limit: {}",
			`limit: unknown_key: there is no key "limit" here; did you mean "limits"? (line 3)`},
		{"an unknown key within", "limits: {\n json_dept: 5}",
			`limits.json_dept: unknown_key: there is no key "json_dept" here; did you mean "json_depth"? (line 4)`},
		{"an unknown key far from any", "log: {colour: red}",
			`log.colour: unknown_key: there is no key "colour" here; known: level, format (line 3)`},
		{"a key twice", "log: {level: info}\nlimits: {drain: 1s,\n drain: 2s}",
			"limits.drain: duplicate_key: the key was given before (line 4); given again (line 5)"},
		{"a section twice", "log: {}\nlog: {}",
			"log: duplicate_key: the key was given before (line 3); given again (line 4)"},
		{"a key with a dot", `intents: {"a b": {}}`,
			`intents["a b"]: bad_value: "a b" is not a name: a letter or digit, then letters, digits, '.', '_' or '-', at most 63 (line 3)`},
		{"a key in a merged mapping", "x-a: &a {levle: info}\nlog: {<<: *a}",
			`log.levle: unknown_key: there is no key "levle" here; did you mean "level"? (line 3)`},
		{"a merge of no mapping", "log: {<<: 1}", "log: wrong_type: << merges mappings, at most 8 deep (line 3)"},

		// Types and ranges.
		{"a section that is none", "limits: 5", "limits: wrong_type: want a mapping of keys, found a number (line 3)"},
		{"a list that is none", "auth: {tenants: {}}",
			"auth.tenants: wrong_type: want a list, found a mapping (line 3)"},
		{"an empty item", "auth: {tenants: [~]}", "auth.tenants[0]: missing: a list has no empty items (line 3)"},
		{"a number for text", "admin: {token: 12}",
			"admin.token: wrong_type: want text, found a number; put it in quotes (line 3)"},
		{"text for a number", `limits: {messages: "4"}`,
			"limits.messages: wrong_type: want a whole number, found text (line 3)"},
		{"a fraction", "limits: {messages: 1.5}",
			"limits.messages: wrong_type: want a whole number, found a number with a fraction (line 3)"},
		{"text for a switch", "admin: {pprof: yes}",
			"admin.pprof: wrong_type: want true or false, found text (line 3)"},
		{"a list for a number", "hash_seed: [1]", "hash_seed: wrong_type: want a whole number, found a list (line 3)"},
		{"too great", "limits: {json_depth: 1001}",
			"limits.json_depth: out_of_range: 1001 is not between 2 and 1000 (line 3)"},
		{"too small", "auth: {anonymous_limits: {priority_max: -101}}",
			"auth.anonymous_limits.priority_max: out_of_range: -101 is not between -100 and 100 (line 3)"},
		{"greater than any number", "limits: {messages: 99999999999999999999}",
			`limits.messages: out_of_range: "99999999999999999999" is not a number that this key can hold (line 3)`},
		{"below nothing", "hash_seed: -1",
			`hash_seed: out_of_range: "-1" is not a number that this key can hold (line 3)`},
		{"no number", "limits: {retry_budget: .nan}",
			`limits.retry_budget: out_of_range: ".nan" is not a number that this key can hold (line 3)`},
		{"a threshold over one", "intents: {review: {shadow_threshold: 1.01}}",
			"intents.review.shadow_threshold: out_of_range: 1.01 is not between 0 and 1 (line 3)"},
		{"a duration without a unit", "limits: {drain: 30}",
			`limits.drain: bad_duration: "30" is not a duration with a unit, such as 30s or 5ms (line 3)`},
		{"a duration out of range", "limits: {drain: -1s}",
			"limits.drain: out_of_range: -1s is not between 0s and 24h (line 3)"},
		{"a size of no unit", "limits: {body_bytes: 8 MegaBytes}",
			`limits.body_bytes: bad_size: "8 MegaBytes" is not a size such as 8MiB (line 3)`},
		{"a size out of range", "limits: {body_bytes: 2GiB}",
			"limits.body_bytes: out_of_range: 2GiB is not between 1KiB and 1GiB (line 3)"},
		{"none of the words", "log: {level: Loud}",
			`log.level: bad_value: "Loud" is not one of debug, info, warn, error (line 3)`},
		{"text that cannot be empty", `router: {classifier: {model: ""}}`,
			"router.classifier.model: missing: model cannot be empty; without the key it is builtin (line 3)"},

		// Forms.
		{"no port", "listen: {data: localhost}", `listen.data: bad_address: "localhost" is not host:port (line 3)`},
		{"a port beyond the last", "listen: {data: 'h:65536'}",
			`listen.data: bad_address: "65536" is not a port between 0 and 65535 (line 3)`},
		{"an address to dial without a host", "events: {redis: {addr: ':6379'}}",
			`events.redis.addr: bad_address: ":6379" names no host (line 3)`},
		{"another scheme", "events: {nats: {url: 'http://h:4222'}}",
			"events.nats.url: bad_url: want nats://host:port, or tls://host:port (line 3)"},
		{"a subject with a hole", "events: {nats: {subject: octet..kv}}",
			`events.nats.subject: bad_value: "octet..kv" is not a NATS subject such as octet.kv.> (line 3)`},
		{"no hash", "auth: {tenants: [{name: t, key_sha256: abc}]}",
			"auth.tenants[0].key_sha256: bad_value: want 64 hex digits, the SHA-256 of the key, found 3 characters " +
				"(line 3)"},

		// Variables.
		{"a variable that is not set", `admin: {token: "${NOPE}"}`,
			"admin.token: unset_variable: ${NOPE} is not set in the environment (line 3)"},
		{"a variable that is none", `admin: {token: "${A:-b}"}`,
			`admin.token: bad_variable: "${A:-b}" is not ${NAME}; a literal "${" is written "$${" (line 3)`},
		{"a variable in a duration", `limits: {drain: "${D}"}`,
			`limits.drain: bad_duration: "${D}" is not a duration with a unit, such as 30s or 5ms; variables are read in text alone (line 3)`},
		{"a variable in a parameter", `profiles: {mine: {pick: {x: {y: "${NOPE}"}}}}`,
			"profiles.mine.pick.x.y: unset_variable: ${NOPE} is not set in the environment (line 3)"},

		// Across keys.
		{"one address for two listeners", "listen: {data: 127.0.0.1:80,\n admin: 'localhost:80'}",
			"listen.admin: conflict: the admin listener needs an address of its own, not the data listener's " +
				"127.0.0.1:80 (line 4)"},
		{"an open admin listener", "listen: {admin: 0.0.0.0:8081}",
			"admin.token: admin_exposed: without a token the admin listener must be on loopback, not on 0.0.0.0:8081 " +
				"(line 1)"},
		{"an event listener on the data listener", "events: {grpc: {listen: 127.0.0.1:8080}}",
			"events.grpc.listen: conflict: the event listener needs an address of its own (line 3)"},
		{"keys required and none given", "auth: {anonymous: false}",
			"auth.anonymous: conflict: a key is required, but no tenant has one (line 3)"},
		{"one key for two tenants",
			"auth:\n  tenants:\n    - {name: t, key_sha256: " + hash + "}\n    - {name: u, key_sha256: " +
				strings.ToUpper(hash) + "}",
			`auth.tenants[1].key_sha256: duplicate_name: "` + hash +
				`" is taken by auth.tenants[0].key_sha256 (line 6)`},
		{"a tenant of an unknown specialist",
			"auth: {tenants: [{name: t, key_sha256: " + hash + ", specialists: [code]}]}",
			`auth.tenants[0].specialists[0]: unknown_name: there is no specialist "code"; did you mean "coder"? (line 3)`},
		{"an intent to nobody", "intents: {debug: {specialist: debug}}",
			`intents.debug.specialist: unknown_name: there is no specialist "debug"; known: coder (line 3)`},
		{"no intent that leads somewhere", "intents: {unspecified: {specialist: coder}}",
			"intents.unspecified.specialist: conflict: requests that declare no intent are routed; router.fallback " +
				"takes what nothing else does (line 3)"},
		{"a judge who is no tenant", "outcomes: {tenants: [judge]}",
			`outcomes.tenants[0]: unknown_name: there is no tenant "judge" (line 3)`},
		{"a fallback that is not there", "router: {fallback: coda}",
			`router.fallback: unknown_name: there is no specialist "coda"; known: coder (line 3)`},
		{"a preset's name", "profiles: {default: {pick: x}}",
			`profiles.default: reserved_name: "default" is a preset's name (line 3)`},
		{"a profile that does not pick", "profiles: {mine: {filter: [health]}}",
			"profiles.mine.pick: missing: pick is required (line 3)"},
		{"two plugins in one place", "profiles: {mine: {filter: [{a: {}, b: {}}], pick: x}}",
			"profiles.mine.filter[0]: bad_value: want one plugin, as name or {name: {parameters}}, found 2 (line 3)"},
		{"a weight that is none", "profiles: {mine: {score: [{a: {weight: heavy}}], pick: x}}",
			"profiles.mine.score[0].a.weight: wrong_type: a weight is a number (line 3)"},
		{"a negative weight", "profiles: {mine: {score: [{a: -1}], pick: x}}",
			"profiles.mine.score[0].a: out_of_range: -1 is not between 0 and 1000000 (line 3)"},
		{"a weight of a filter", "profiles: {mine: {filter: [{a: 1}], pick: x}}",
			"profiles.mine.filter[0].a: wrong_type: want a mapping of parameters, found a number (line 3)"},
	} {
		expect(t, row.name, small+row.text, row.want)
	}
}

// Faults of the ensemble, in whole files.
//
//nolint:lll // raw text that cannot be broken
func TestEveryFaultOfTheEnsembleIsNamed(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"an empty file", "", "specialists: missing: specialists is required (line 1)"},
		{"a file of comments", "# nothing\n", "specialists: missing: specialists is required (line 1)"},
		{"a list", "[]", ".: wrong_type: want a mapping of keys, found a list (line 1)"},
		{"no specialist", "specialists: []", "specialists: missing: at least one is required (line 1)"},
		{"a specialist of nothing", "specialists: [{}]",
			"specialists[0].name: missing: name is required (line 1)\nspecialists[0].replicas: missing: replicas is " +
				"required (line 1)"},
		{"the router's name", "specialists: [{name: octet, replicas: [{url: http://h:1}]}]",
			`specialists[0].name: reserved_name: "octet" already has a meaning (line 1)`},
		{"a name with a colon", "specialists: [{name: 'a:b', replicas: [{url: http://h:1}]}]",
			`specialists[0].name: bad_value: "a:b" is not a name: a letter or digit, then letters, digits, '.', '_' or '-', at most 63 (line 1)`},
		{
			"a name twice",
			"specialists:\n- {name: a, replicas: [{url: http://h:1, name: x}]}\n- {name: a, replicas: [{url: " +
				"http://h:2, name: y}]}",
			`specialists[1].name: duplicate_name: "a" is taken by specialists[0].name (line 3)`},
		{"a replica's name twice",
			"specialists:\n- {name: a, replicas: [{url: http://h:1}, {url: http://h:2, name: a-0}]}",
			`specialists[0].replicas[1].name: duplicate_name: "a-0" is taken by specialists[0].replicas[0].name (line 2)`},
		{"one address spelt twice",
			"specialists:\n- name: a\n  replicas:\n  - {url: http://H}\n  - {url: 'http://h:80/'}",
			`specialists[0].replicas[1].url: duplicate_url: "http://h:80" is taken by specialists[0].replicas[0].url (line 5)`},
		{"a replica of another scheme", "specialists:\n- name: a\n  replicas:\n  - {url: ftp://h}",
			`specialists[0].replicas[0].url: bad_url: "ftp://h" is not an http or https URL (line 4)`},
		{"a replica without a URL", "specialists: [{name: a, replicas: [{name: x}]}]",
			"specialists[0].replicas[0].url: missing: url is required (line 1)"},
		{"a user in a URL", "specialists: [{name: a, replicas: [{url: 'http://u:p@h'}]}]",
			"specialists[0].replicas[0].url: bad_url: a replica's URL has no user, query or fragment; api_key is a " +
				"key of its own (line 1)"},
		{"a replica of no kind", "specialists: [{name: a, replicas: [{url: http://h, engine: vlm}]}]",
			`specialists[0].replicas[0].engine: bad_value: "vlm" is not one of auto, vllm, sglang, llamacpp, openai (line 1)`},
		{"events without a socket",
			"specialists: [{name: a, replicas: [{url: http://h, events: {replay: 'ipc:///r'}}]}]",
			"specialists[0].replicas[0].events.zmq: conflict: replay, snapshot, topic and source: zmq need the PUB socket's " +
				"endpoint (line 1)"},
		{"names of all blocks, under another scheme",
			"specialists: [{name: a, replicas: [{url: http://h, events: {zmq: 'ipc:///r', snapshot: 'ipc:///s'}}]}]",
			"specialists[0].replicas[0].events.snapshot: conflict: it tells names of blocks, which say what those " +
				"hold only where the specialist's hash_scheme is sglang (line 1)"},
		{"a socket of its own and another source",
			"specialists: [{name: a, replicas: [{url: http://h, events: {zmq: 'ipc:///r', source: redis}}]}]",
			"specialists[0].replicas[0].events.source: conflict: a replica with a ZMQ socket of its own is heard by " +
				"that alone: its numbers would clash with those of redis (line 1)"},
		{"a peer without a common seed",
			"{events: {snapshot: {peer: 'http://h:1'}}, specialists: [{name: a, replicas: [{url: http://h}]}]}",
			"hash_seed: conflict: a peer's snapshot is of no use under a seed of one's own: both gateways set the " +
				"same one (line 1)"},
		{"hashes without their seed", "specialists: [{name: a, hash_scheme: sha256_cbor, replicas: [{url: http://h}]}]",
			`specialists[0].hash_seed: conflict: without PYTHONHASHSEED a vLLM draws its hashes at random: sha256_cbor needs it here and there (line 1)`},
		{"a seed of nothing", "specialists: [{name: a, hash_seed: '42', replicas: [{url: http://h}]}]",
			`specialists[0].hash_seed: conflict: hash_scheme octet has no seed (line 1)`},
		{
			"a version that is a text",
			"specialists: [{name: a, version: " + strings.Repeat("v", 257) + ", replicas: [{url: http://h}]}]",
			`specialists[0].version: bad_value: a version of 257 bytes, at most 256 (line 1)`},
		{
			"an adapter's likewise",
			"specialists: [{name: a, adapters: [{name: b, version: " + strings.Repeat("v", 257) +
				"}], replicas: [{url: http://h}]}]",
			`specialists[0].adapters[0].version: bad_value: a version of 257 bytes, at most 256 (line 1)`},
		{
			"a seed that is none",
			"specialists: [{name: a, hash_scheme: sha256, hash_seed: abc, replicas: [{url: http://h}]}]",
			`specialists[0].hash_seed: bad_value: "abc" is no PYTHONHASHSEED: random, or a number up to 4294967295 (line 1)`},
		{
			"hashes of text",
			"specialists: [{name: a, hash_scheme: sha256, hash_seed: '1', tokenizer: none, replicas: [{url: " +
				"http://h}]}]",
			`specialists[0].tokenizer: conflict: chunks of text have none of the hashes that engines give to tokens: hash_scheme sha256 needs a tokenizer (line 1)`},
		{"hashes of another engine",
			"specialists: [{name: a, hash_scheme: sglang, replicas: [{url: http://h, engine: vllm}]}]",
			`specialists[0].replicas[0].engine: conflict: vllm does not hash as hash_scheme sglang of its specialist says (line 1)`},
		{"a replica that hashes otherwise",
			"specialists: [{name: a, hash_scheme: sha256, hash_seed: '1', replicas: [{url: http://h, events: " +
				"{hash_scheme: sha256, hash_seed: '2'}}]}]",
			`specialists[0].replicas[0].events.hash_scheme: conflict: prompts are hashed by another scheme or seed: hash_scheme and hash_seed of the specialist hold for all its replicas (line 1)`},
		{"a replica that cannot hash so",
			"specialists: [{name: a, block_size: 16, replicas: [{url: http://h, engine: sglang, events: " +
				"{hash_scheme: xxhash, hash_seed: '2'}}]}]",
			`specialists[0].replicas[0].events.hash_scheme: conflict: sglang does not hash so (line 1)`},
		{"a source that is off", "specialists: [{name: a, replicas: [{url: http://h, events: {source: nats}}]}]",
			"specialists[0].replicas[0].events.source: conflict: nobody may speak for it but nats, and there is no " +
				"events.nats (line 1)"},
		{"a certificate without its key",
			"specialists: [{name: a, replicas: [{url: http://h}]}]\nevents: {grpc: {cert: c.pem}}",
			"events.grpc.key: conflict: a certificate needs its key, and a key its certificate (line 2)"},
		{"client certificates without TLS",
			"specialists: [{name: a, replicas: [{url: http://h}]}]\nevents: {grpc: {client_ca: c.pem}}",
			"events.grpc.client_ca: conflict: client certificates need TLS: cert and key (line 2)"},
		{"a socket of no kind", "specialists: [{name: a, replicas: [{url: http://h, events: {zmq: 'udp://h:1'}}]}]",
			`specialists[0].replicas[0].events.zmq: bad_url: "udp://h:1" is not tcp://host:port or ipc://path (line 1)`},
		{"block size zero", "specialists: [{name: a, block_size: 0, replicas: [{url: http://h}]}]",
			"specialists[0].block_size: out_of_range: 0 is not between 1 and 1024 (line 1)"},
		{"blocks below zero", "specialists: [{name: a, replicas: [{url: http://h, blocks: -1}]}]",
			"specialists[0].replicas[0].blocks: out_of_range: -1 is not between 0 and 1000000000 (line 1)"},
		{"prefill alone", "specialists: [{name: a, replicas: [{url: http://h, role: prefill}]}]",
			"specialists[0].replicas: conflict: every replica of a is for prefill: none could answer (line 1)"},
		{"halves and one replica for all",
			"specialists: [{name: a, replicas: [{url: http://h, role: decode}, {url: http://i, role: prefill}]}]",
			"specialists[0].workflow: conflict: single needs a replica of role both: those of a do one part each, " +
				"which is disaggregated (line 1)"},
		{"three steps and nobody for the first",
			"specialists: [{name: a, workflow: three-step, replicas: [{url: http://h, role: decode}, {url: http://i, " +
				"role: prefill}]}]",
			"specialists[0].workflow: conflict: three-step needs a replica of role preprocess or both (line 1)"},
		{"a header for who only prefills",
			"specialists: [{name: a, workflow: disaggregated, replicas: [{url: http://h}, {url: http://i, role: " +
				"prefill, prefill_header: true}]}]",
			"specialists[0].replicas[1].prefill_header: conflict: a replica of role prefill answers nobody: who " +
				"answers has its prompts computed elsewhere (line 1)"},
		{"preprocess alone", "specialists: [{name: a, replicas: [{url: http://h, role: preprocess}]}]",
			"specialists[0].replicas: conflict: every replica of a is for preprocess: none could answer (line 1)"},
		{"a workflow that is none", "specialists: [{name: a, workflow: five-step, replicas: [{url: http://h}]}]",
			`specialists[0].workflow: bad_value: "five-step" is not one of single, disaggregated, three-step (line 1)`},
		{"decode alone", "specialists: [{name: a, replicas: [{url: http://h, role: decode}]}]",
			"specialists[0].replicas: conflict: every replica of a is for decode: none could take a prompt (line 1)"},
		{
			"an adapter twice",
			"specialists: [{name: a, adapters: [{name: l},\n {name: l}], replicas: [{url: http://h}]}]",
			`specialists[0].adapters[1].name: duplicate_name: "l" is taken by specialists[0].adapters[0].name (line 2)`},
		{"a context smaller than a block", "specialists: [{name: a, context: 8, replicas: [{url: http://h}]}]",
			"specialists[0].context: conflict: a context of 8 tokens is smaller than a block of 16 (line 1)"},
		{"a profile that is not there", "specialists: [{name: a, profile: cache-awar, replicas: [{url: http://h}]}]",
			`specialists[0].profile: unknown_name: there is no profile "cache-awar"; did you mean "cache-aware"? (line 1)`},
		{"memory that is all weights",
			"specialists:\n- name: a\n  hbm: {total: 1GiB, weights: 1GiB, geometry: {layers: 1, kv_heads: 1, " +
				"head_dim: 1}}\n  replicas: [{url: http://h}]",
			"specialists[0].hbm.total: conflict: 1GiB leaves nothing for KV beside weights of 1GiB and a reserve of " +
				"0 (line 3)"},
		{"more attention than layers",
			"specialists:\n- name: a\n  hbm: {total: 1GiB, weights: 1, geometry: {layers: 1, kv_heads: 1, head_dim: " +
				"1, attention_layers: 2}}\n  replicas: [{url: http://h}]",
			"specialists[0].hbm.geometry.attention_layers: conflict: 2 of 1 layers (line 3)"},
		{"a fallback to itself", "specialists: [{name: a, fallback: a, replicas: [{url: http://h}]}]",
			"specialists[0].fallback: cycle: fallbacks lead in a circle: a -> a (line 1)"},
		{"fallbacks in a circle, entered from outside", ring("x>c", "a>b", "b>c", "c>a"),
			"specialists[1].fallback: cycle: fallbacks lead in a circle: a -> b -> c -> a (line 3)"},
		{"two circles", ring("a>b", "b>a", "c>d", "d>c"),
			"specialists[0].fallback: cycle: fallbacks lead in a circle: a -> b -> a (line " +
				"2)\nspecialists[2].fallback: cycle: fallbacks lead in a circle: c -> d -> c (line 4)"},
		{"a fallback to nobody", ring("a>b", "b>zz"),
			`specialists[1].fallback: unknown_name: there is no specialist "zz"; known: a, b (line 3)`},
		{"several at once, in the order of the file", `log: {level: loud}
specialists:
  - name: a
    fallback: b
    replicas:
      - {url: http://h:1, blocks: many}
      - {url: http://h:1}
  - name: b
    fallback: a
    block_sise: 8
limits: {drain: 1}
`, `log.level: bad_value: "loud" is not one of debug, info, warn, error (line 1)
specialists[0].fallback: cycle: fallbacks lead in a circle: a -> b -> a (line 4)
specialists[0].replicas[0].blocks: wrong_type: want a whole number, found text (line 6)
specialists[0].replicas[1].url: duplicate_url: "http://h:1" is taken by specialists[0].replicas[0].url (line 7)
specialists[1].replicas: missing: replicas is required (line 8)
specialists[1].block_sise: unknown_key: there is no key "block_sise" here; did you mean "block_size"? (line 10)
limits.drain: bad_duration: "1" is not a duration with a unit, such as 30s or 5ms (line 11)`},
	} {
		expect(t, row.name, row.text, row.want)
	}
}

// ring writes an ensemble of "name>fallback", one a line from line 2 on.
func ring(pairs ...string) string {
	text := "specialists:\n"
	for i, pair := range pairs {
		name, fallback, _ := strings.Cut(pair, ">")
		text += fmt.Sprintf("- {name: %s, fallback: %s, replicas: [{url: http://h:%d}]}\n", name, fallback, i+1)
	}
	return text
}

func expect(t *testing.T, name, text, want string) {
	t.Helper()
	c, err := Parse("test.yaml", []byte(text), Options{Presets: presets})
	var faults *Faults
	if !errors.As(err, &faults) || c != nil {
		t.Errorf("%s: %v, want %s", name, err, want)
		return
	}
	if got := faults.Error(); got != want {
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
}

// MOD2-27, MOD2-28: so many as the build has slots for.
func TestAGatewayTellsSoManyReplicasApart(t *testing.T) {
	text := "specialists:\n- name: a\n  replicas:\n"
	for i := range MaxReplicas {
		text += fmt.Sprintf("  - {url: http://h:%d}\n", i+1)
	}
	parsed(t, text)
	expect(t, "one more", text+"  - {url: http://h:999}\n  - {url: http://h:998}\n",
		fmt.Sprintf("specialists[0].replicas[%d]: too_many: one gateway can tell %[1]d replicas apart; further ones "+
			"need a gateway of their own (line %d)", MaxReplicas, MaxReplicas+4))
}

// MOD2-27, MOD2-28, MOD2-29: the bound is of all specialists together, and the fault stands where the first is too
// many.
func TestTheBoundOfReplicasIsOfAllSpecialistsTogether(t *testing.T) {
	const each = MaxReplicas / 3
	text, port := "specialists:\n", 1
	add := func(name string, n int) {
		text += "- name: " + name + "\n  replicas:\n"
		for range n {
			text += fmt.Sprintf("  - {url: http://h:%d}\n", port)
			port++
		}
	}
	add("a", each)
	add("b", each)
	add("c", MaxReplicas-2*each)
	parsed(t, text)
	expect(t, "one more", text+"- name: d\n  replicas:\n  - {url: http://h:999}\n",
		fmt.Sprintf("specialists[3].replicas[0]: too_many: one gateway can tell %d replicas apart; further ones "+
			"need a gateway of their own (line %d)", MaxReplicas, MaxReplicas+10))
}

func TestPortsThatAreFreelyChosenNeverClash(t *testing.T) {
	parsed(t, small+"listen: {data: 127.0.0.1:0, admin: 127.0.0.1:0}\nevents: {grpc: {listen: 127.0.0.1:0}}\n")
	parsed(t, small+"listen: {data: 127.0.0.1:80, admin: 127.0.0.2:80}\n")
	parsed(t, small+"listen: {data: 0.0.0.0:80, admin: 0.0.0.0:81}\nadmin: {token: a secret of twenty}\n")
}

// A bomb of aliases, a million faults and a megabyte of nesting cost what a large file costs.
func TestHostileFilesAreBounded(t *testing.T) {
	bomb := "x-a: &a [1,2,3,4,5,6,7,8,9]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("x-%c: &%c [%s]\n", c, c,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	expect(t, "aliases", bomb+small+"profiles: {mine: {pick: {x: {y: *j}}}}",
		".: too_complex: more than 50000 nodes, aliases expanded")
	expect(t, "too large", strings.Repeat(" ", maxFile+1), ".: too_large: more than 1048576 bytes")
	for _, unit := range []string{"[", "{", "- ", "? ", "a: ", "a: b\n", "- a\n", "x: &a [*a,*a]\n", "{a: ["} {
		_, err := Parse("f", []byte(strings.Repeat(unit, (1<<14)/len(unit))), Options{})
		var faults *Faults
		if !errors.As(err, &faults) || len(faults.List) > maxFaults+1 {
			t.Errorf("%q: %T", unit, err)
		}
	}
	expect(t, "a list that holds itself", "specialists: &s [*s]",
		"specialists[0]: wrong_type: want a mapping of keys, found a list (line 1)")
}
