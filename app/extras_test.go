package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"octet/classifier"
	"octet/engine/emulator"
	"octet/gateway/api"
	"octet/gateway/wire"
)

// extras are snippets of several blocks, and an output.
var extras = []string{strings.Repeat("template <class T> struct Box { T t; };\n", 12), `int "x" = '\\';`,
	"ld: undefined x"}

// withExtras is a body of a path that asks q at debug, with the extras as members; byHand has them in its prompt.
func withExtras(path, q string) (members, byHand string) {
	body := func(q string, more map[string]any) string {
		m := map[string]any{"model": "debug", "temperature": 0, "max_tokens": 12, "prompt": q}
		if path == wire.Chat.Path() {
			delete(m, "prompt")
			m["messages"] = []map[string]string{{"role": "system", "content": "be brief"},
				{"role": "user", "content": q},
				{"role": "assistant", "content": "so far"}}
		}
		for name, v := range more {
			m[name] = v
		}
		text, _ := json.Marshal(m)
		return string(text)
	}
	return body(q, map[string]any{"repo_snippets": extras[:2], "tool_outputs": extras[2:]}),
		body(strings.Join(extras, "\n\n")+"\n\n"+q, nil)
}

// said is what an answer in one piece says, and how long the engine says that its prompt was.
func said(t *testing.T, answer []byte) (text string, prompt int) {
	t.Helper()
	var a struct {
		Choices []struct {
			Text    string
			Message struct{ Content string }
		}
		Usage struct {
			PromptTokens int `json:"prompt_tokens"`
		}
	}
	if err := json.Unmarshal(answer, &a); err != nil || len(a.Choices) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	return a.Choices[0].Text + a.Choices[0].Message.Content, a.Usage.PromptTokens
}

// MEGA-01: snippets and tool outputs are part of what the engine reads, and so of the prompt that is counted, hashed
// and believed to be held: an engine that computes its answer from its prompt says what it says to a client that put
// them there, and has all that was predicted when they come again.
func TestSnippetsAndOutputsAreInThePromptOfTheEngine(t *testing.T) {
	for _, path := range []string{wire.Chat.Path(), wire.Completion.Path()} {
		t.Run(path, func(t *testing.T) {
			w := newWorld(t, smallWorld, speaking(emulator.TextTiny))
			members, byHand := withExtras(path, "why does it not link?")
			var bare map[string]any
			_ = json.Unmarshal([]byte(members), &bare)
			delete(bare, "repo_snippets")
			delete(bare, "tool_outputs")
			alone, _ := json.Marshal(bare)
			_, answer := w.Post(path, string(alone))
			without, few := said(t, answer)
			w.heard()
			first, answer := w.Post(path, members)
			text, tokens := said(t, answer)
			if r := w.receipt(first); first.StatusCode != 200 || r.Prompt.Tokens != tokens || tokens < few+100 ||
				text == without {
				t.Errorf("status %d, %d prompt tokens, of the engine %d, without extras %d: %q", first.StatusCode,
					r.Prompt.Tokens, tokens, few, text)
			}
			w.heard()
			for _, body := range []string{members, byHand} {
				again, answer := w.Post(path, body)
				at := w.receipt(again).Attempts[0]
				cached, _ := strconv.Atoi(again.Header.Get("X-Cached-Tokens"))
				if now, n := said(t, answer); now != text || n != tokens {
					t.Errorf("%d prompt tokens: %q, want %d: %q", n, now, tokens, text)
				}
				if at.DeliveredTokens == nil || *at.DeliveredTokens != cached || cached <= few ||
					cached < tokens-32 || at.PredictedTokens > cached || cached-at.PredictedTokens > 16 {
					t.Errorf("of %d tokens %d are predicted, %v delivered, %d told", tokens, at.PredictedTokens,
						at.DeliveredTokens, cached)
				}
				w.heard()
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}

// MEGA-01: no engine is sent the members themselves, and what cannot have them in its prompt is refused by their name.
func TestExtrasThatNoPromptCanHaveAreRefused(t *testing.T) {
	w, engines := kindsWorld(t, "limits.body_bytes=4KiB")
	for path, bodies := range map[string]map[string]string{
		wire.Completion.Path(): {
			`"prompt":[1,2],"repo_snippets":["a"]`:                          "repo_snippets",
			`"prompt":["a","b"],"tool_outputs":["a"]`:                       "tool_outputs",
			`"prompt":[[1],[2]],"tool_outputs":["a"],"repo_snippets":["b"]`: "repo_snippets",
			`"prompt":[1,2],"repo_snippets":[],"tool_outputs":null`:         "",
			`"prompt":["a"],"tool_outputs":["a"]`:                           "",
		},
		wire.Chat.Path(): {
			`"messages":[{"role":"system","content":"x"}],"tool_outputs":["a"]`: "tool_outputs",

			`"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}],"repo_snippets":["a"]`: "",
		},
	} {
		for body, param := range bodies {
			heard := engines["vllm"].asked.Load()
			resp, answer := w.Post(path, `{"model":"vllm",`+body+`}`)
			var e errorBody
			_ = json.Unmarshal(answer, &e)
			reached := engines["vllm"].asked.Load() > heard
			switch {
			case param == "" && (resp.StatusCode != 200 || !reached):
				t.Errorf("%s: status %d: %s", body, resp.StatusCode, answer)
			case param == "" && strings.Contains(*engines["vllm"].body.Load(), "repo_snippets"),
				param == "" && strings.Contains(*engines["vllm"].body.Load(), "tool_outputs"):
				t.Errorf("the engine was sent %s", *engines["vllm"].body.Load())
			case param != "" && (resp.StatusCode != 400 || reached || e.Error.Code != "unsupported_parameter" ||
				e.Error.Param == nil || *e.Error.Param != param):
				t.Errorf("%s: status %d, reached: %t: %s", body, resp.StatusCode, reached, answer)
			}
		}
	}
	near := `{"model":"vllm","messages":[{"role":"user","content":"x"}],"tool_outputs":[` + strings.Repeat(`"a",`,
		1000) +
		`""]}`
	if resp, answer := w.Post(wire.Chat.Path(), near); len(near) > 4096 || resp.StatusCode != 413 {
		t.Errorf("%d bytes: status %d: %s", len(near), resp.StatusCode, answer)
	}
}

// MEGA-01: what an Idempotency-Key was used for has the extras, too.
func TestExtrasAreAPartOfWhatAKeyWasUsedFor(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	members, _ := withExtras(wire.Chat.Path(), "why?")
	other := strings.Replace(members, "ld: undefined x", "ld: undefined y", 1)
	for _, row := range []struct {
		body   string
		status int
	}{{members, 200}, {members, 200}, {other, 409}} {
		if resp, answer := w.Post(wire.Chat.Path(), row.body, "Idempotency-Key", "k"); resp.StatusCode != row.status {
			t.Errorf("status %d, want %d: %s", resp.StatusCode, row.status, answer)
		}
	}
}

// MEGA-01: that snippets are in the prompt changes no decision: it is what the cascade says of the messages, the
// snippets and the outputs as the client sent them.
func TestExtrasDecideAsTheyCame(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "router.stickiness.conversations=0",
		"router.classifier.timeout=10s") // a verdict that comes late would be another one
	dice := rand.New(rand.NewPCG(1, 2))
	texts := []string{"why does it crash?", "Program received signal SIGSEGV\n#0 0x1 in f () at a.cpp:1",
		"std::mutex m;",
		"a.cpp:1:1: error: expected ;", "int main();", "epoll_wait", "be brief", "CMake Error at CMakeLists.txt:3"}
	pick := func(n int) (list []string) {
		for range n {
			list = append(list, texts[dice.IntN(len(texts))])
		}
		return list
	}
	ways := map[string]int{}
	for range 200 {
		m := map[string]any{"repo_snippets": pick(dice.IntN(3)), "tool_outputs": pick(dice.IntN(3)),
			"prompt": pick(1)[0]}
		kind := wire.Kind(dice.IntN(2))
		if kind == wire.Chat {
			delete(m, "prompt")
			m["messages"] = []map[string]string{{"role": "system", "content": pick(1)[0]},
				{"role": "user", "content": pick(1)[0]}, {"role": "assistant", "content": pick(1)[0]}}
		}
		body, _ := json.Marshal(m)
		want, err := w.decided(kind, body)
		if err != nil {
			t.Fatal(err)
		}
		e := w.routed(string(body))
		ways[want.Specialist+" "+want.RoutedBy.String()]++
		if e.Decision.Specialist != want.Specialist || e.Decision.RoutedBy != want.RoutedBy.String() {
			t.Errorf("%s: %s by %s, as it came %s by %s", body, e.Decision.Specialist, e.Decision.RoutedBy,
				want.Specialist, want.RoutedBy)
		}
	}
	if len(ways) < 2 {
		t.Errorf("all are decided alike: %v", ways)
	}
}

// decided is what the cascade says of a body as it came.
func (w *world) decided(kind wire.Kind, body []byte) (v classifier.Verdict, err error) {
	var r wire.Request
	if err := wire.Parse(kind, body, wire.Limits{}, &r); err != nil {
		return v, err
	}
	var in classifier.Input
	for _, turn := range r.Turns(nil) {
		in.Turns = append(in.Turns, classifier.Turn{Role: turn.Role, Text: turn.Text})
	}
	return v, w.App.Server().Runtime().Cascade.Decide(w.T.Context(), &in, &v)
}

// MEGA-01: a stream that goes on at another replica, as the first one's engine has died, goes on with the extras.
func TestAStreamThatGoesOnElsewhereHasItsExtras(t *testing.T) {
	w := newWorld(t, smallWorld, speaking(emulator.TextTiny), "limits.retry_budget=1", "fleet.breaker.failures=100")
	for _, path := range []string{wire.Chat.Path(), wire.Completion.Path()} {
		body, _ := withExtras(path, "and now?")
		body = `{"stream":true,"stream_options":{"include_usage":true},` + body[1:]
		_, whole := w.Post(path, body, "X-Request-Id", "same")
		for _, k := range []int{0, 1, 7} {
			w.heard()
			first := w.routed(body).Replica
			w.Fault(first, fmt.Sprintf(`{"kind":%q,"k":%d,"times":1}`, emulator.DieAfterTokens, k))
			resp, got := w.Post(path, body, "X-Request-Id", "same")
			sameStream(t, string(whole), string(got))
			if r := w.receipt(resp); len(r.Attempts) != 2 || r.Attempts[0].Replica != first {
				t.Errorf("%s, after %d tokens of %s: %s", path, k, first, attempts(r))
			}
		}
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// routed is what /v1/route says of a body.
func (w *world) routed(body string) (e api.Explanation) {
	w.T.Helper()
	resp, answer := w.Post("/v1/route", body)
	if err := json.Unmarshal(answer, &e); err != nil || resp.StatusCode != 200 {
		w.T.Fatalf("%v: status %d: %s", err, resp.StatusCode, answer)
	}
	return e
}

// MEGA-01: a shadow is asked what the request asks, extras included.
func TestAShadowHasTheExtras(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines())
	body := fmt.Sprintf(`{"repo_snippets":[%q],`, extras[0]) + asking("unsure 0.60", false)[1:]
	resp, answer := w.Post(wire.Chat.Path(), body, "X-Intent", "review")
	_, tokens := said(t, answer)
	if resp.StatusCode != 200 || resp.Header.Get("X-Shadow") != "systems" || tokens < 100 {
		t.Fatalf("status %d, shadow %q, %d prompt tokens", resp.StatusCode, resp.Header.Get("X-Shadow"), tokens)
	}
	eventually(t, "the shadow is answered", func() bool {
		return int(w.Engines["systems-0"].Stats().PromptTokens) == tokens
	})
	eventually(t, "ledgers at their baseline", w.Quiet)
}
