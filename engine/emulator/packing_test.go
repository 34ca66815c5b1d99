package emulator_test

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

const twelve = `{"model":"debug","max_tokens":12,"stream":true,"messages":[{"role":"user","content":"x"}]`

func TestTheRoleComesInAnEventOfItsOwnBeforeAnyToken(t *testing.T) {
	r := start(t, fast())
	resp, err := r.post(t.Context(), "/v1/chat/completions", "a", twelve+"}")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || !strings.Contains(first, `"delta":{"role":"assistant","content":""}`) ||
		strings.Contains(first, "⟦") {
		t.Errorf("%v: %s", err, first)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
}

func TestAnEventCarriesAsManyTokensAsTheEngineIsTold(t *testing.T) {
	c := fast()
	c.StreamInterval = 5
	r := start(t, c)
	for name, tt := range map[string]struct {
		more string
		want []string // the text of each event after the role's
	}{
		"the engine's":  {``, []string{marks("a", 0, 1), marks("a", 1, 6), marks("a", 6, 11), marks("a", 11, 12)}},
		"the request's": {`,"stream_interval":7`, []string{marks("a", 0, 1), marks("a", 1, 8), marks("a", 8, 12)}},
		"a smaller one": {`,"stream_interval":2`,
			[]string{marks("a", 0, 1), marks("a", 1, 6), marks("a", 6, 11), marks("a", 11, 12)}},
	} {
		chunks := r.stream("/v1/chat/completions", "a", twelve+tt.more+"}")[1:]
		var got []string
		for _, ch := range chunks {
			got = append(got, ch.Choices[0].Delta.Content)
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestACharacterComesWholeWithTheTokenThatEndsIt(t *testing.T) {
	c := fast()
	c.SplitCharacters = true
	chunks := start(t, c).stream("/v1/chat/completions", "a",
		twelve+`,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`)
	empty := 0
	for i, ch := range chunks[1 : len(chunks)-1] {
		if ch.Usage == nil || ch.Usage.CompletionTokens != i+1 || ch.Usage.TotalTokens != ch.Usage.PromptTokens+i+1 {
			t.Errorf("event %d: usage %+v", i, ch.Usage)
		}
		if ch.Choices[0].Delta.Content == "" {
			empty++
		}
	}
	if got := texts(chunks)[0]; got != marks("a", 0, 12) || empty != 4 { // the last token's text is not held back
		t.Errorf("%d events without text in %q", empty, got)
	}
}

func TestUsageSoFarIsInEveryEventThatIsAskedForIt(t *testing.T) {
	r := start(t, fast())
	for more, want := range map[string]bool{
		`"include_usage":true,"continuous_usage_stats":true`:  true,
		`"include_usage":true`:                                false,
		`"include_usage":false,"continuous_usage_stats":true`: false,
	} {
		for _, ch := range r.stream("/v1/chat/completions", "a", twelve+`,"stream_options":{`+more+`}}`) {
			if len(ch.Choices) > 0 && (ch.Usage != nil) != want {
				t.Errorf("%s: usage %+v", more, ch.Usage)
			}
		}
	}
}

func TestTokenIDsComeWithTheTextAndThePromptsOnce(t *testing.T) {
	c := fast()
	c.StreamInterval = 4
	r := start(t, c)
	for path, body := range map[string]string{
		"/v1/chat/completions": twelve,
		"/v1/completions":      `{"model":"debug","max_tokens":12,"stream":true,"prompt":"x y z"`,
	} {
		tokens, prompts := 0, 0
		for _, ch := range r.stream(path, "a", body+`,"return_token_ids":true}`) {
			for _, p := range [][]int{ch.Prompt, ch.Choices[0].Prompt} {
				if len(p) > 0 {
					prompts++
				}
			}
			tokens += len(ch.Choices[0].IDs)
		}
		if tokens != 12 || prompts != 1 {
			t.Errorf("%s: %d token ids, %d prompts", path, tokens, prompts)
		}
		unary := r.whole(path, "a", strings.Replace(body, `"stream":true,`, "", 1)+`,"return_token_ids":true}`)
		if n := len(unary.Choices[0].IDs); n != 12 || len(unary.Prompt)+len(unary.Choices[0].Prompt) == 0 {
			t.Errorf("%s: unary %d token ids", path, n)
		}
	}
}

func TestAnAnswerGoesOnBehindTheTextThatArrived(t *testing.T) {
	said := marks("a", 0, 3)
	chunks := start(t, fast()).stream("/v1/completions", "a",
		`{"model":"debug","max_tokens":2,"stream":true,"continue_from":4,"prompt":"an x: `+said+`"}`)
	if got := texts(chunks)[0]; got != marks("a", 3, 5) { // four were counted, three came
		t.Errorf("%q", got)
	}
}
