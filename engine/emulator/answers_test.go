package emulator_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestUnaryAndStreamedAnswersAreTheSameText(t *testing.T) {
	for _, mode := range []string{"index", "prose"} {
		c := fast()
		c.Text, c.Blocks = mode, 512
		r := start(t, c)
		for path, body := range map[string]string{
			"/v1/chat/completions": `{"model":"debug","max_tokens":30,"messages":[{"role":"user","content":"why?"}]%s}`,
			"/v1/completions":      `{"model":"debug","max_tokens":30,"prompt":"why?"%s}`,
		} {
			unary := r.whole(path, "req-1", fmt.Sprintf(body, ""))
			chunks := r.stream(path, "req-1", fmt.Sprintf(body, `,"stream":true`))
			text := unary.Choices[0].Text + unary.Choices[0].Message.Content
			if got := texts(chunks)[0]; got != text || text == "" {
				t.Errorf("%s %s: streamed %q, unary %q", mode, path, got, text)
			}
			if mode == "index" && text != marks("req-1", 0, 30) {
				t.Errorf("%s: %q", path, text)
			}
			if *unary.Choices[0].FinishReason != "length" || unary.Usage.CompletionTokens != 30 {
				t.Errorf("%s: %+v", path, unary)
			}
			if unary.ID != chunks[0].ID || !strings.HasSuffix(unary.ID, "cmpl-req-1") {
				t.Errorf("%s: ids %q and %q", path, unary.ID, chunks[0].ID)
			}
		}
	}
}

func TestProseEndsByItself(t *testing.T) {
	c := fast()
	c.Text, c.Blocks = "prose", 512
	got := start(t, c).whole("/v1/chat/completions", "",
		`{"model":"debug","messages":[{"role":"user","content":"who frees conn_state?"}]}`)
	if u := got.Usage.CompletionTokens; *got.Choices[0].FinishReason != "stop" || u < 40 || u > 160 {
		t.Errorf("%d tokens, then %s", u, *got.Choices[0].FinishReason)
	}
	if !strings.Contains(got.Choices[0].Message.Content, "conn_state") {
		t.Errorf("not about conn_state: %q", got.Choices[0].Message.Content)
	}
}

//nolint:lll // raw text that cannot be broken
func TestAStreamHasTheShapeOfTheEngineItStandsFor(t *testing.T) {
	chunks := start(t, fast()).stream("/v1/chat/completions", "a", `{"model":"debug","max_completion_tokens":2,"max_tokens":9,"stream":true,
		"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`)
	if len(chunks) != 4 {
		t.Fatalf("%d chunks: %+v", len(chunks), chunks)
	}
	if d := chunks[0].Choices[0].Delta; d.Role != "assistant" || d.Content != "" {
		t.Errorf("first chunk %+v", d)
	}
	if c := chunks[1].Choices[0]; c.Delta.Content != "⟦a:0⟧" || c.FinishReason != nil {
		t.Errorf("second chunk %+v", c)
	}
	if c := chunks[2].Choices[0]; c.Delta.Content != "⟦a:1⟧" || c.FinishReason == nil ||
		*c.FinishReason != "length" {
		t.Errorf("third chunk %+v", c)
	}
	if c := chunks[3]; len(c.Choices) != 0 || c.Usage == nil || c.Usage.CompletionTokens != 2 ||
		c.Usage.TotalTokens != c.Usage.PromptTokens+2 {
		t.Errorf("usage chunk %+v", c)
	}
	for _, c := range chunks {
		if c.Object != "chat.completion.chunk" || c.Model != "debug" || c.ID != "chatcmpl-a" {
			t.Errorf("%+v", c)
		}
	}
}

func TestEveryChoiceOfEveryPromptIsAnswered(t *testing.T) {
	r := start(t, fast())
	body := `{"model":"debug","max_tokens":3,"n":2,"prompt":["one","two two"]%s}`
	unary := r.whole("/v1/completions", "x", fmt.Sprintf(body, ""))
	streamed := texts(r.stream("/v1/completions", "x", fmt.Sprintf(body, `,"stream":true`)))
	if len(unary.Choices) != 4 || len(streamed) != 4 {
		t.Fatalf("%d and %d choices", len(unary.Choices), len(streamed))
	}
	for i, c := range unary.Choices {
		if c.Index != i || c.Text != marks("x", 0, 3) || streamed[i] != c.Text {
			t.Errorf("choice %d: %q, streamed %q", i, c.Text, streamed[i])
		}
	}
	if u := unary.Usage; u.PromptTokens != 3 || u.CompletionTokens != 12 {
		t.Errorf("usage %+v", u)
	}
	r.quiet()
}

func TestTokenIdsAreAPromptLikeTheirText(t *testing.T) {
	r := start(t, fast())
	text := "int main() { return 0; } // and some more"
	_, tokenized := r.ask("/tokenize", "", fmt.Sprintf(`{"model":"debug","prompt":%q}`, text))
	ids := tokenized[strings.Index(tokenized, "["):][:strings.Index(tokenized, "]")-strings.Index(tokenized, "[")+1]
	first := r.whole("/v1/completions", "", fmt.Sprintf(`{"model":"debug","max_tokens":1,"prompt":%q}`, text))
	for _, prompt := range []string{ids, "[" + ids + "]"} {
		again := r.whole("/v1/completions", "", fmt.Sprintf(`{"model":"debug","max_tokens":1,"prompt":%s}`, prompt))
		if again.Usage.PromptTokens != first.Usage.PromptTokens || again.Usage.Details.CachedTokens == 0 {
			t.Errorf("as text %+v, as ids %+v", first.Usage, again.Usage)
		}
	}
}

func TestAPromptSeenBeforeIsCached(t *testing.T) {
	r := start(t, fast())
	prompt := strings.Repeat("token ", 41)
	body := fmt.Sprintf(`{"model":"debug","max_tokens":1,"prompt":%q}`, prompt)
	if got := r.whole("/v1/completions", "", body).Usage.Details.CachedTokens; got != 0 {
		t.Errorf("at first %d tokens were cached", got)
	}
	if got := r.whole("/v1/completions", "", body).Usage.Details.CachedTokens; got != 40 {
		t.Errorf("then %d tokens were cached, not 40", got)
	}
}

// The answer's own blocks are a prefix of the next turn's prompt.
func TestTheNextTurnFindsTheAnswerInTheCache(t *testing.T) {
	r := start(t, fast())
	turn := `{"role":"user","content":"hello, hello, hello"}`
	first := r.whole("/v1/chat/completions", "t",
		fmt.Sprintf(`{"model":"debug","max_tokens":20,"messages":[%s]}`, turn))
	answer := first.Choices[0].Message.Content
	second := r.whole("/v1/chat/completions", "u",
		fmt.Sprintf(`{"model":"debug","max_tokens":1,"messages":[%s,{"role":"assistant","content":%q},%s]}`, turn,
			answer, turn))
	if all := first.Usage.PromptTokens + 19; second.Usage.Details.CachedTokens != all/4*4 {
		t.Errorf("%d of %d tokens were cached", second.Usage.Details.CachedTokens, all)
	}
}

// MEGA-35: same prefix, different adapter is a miss.
func TestAnAdapterNeverReusesAnothersBlocks(t *testing.T) {
	r := start(t, fast())
	cached := func(model, salt string) int {
		return r.whole("/v1/completions", "",
			fmt.Sprintf(`{"model":%q,"cache_salt":%q,"max_tokens":1,"prompt":"%s"}`, model, salt,
				strings.Repeat("token ", 20))).Usage.Details.CachedTokens
	}
	for _, c := range []struct {
		model, salt string
		want        int
	}{{"debug", "", 0}, {"debug", "", 20}, {"gdb-v2", "", 0}, {"asan", "", 0}, {"gdb-v2", "", 20}, {"debug", "acme", 0},
		{"debug", "acme", 20}, {"gdb-v2", "acme", 0}} {
		if got := cached(c.model, c.salt); got != c.want {
			t.Errorf("%s salted %q: %d tokens cached, not %d", c.model, c.salt, got, c.want)
		}
	}
	for _, path := range []string{"/v1/unload_lora_adapter", "/v1/load_lora_adapter"} {
		if status, text := r.ask(path, "", `{"lora_name":"gdb-v2","lora_path":"/new"}`); status != http.StatusOK {
			t.Fatal(text)
		}
	}
	if got := cached("gdb-v2", ""); got != 0 {
		t.Errorf("new weights of the same name reuse %d tokens", got)
	}
}

//nolint:lll // raw text that cannot be broken
func TestAContinuedAnswerGoesOnWithItsIndices(t *testing.T) {
	r := start(t, fast())
	for k := range 5 {
		got := r.whole("/v1/chat/completions", "c", fmt.Sprintf(`{"model":"debug","max_tokens":3,"continue_from":%d,"add_generation_prompt":false,"continue_final_message":true,
			"messages":[{"role":"user","content":"go"},{"role":"assistant","content":%q}]}`, k, marks("c", 0, k)))
		if text := got.Choices[0].Message.Content; text != marks("c", k, k+3) {
			t.Errorf("after %d tokens: %q", k, text)
		}
	}
}

func TestAStopStringEndsTheAnswerBeforeIt(t *testing.T) {
	r := start(t, fast())
	for _, stop := range []string{`"a:3⟧⟦a"`, `["zzz",":4","a:3⟧⟦a"]`} {
		body := fmt.Sprintf(`{"model":"debug","prompt":"p","stop":%s,"max_tokens":100`, stop)
		unary := r.whole("/v1/completions", "a", body+"}")
		if want := marks("a", 0, 3) + "⟦"; unary.Choices[0].Text != want || *unary.Choices[0].FinishReason != "stop" {
			t.Errorf("%s: %q, not %q", stop, unary.Choices[0].Text, want)
		}
		if got := texts(r.stream("/v1/completions", "a", body+`,"stream":true}`))[0]; got != unary.Choices[0].Text {
			t.Errorf("%s: streamed %q", stop, got)
		}
	}
	r.quiet()
}

func TestAClientThatLeavesFreesItsBlocksAtOnce(t *testing.T) {
	c := fast()
	c.Step = time.Hour // at once: not at the end of the step that is under way
	for _, stream := range []string{"true", "false"} {
		r := start(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			resp, err := r.post(ctx, "/v1/completions", "",
				`{"model":"debug","n":3,"max_tokens":200,"prompt":"p","stream":`+stream+`}`)
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}()
		r.eventually("three here", func() bool { s := r.e.State(); return s.Running > 0 && s.Running+s.Waiting == 3 })
		if s := r.e.State(); s.Free == s.Total {
			t.Errorf("no block in use: %+v", s)
		}
		cancel()
		<-left
		r.quiet()
	}
}

// MEGA-68: batches are of one adapter, and every adapter gets its turn.
func TestRequestsOnSeveralAdaptersAreAllAnswered(t *testing.T) {
	r := start(t, fast())
	answers := make(chan error)
	for i := range 12 {
		go func() {
			model := []string{"debug", "gdb-v2", "asan"}[i%3]
			id := fmt.Sprint("r", i)
			var status int
			var text string
			resp, err := r.post(t.Context(), "/v1/completions", id,
				fmt.Sprintf(`{"model":%q,"max_tokens":8,"prompt":"p%d"}`, model, i))
			if err == nil {
				b, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				status, text = resp.StatusCode, string(b)
				if !strings.Contains(text, marks(id, 0, 8)) || !strings.Contains(text, `"model":"`+model) {
					err = fmt.Errorf("%s: %d %s", id, status, text)
				}
			}
			answers <- err
		}()
	}
	for range 12 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	r.quiet()
}
