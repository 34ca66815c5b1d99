package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/gateway/api"
	"octet/routing/fleet"
)

const wideWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 2s, idle_timeout: 20s, ttft_timeout: 20s, drain: 5s}
fleet: {probe_interval: 1h} # what an engine said before a request ended would be held for another gateway's
specialists:
  - name: debug
    tokenizer: %s
    context: 32768
    scheduler: {max_running: 256}
    replicas: [{url: "%%s", blocks: 20000}]
`

// wide is a world of one engine that is slow enough to be looked at.
func wide(t *testing.T, tokenizer string, sets ...string) *world {
	engine := emulator.Config{Name: "debug-0", Model: "debug", Blocks: 20000, MaxRunning: 256,
		Step: 200 * time.Millisecond, PrefillTPS: 1e6}
	return newWorld(t, fmt.Sprintf(wideWorld, tokenizer), []emulator.Config{engine}, sets...)
}

// ids writes n token ids from first on.
func ids(first, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(first + i)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// lists writes prompts of token ids that have shared ids in common and then n of their own.
func lists(prompts, shared, n int) string {
	all := make([]string, prompts)
	for i := range all {
		own := strings.TrimPrefix(ids(1000+i*n, n), "[")
		if shared > 0 {
			own = strings.TrimSuffix(strings.TrimPrefix(ids(0, shared), "["), "]") + "," + own
		}
		all[i] = "[" + own
	}
	return "[" + strings.Join(all, ",") + "]"
}

func (w *world) held() int {
	var all []api.SpecialistState
	w.Get(w.Admin+"/admin/state", &struct {
		Specialists *[]api.SpecialistState `json:"specialists"`
	}{&all})
	if len(all) == 0 {
		w.T.Fatal("no state")
	}
	return all[0].Used + all[0].Reserved
}

// Whatever a body asks for several times over holds the blocks of all of it at the Gate: counted before by one
// sequence of no tokens.
func TestSequencesHoldTheirBlocksFromTheBodyToThePool(t *testing.T) {
	for _, tokenizer := range []string{"builtin", "none"} {
		w := wide(t, tokenizer)
		for _, c := range []struct {
			name, body string
			want       int // blocks of 16 tokens
		}{
			{"token ids", `"prompt":` + ids(0, 1000), 63},
			{"five answers to token ids", `"n":5,"prompt":` + ids(0, 1000), 62 + 5},
			{"128 answers to token ids", `"n":128,"prompt":` + ids(5000, 600), 37 + 128},
			{"the best of 40", `"best_of":40,"n":1,"prompt":` + ids(7000, 600), 37 + 40},
			{"100 prompts of 1,000 ids", `"prompt":` + lists(100, 0, 1000), 100 * 63},
			{"100 prompts that begin alike", `"prompt":` + lists(100, 960, 40), 60 + 100*3},
			{"two answers to 50 prompts that begin alike", `"n":2,"prompt":` + lists(50, 960, 40), 60 + 50*2 + 2*50},
		} {
			t.Run(tokenizer+"/"+c.name, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				resp := w.Ask(ctx, "/v1/completions", `{"model":"debug","stream":true,"max_tokens":400,`+c.body+`}`)
				if resp.StatusCode != 200 {
					t.Fatalf("status %d", resp.StatusCode)
				}
				if n := w.held(); n < c.want || n > c.want+c.want/4 { // the answers grow meanwhile
					t.Errorf("%d blocks are held, want %d and little more", n, c.want)
				}
				leave()
				eventually(t, "ledgers at their baseline", w.Quiet)
			})
		}
	}
}

// The answers that one request asks for are all this gateway's, whatever of them an engine counts as requests.
func TestAnswersOfOneRequestAreNoOtherGatewaysLoad(t *testing.T) {
	w := wide(t, "builtin", "fleet.probe_interval=20ms")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	resp := w.Ask(ctx, "/v1/completions", `{"model":"debug","stream":true,"max_tokens":400,"n":40,"prompt":[1,2,3]}`)
	if resp.StatusCode != 200 {
		t.Fatalf("status %d", resp.StatusCode)
	}
	rep := w.Replica("debug-0")
	var told *fleet.Reported
	eventually(t, "the engine tells of forty", func() bool {
		told = rep.Fleet.Reported()
		return told.Running == 40
	})
	if told.Others != 0 {
		t.Errorf("%d of them are taken for another gateway's", told.Others)
	}
	if c := rep.Gate.Calibration(); c.Withheld > 1 {
		t.Errorf("%d blocks are withheld", c.Withheld)
	}
}

func TestWhatAllSequencesNeedBoundsARequest(t *testing.T) {
	w := wide(t, "builtin", "specialists[0].replicas[0].blocks=512")
	for _, c := range []struct{ body, code string }{
		{`"n":1,"max_tokens":4,"prompt":` + ids(0, 100), ""},
		{`"n":128,"max_tokens":4000,"prompt":` + ids(0, 100), "request_exceeds_pool"},
		{`"max_tokens":4,"prompt":` + lists(100, 0, 1000), "request_exceeds_pool"},
		{`"max_tokens":4,"prompt":` + ids(0, 9000), "request_exceeds_pool"},
		{`"max_tokens":4,"prompt":[[1],` + ids(0, 32768) + `]`, "context_length_exceeded"},
		{`"n":129,"max_tokens":4,"prompt":[1]`, "invalid_value"},
		{`"max_tokens":4,"prompt":[` + strings.Repeat("[1],", 1024) + `[1]]`, "invalid_value"},
	} {
		resp, answer := w.Post("/v1/completions", `{"model":"debug",`+c.body+`}`)
		var said errorBody
		if err := json.Unmarshal(answer, &said); err != nil {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
		if said.Error.Code != c.code {
			t.Errorf("%.40s…: %q, want %q (%.200s)", c.body, said.Error.Code, c.code, answer)
		}
	}
}

// A prompt that comes as token ids meets what its engine has published of the same ids, without a tokenizer.
func TestTokenIdsMeetTheEnginesEvents(t *testing.T) {
	for _, tokenizer := range []string{"builtin", "none"} {
		w := wide(t, tokenizer)
		ask := func(prompt string) string {
			resp, answer := w.Post("/v1/completions", `{"model":"debug","max_tokens":2,"prompt":`+prompt+`}`)
			if resp.StatusCode != 200 {
				t.Fatalf("status %d: %s", resp.StatusCode, answer)
			}
			return resp.Header.Get("X-Cached-Tokens")
		}
		if first := ask(ids(0, 1000)); first != "0" {
			t.Errorf("%s: %q tokens of a new prompt are cached", tokenizer, first)
		}
		eventually(t, "the events", func() bool { return ask(ids(0, 1000)) == "992" })
		if other := ask(ids(1, 1000)); other != "0" {
			t.Errorf("%s: %q tokens of other ids are cached", tokenizer, other)
		}
		if list := ask("[" + ids(0, 1000) + "," + ids(0, 500) + "]"); list != "992" {
			t.Errorf("%s: %q tokens of a list's first prompt are cached", tokenizer, list)
		}
	}
}

// A tenant's token rate is charged for all prompts and all answers: by the engine's usage, once it is known. What a
// balance is shows in how long the next request has to wait.
func TestATokenRateCountsWhatTheEngineCounted(t *testing.T) {
	auth := []string{"Authorization", "Bearer " + key}
	for name, c := range map[string]struct {
		body string
		cost int // tokens
	}{
		"one answer":           {`"max_tokens":8,"prompt":` + ids(0, 1000), 1008},
		"sixteen answers":      {`"max_tokens":8,"n":16,"prompt":` + ids(0, 1000), 1000 + 16*8},
		"streamed":             {`"stream":true,"max_tokens":8,"n":16,"prompt":` + ids(0, 1000), 1000 + 16*8},
		"twenty prompts":       {`"max_tokens":8,"prompt":` + lists(20, 0, 1000), 20 * 1008},
		"more than the engine": {`"max_tokens":8,"n":128,"prompt":` + lists(1000, 0, 1000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := wide(t, "builtin", tenants("auth.tenants[0].rate.tokens_per_minute=600")...)
			w.Post("/v1/completions", `{"model":"debug",`+c.body+`}`, auth...)
			eventually(t, "ledgers at their baseline", w.Quiet)
			resp, answer := w.Post("/v1/completions", `{"model":"debug","max_tokens":1,"prompt":[1]}`, auth...)
			if c.cost == 0 {
				if resp.StatusCode != 200 {
					t.Errorf("a request that was refused was charged: %s", answer)
				}
				return
			}
			wait, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
			if want := (c.cost + 1 - 600) / 10; resp.StatusCode != 429 || wait > want+1 || wait < want-15 {
				// a slow machine's clock runs on
				t.Errorf("status %d, Retry-After %d s, want 429 and about %d s: %s", resp.StatusCode, wait, want,
					answer)
			}
		})
	}
}

// Each answer to a request takes a place of its own at the Gate: a replica that runs three sequences at once runs one
// request for two answers at a time, whether or not they call tools.
func TestEachOfSeveralAnswersTakesAPlace(t *testing.T) {
	w := newWorld(t, smallWorld, toolEngines(8*time.Millisecond), "specialists[1].scheduler.max_running=3",
		"limits.max_queue_wait=20s", "limits.idle_timeout=20s")
	for _, i := range []int{0, 3} {
		body := strings.Replace(toldAt(chatPath, "systems", i), "{", `{"n":2,`, 1)
		w.Fault("systems-0", `{"kind":"slow","times":1}`) // it is still answered when the second one is here
		first := w.Ask(t.Context(), chatPath, body)
		until(t, first.Body, `"delta"`)
		second := make(chan int, 1)
		go func() {
			resp, _ := w.Post(chatPath, body)
			second <- resp.StatusCode
		}()
		eventually(t, "the second one waits, or is over", func() bool {
			return w.gate("systems-0").Stats().Waiting == 1 || len(second) > 0
		})
		if len(second) > 0 {
			t.Error("two requests for two answers ran side by side")
		}
		rest, err := io.ReadAll(first.Body)
		if status := <-second; err != nil || status != 200 || !strings.Contains(string(rest), "[DONE]") {
			t.Errorf("%v, status %d", err, status)
		}
		eventually(t, "ledgers at their baseline", w.Quiet)
	}
}
