package emulator_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
)

//nolint:lll // raw text that cannot be broken
const wantsDecode = `{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}`

// prefill asks this engine to compute a prompt for another, and returns what that one is to be sent.
func (r *rig) prefill(t *testing.T, prompt string) string {
	t.Helper()
	first := r.whole("/v1/completions", "pd",
		fmt.Sprintf(`{"prompt":%q,"max_tokens":1,"kv_transfer_params":%s}`, prompt, wantsDecode))
	params, err := json.Marshal(first.Transfer)
	if err != nil || !isTrue(first.Transfer["do_remote_prefill"]) {
		t.Fatalf("%v %+v", err, first.Transfer)
	}
	return string(params)
}

// A decode engine says what one engine says alone, from keys and values that it did not compute.
//
//nolint:lll // raw text that cannot be broken
func TestTheDecodeEngineGoesOnFromTheKeysOfThePrefillEngine(t *testing.T) {
	prompt := strings.Repeat("int main() {", 6)
	for _, draft := range []int{0, 3} {
		c := think(draft, false)
		prefill, decode := start(t, c), start(t, c)
		want := alone(c, emulator.Vocabulary(), "", prompt, 40)
		for range 2 { // cold, then beside a prefix that is cached there
			params := prefill.prefill(t, prompt)
			body := fmt.Sprintf(
				`{"prompt":%q,"max_tokens":40,"stream":true,"stream_options":{"include_usage":true},"kv_transfer_params":%s}`, prompt, params)
			chunks := decode.stream("/v1/completions", "pd", body)
			if got := texts(chunks)[0]; got != want {
				t.Errorf("draft %d: %q, alone %q", draft, got, want)
			}
			u := chunks[len(chunks)-1].Usage
			if u == nil || u.Details.CachedTokens != (u.PromptTokens-1)/4*4 {
				t.Errorf("usage %+v", u)
			}
		}
		prefill.quiet()
		decode.quiet()
		if s := prefill.e.State(); s.Exported != 0 {
			t.Errorf("%d blocks are kept after they were fetched", s.Exported)
		}
	}
}

// What cannot be fetched fails the request, before anything of an answer.
func TestBlocksThatCannotBeFetchedFailTheRequest(t *testing.T) {
	c := think(0, false)
	prefill, decode := start(t, c), start(t, c)
	params := prefill.prefill(t, "a b c d e f g h")
	unknown := strings.Replace(params, "pd-1", "pd-99", 1)
	port := strings.TrimPrefix(prefill.url, "http://127.0.0.1:")
	for name, body := range map[string]string{
		"unknown": fmt.Sprintf(`{"prompt":"a b c d e f g h","kv_transfer_params":%s}`, unknown),
		"nobody there": fmt.Sprintf(`{"prompt":"a b c d e f g h","kv_transfer_params":%s}`,
			strings.Replace(params, port, "1", 1)),
		"another prompt": fmt.Sprintf(`{"prompt":"a b c d e f g i","kv_transfer_params":%s}`, params),
		"fetched before": fmt.Sprintf(`{"prompt":"a b c d e f g h","kv_transfer_params":%s}`, params),
	} {
		if name == "fetched before" {
			decode.ask("/v1/completions", "x", body)
		}
		status, text := decode.ask("/v1/completions", "x", strings.Replace(body, "{", `{"stream":true,`, 1))
		if status != 500 || !strings.Contains(text, "KVTransferError") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	decode.quiet()
}

func TestALeaseEnds(t *testing.T) {
	c := think(0, false)
	c.KVLease = 20 * time.Millisecond
	prefill, decode := start(t, c), start(t, c)
	params := prefill.prefill(t, "a b c d e f g h")
	prefill.eventually("the lease ends", func() bool { return prefill.e.State().Exported == 0 })
	if status, text := decode.ask("/v1/completions", "x",
		`{"prompt":"a b c d e f g h","kv_transfer_params":`+params+`}`); status != 500 {
		t.Errorf("%d %s", status, text)
	}
}

// Two engines that meet, as SGLang's do: the same request goes to both, in any order.
func TestTwoEnginesMeetInARoom(t *testing.T) {
	p, d := think(0, false), think(0, false)
	p.Mode, d.Mode = emulator.ModePrefill, emulator.ModeDecode
	prefill, decode := start(t, p), start(t, d)
	prompt := strings.Repeat("int main() {", 6)
	want := alone(p, emulator.Vocabulary(), "", prompt, 40)
	port := strings.TrimPrefix(prefill.url, "http://127.0.0.1:")
	for room, first := range []string{"prefill", "decode"} {
		body := fmt.Sprintf(
			`{"prompt":%q,"max_tokens":40,"bootstrap_host":"127.0.0.1","bootstrap_port":%s,"bootstrap_room":%d}`,
			prompt, port, room)
		said := make(chan string)
		go func() {
			if first == "decode" {
				time.Sleep(20 * time.Millisecond) // real time: the other side asks first
			}
			said <- prefill.whole("/v1/completions", "sg", body).Choices[0].Text
		}()
		if first == "prefill" {
			prefill.eventually("the prompt waits in its room", func() bool { return prefill.e.State().Exported > 0 })
		}
		if got := decode.whole("/v1/completions", "sg", body).Choices[0].Text; got != want {
			t.Errorf("%s first: %q, alone %q", first, got, want)
		}
		if got := <-said; !strings.HasPrefix(want, got) || got == "" {
			t.Errorf("the prefill's token is %q", got)
		}
	}
	if status, text := decode.ask("/v1/completions", "sg", `{"prompt":"p"}`); status != 400 ||
		!strings.Contains(text, "bootstrap room") {
		t.Errorf("without a room: %d %s", status, text)
	}
	prefill.quiet()
	decode.quiet()
}

// Each prompt of a list has a room: those that are listed, or those that follow the one that is named.
func TestTwoEnginesMeetForEachPromptOfAList(t *testing.T) {
	p, d := think(0, false), think(0, false)
	p.Mode, d.Mode = emulator.ModePrefill, emulator.ModeDecode
	prefill, decode := start(t, p), start(t, d)
	port := strings.TrimPrefix(prefill.url, "http://127.0.0.1:")
	first, second := strings.Repeat("int main() {", 6), strings.Repeat("for (;;) ", 5)
	for _, at := range []string{
		fmt.Sprintf(`"bootstrap_host":"127.0.0.1","bootstrap_port":%s,"bootstrap_room":70`, port),
		fmt.Sprintf(`"bootstrap_host":["127.0.0.1","127.0.0.1"],"bootstrap_port":[%s,%s],"bootstrap_room":[9,4]`, port,
			port),
	} {
		body := fmt.Sprintf(`{"prompt":[%q,%q],"max_tokens":20,%s}`, first, second, at)
		said := make(chan int)
		go func() {
			status, _ := prefill.ask("/v1/completions", "sg", body)
			said <- status
		}()
		got := decode.whole("/v1/completions", "sg", body)
		for i, prompt := range []string{first, second} {
			if want := alone(p, emulator.Vocabulary(), "", prompt, 20); got.Choices[i].Text != want {
				t.Errorf("%s: prompt %d: %q, alone %q", at, i, got.Choices[i].Text, want)
			}
		}
		if status := <-said; status != 200 {
			t.Errorf("%s: the prefill's status is %d", at, status)
		}
	}
	if status, text := decode.ask("/v1/completions", "sg",
		`{"prompt":["p","q"],"bootstrap_room":[1]}`); status != 400 || !strings.Contains(text, "rooms") {
		t.Errorf("too few rooms: %d %s", status, text)
	}
	prefill.quiet()
	decode.quiet()
}

// An engine keeps no more for others than its pool is large; beyond it, it answers without.
func TestExportsAreBounded(t *testing.T) {
	prefill := start(t, fast())
	body := fmt.Sprintf(`{"prompt":%q,"max_tokens":1,"kv_transfer_params":%s}`, strings.Repeat("w ", 70), wantsDecode)
	for i := range 5 {
		kept := prefill.whole("/v1/completions", "pd", body).Transfer != nil
		if kept != (i < 3) { // of 18 blocks each, in a pool of 64
			t.Errorf("request %d: kept %v", i, kept)
		}
	}
	prefill.quiet()
}

func isTrue(v any) bool { b, ok := v.(bool); return ok && b }
