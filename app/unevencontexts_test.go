package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// uneven is a specialist of two replicas, of which the first takes 256 tokens and the second 4096.
const uneven = `
auth:
  anonymous: true
  tenants:
    - {name: pilot, key_sha256: 07ae38b93d8054d84aac37039c71ad114a8685a3857084d568f260ce69f0737f, may_direct: true}
fleet: {probe_interval: 1s}
specialists:
  - name: debug
    tokenizer: %s
    profile: %s
    replicas:
      - {name: debug-0, url: "http://debug-0", engine: vllm, blocks: 512}
      - {name: debug-1, url: "http://debug-1", engine: vllm, blocks: 512}
`

func unevenWorld(t *testing.T, tokenizer, profile string) *bubble {
	engines := awake("debug-0", "debug-1")
	engines[0].MaxModelLen, engines[1].MaxModelLen = 256, 4096
	b := newBubble(t, engines)
	b.Serve(fmt.Sprintf(uneven, tokenizer, profile))
	time.Sleep(3 * time.Second)
	return b
}

// A request that is longer than the context of one replica is answered by one whose context is longer: it is not sent
// to the former where its tokens are counted, and goes on from there where they are estimated. Either way it is none of
// the budget of retries, and one that fits is answered by both.
func TestAReplicaWithALongerContextAnswers(t *testing.T) {
	for _, tokenizer := range []string{"builtin", "none"} {
		for _, profile := range []string{"cache-aware", "round-robin"} {
			for _, path := range []string{"/v1/chat/completions", "/v1/messages"} {
				for _, stream := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s%s/stream=%t", tokenizer, profile, path, stream), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							longAndShort(t, unevenWorld(t, tokenizer, profile), path, stream)
						})
					})
				}
			}
		}
	}
}

func longAndShort(t *testing.T, b *bubble, path string, stream bool) {
	for i := range 20 {
		for _, words := range []int{400, 4, 4} { // three: taking turns, both are asked for either
			got := b.reply(path, chat("debug", 8, stream, fmt.Sprint(i, strings.Repeat(" word", words))))
			if got.status != http.StatusOK || strings.Contains(got.text, `"error"`) {
				t.Fatalf("%d words, the %dth: %d %s", words, i, got.status, got.text)
			}
		}
	}
	for name, least := range map[string]uint64{"debug-0": 1, "debug-1": 20} {
		if n := b.Engines[name].Stats().Finished; n < least {
			t.Errorf("%s has answered %d", name, n)
		}
	}
}

// What no replica can take is the client's fault; what only the one that is gone can take is not; and a replica that
// the client names is asked whatever the others take.
func TestWhatNoReplicaCanTakeIsRefused(t *testing.T) {
	for _, tokenizer := range []string{"builtin", "none"} {
		t.Run(tokenizer, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := unevenWorld(t, tokenizer, "round-robin")
				const path = "/v1/chat/completions"
				for range 4 {
					got := b.reply(path, chat("debug", 8, false, strings.Repeat(" word", 5000)))
					if got.status != http.StatusBadRequest || !strings.Contains(got.text, "context_length_exceeded") {
						t.Fatalf("longer than both: %d %s", got.status, got.text)
					}
				}
				long := chat("debug", 8, false, strings.Repeat(" word", 400))
				got := b.reply(path, long, "X-Octet-Replica", "debug-0", "Authorization", "Bearer pilot")
				if got.status != http.StatusBadRequest || !strings.Contains(got.text, "context_length_exceeded") {
					t.Fatalf("at the shorter one by name: %d %s", got.status, got.text)
				}
				b.post("http://admin/admin/drain/debug-1", "")
				time.Sleep(time.Second)
				want := map[string]int{"builtin": http.StatusServiceUnavailable, "none": http.StatusBadRequest}
				if got = b.reply(path, long); got.status != want[tokenizer] {
					t.Fatalf("the longer one is gone: %d %s", got.status, got.text)
				}
			})
		})
	}
}
