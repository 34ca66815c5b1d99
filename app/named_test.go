package app_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"octet/routing/belief"
	"octet/routing/events/enginehash"
	"octet/routing/events/zmqstream"
)

// namedPair is a pair of engines that hash as a vLLM does and keep their tokens to themselves, and a tenant with caches
// of its own.
//
//nolint:lll // raw text that cannot be broken
const namedPair = `
auth: {anonymous: true, tenants: [{name: acme, key_sha256: afacab3575137afa4e00d9cbcafcb14c9ae25f779d964eb0ea5b2c4eb5dfd163, cache_salt: s4lt}]}
events: {trust_for: 1s, approximate: {ttl: 0s, predict_ttl: 0s}}
fleet: {probe_interval: 50ms}
specialists:
  - name: debug
    tokenizer: builtin
    context: 4096
    profile: cache-aware
    hash_scheme: %s
    hash_seed: "%s"
    adapters: [{name: gdb-v2}]
    replicas:
      - {url: "%%s", blocks: 512%s}
      - {url: "%%s", blocks: 512%s}
`

// newNamedWorld has engines of one scheme and seed before a gateway that was told of maybe another.
func newNamedWorld(t *testing.T, scheme, seed, told, toldSeed string, layout zmqstream.Layout) *world {
	t.Helper()
	namer, err := enginehash.New(scheme, seed)
	if err != nil {
		t.Fatal(err)
	}
	engines := pairOf()
	keys := make([]any, len(engines))
	for i := range engines {
		p, err := zmqstream.NewPublisher(zmqstream.PublisherConfig{Endpoint: "tcp://127.0.0.1:0",
			Replay: "tcp://127.0.0.1:0", Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		engines[i].Publisher, engines[i].Namer, engines[i].Tokenless, engines[i].Adapters = p, namer, true,
			[]string{"gdb-v2"}
		keys[i] = fmt.Sprintf(`, engine: %s, events: {zmq: "tcp://%s", replay: "tcp://%s"}`,
			map[bool]string{true: "sglang", false: "vllm"}[told == "sglang"], p.Addr(), p.ReplayAddr())
	}
	return newWiredWorld(t, fmt.Sprintf(namedPair, append([]any{told, toldSeed}, keys...)...), engines)
}

// saved asks and returns how many of the prompt's tokens were predicted to be cached, and how many the engine says
// were.
func (w *world) saved(body string, headers ...string) (predicted, really int, replica string) {
	w.T.Helper()
	resp, answer := w.Post("/v1/chat/completions", body, headers...)
	var a struct {
		Usage struct {
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if err := json.Unmarshal(answer, &a); err != nil || resp.StatusCode != 200 {
		w.T.Fatalf("status %d, %v: %s", resp.StatusCode, err, answer)
	}
	predicted, _ = strconv.Atoi(resp.Header.Get("X-Cached-Tokens"))
	return predicted, a.Usage.Details.Cached, resp.Header.Get("X-Replica")
}

// known says how many blocks a prompt has, and how many of them the index has of the replica that has most.
func (w *world) known(body string, headers ...string) (blocks, best int) {
	w.T.Helper()
	var route struct {
		Prompt  struct{ Blocks int }
		Routing struct{ Hit struct{ Best int } }
	}
	_, answer := w.Post("/v1/route", body, headers...)
	if err := json.Unmarshal(answer, &route); err != nil || route.Prompt.Blocks == 0 {
		w.T.Fatalf("%v: %s", err, answer)
	}
	return route.Prompt.Blocks, route.Routing.Hit.Best / 16
}

// Engines that name blocks by their own hashes and tell no tokens are routed to as exactly as those that tell them: the
// engine with the longest beginning of a prompt gets it, base model, adapters and tenants apart, and it is known how
// much is cached there. MOD2-39, DYN-10, GAIE-24
func TestPromptsAreHashedAsTheirEnginesDo(t *testing.T) {
	for _, scheme := range []string{"sha256_cbor", "sha256", "xxhash_cbor"} {
		t.Run(scheme, func(t *testing.T) {
			w := newNamedWorld(t, scheme, "42", scheme, "42", zmqstream.Maps)
			text := strings.Repeat("a segfault in the parser and again ", 30)
			body := `{"model":"debug","max_tokens":20,"messages":[{"role":"user","content":"` + text + `"}]}`
			longer := strings.Replace(body, `"}]}`, `more of it, at length"}]}`, 1)
			for i, headers := range [][]string{nil, {"X-Adapter", "gdb-v2"}, {"Authorization", "Bearer acme-key"}} {
				if _, best := w.known(body, headers...); best != 0 {
					t.Errorf("%v: new, and %d blocks are known", headers, best)
				}
				_, really, first := w.saved(body, headers...)
				w.exact()
				if blocks, best := w.known(body, headers...); best != blocks || really != 0 {
					t.Errorf("%v: %d of %d blocks are known; %d tokens were cached", headers, best, blocks, really)
				}
				blocks, shared := w.known(longer, headers...)
				predicted, really, replica := w.saved(longer, headers...)
				w.exact()
				if _, best := w.known(longer, headers...); shared == 0 || shared*16 != really || predicted != really ||
					best != blocks || replica != first {
					t.Errorf(
						"%v: at %s, not %s, %d tokens were cached and %d predicted; of %d blocks %d were known, and "+
							"then %d", headers, replica, first, really, predicted, blocks, shared, best)
				}
				if st := w.App.Fabric().Feed().Stats(); st.Orphans+st.Unmappable+st.Conflicts > 0 {
					t.Errorf("after %d: %+v", i, st)
				}
			}
		})
	}
}

// MOD2-39: where events carry no tokens, an engine of another hash seed is found out by what it does not store of what
// was routed to it. It is scored by what was routed there then, and the reason is shown. An engine of the same seed
// never is.
func TestAnotherSeedIsFoundOutByNamesAlone(t *testing.T) {
	for seed, misfit := range map[string]bool{"43": true, "42": false} {
		t.Run(seed, func(t *testing.T) {
			w := newNamedWorld(t, "sha256_cbor", seed, "sha256_cbor", "42", zmqstream.Maps)
			asked := 0
			wrong := func() (found bool) {
				w.saved(lengthy(fmt.Sprintf("trouble number %d", asked)))
				asked++
				var seen struct {
					Replicas map[string]struct{ Trust, Misfit string }
				}
				w.Get(w.Admin+"/admin/index", &seen)
				for name, r := range seen.Replicas {
					if r.Misfit != "" && !strings.Contains(r.Misfit, "hash_seed") {
						t.Errorf("%s: %+v", name, r)
					}
					found = found || r.Misfit != "" && r.Trust != belief.Exact
				}
				return found
			}
			if misfit {
				eventually(t, "it is found out", wrong)
				return
			}
			for end := time.Now().Add(4 * time.Second); time.Now().Before(end); {
				if wrong() {
					t.Fatal("it is of the same seed")
				}
			}
		})
	}
}

// What a gateway makes of names that another scheme or seed made is nothing: no prompt finds them.
func TestNamesOfAnotherSeedAreNobodysCache(t *testing.T) {
	w := newNamedWorld(t, "sha256_cbor", "42", "sha256_cbor", "43", zmqstream.Arrays)
	for range 3 {
		w.saved(lengthy("a double free"))
		w.exact()
		if _, best := w.known(lengthy("a double free")); best != 0 {
			t.Errorf("%d blocks are taken to be there", best)
		}
	}
}

// A gateway that starts anew knows what engines hold that it never routed to, as their replay tells it.
func TestANewGatewayKnowsWhatItNeverRouted(t *testing.T) {
	w := newNamedWorld(t, "sha256_cbor", "42", "sha256_cbor", "42", zmqstream.Arrays)
	_, _, first := w.saved(lengthy("a stack overflow"))
	w.exact()
	later := &world{w.Another(w.App.Config())}
	later.exact()
	if predicted, really, replica := later.saved(lengthy("a stack overflow")); predicted == 0 || predicted < really ||
		replica != first {
		t.Errorf("%d predicted and %d cached at %s, want them at %s", predicted, really, replica, first)
	}
}

// SGLang's way, where it is unknown what an adapter makes of it: then nothing is predicted.
func TestWhatNobodyKnowsHowToHashIsNotPredicted(t *testing.T) {
	w := newNamedWorld(t, "sglang", "", "sglang", "", zmqstream.Arrays)
	w.saved(lengthy("a data race"))
	w.exact()
	if predicted, really, _ := w.saved(lengthy("a data race")); predicted == 0 || predicted < really {
		t.Errorf("%d predicted, %d cached", predicted, really)
	}
	for range 2 {
		w.saved(lengthy("a data race"), "X-Adapter", "gdb-v2")
		if _, best := w.known(lengthy("a data race"), "X-Adapter", "gdb-v2"); best != 0 {
			t.Errorf("under an adapter %d blocks are known", best)
		}
	}
}

// An engine whose block size is another one is found out, and scored by what was routed there. MOD2-39
func TestABlockSizeThatIsNotTheEnginesIsFoundOut(t *testing.T) {
	a, keysA := zmqEngine(t)
	b, keysB := zmqEngine(t)
	engines := pairOf(a, b)
	for i := range engines {
		engines[i].BlockSize = 8
	}
	w := newWiredWorld(t, fmt.Sprintf(pair, keysA, keysB), engines)
	eventually(t, "one is found out", func() bool {
		w.saved(lengthy("a dangling reference"))
		for host := range w.App.Fabric().Beliefs().Guessed().All() {
			if w.App.Fabric().Trust(host) == belief.Approximate {
				return true
			}
		}
		return false
	})
	if _, best := w.known(lengthy("a dangling reference")); best == 0 {
		t.Error("nothing is guessed of what was routed there")
	}
}
