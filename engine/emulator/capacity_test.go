package emulator_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// GAIE-05, MEGA-30: blocks run out, sequences give way, and every answer still is exact.
func TestAnswersAreExactUnderKVPressure(t *testing.T) {
	r := start(t, fast()) // 256 tokens of KV for 6 × 120
	var asks sync.WaitGroup
	for i := range 6 {
		asks.Go(func() {
			id := fmt.Sprint("p", i)
			chunks := r.stream("/v1/completions", id,
				fmt.Sprintf(`{"model":"debug","max_tokens":100,"stream":true,"prompt":"%s%d"}`,
					strings.Repeat("w ", 19), i))
			if got := texts(chunks)[0]; got != marks(id, 0, 100) {
				t.Errorf("%s said %q", id, got)
			}
		})
	}
	asks.Wait()
	r.quiet()
	if s := r.e.State(); s.Preemptions == 0 {
		t.Errorf("nobody gave way: %+v", s)
	}
}

//nolint:lll // raw text that cannot be broken
func TestAFullQueueIsRefusedAsTheSimulatorDoes(t *testing.T) {
	c := fast()
	c.MaxRunning, c.MaxWaiting, c.Step = 1, 1, 5*time.Millisecond
	r := start(t, c)
	var asks sync.WaitGroup
	body := `{"model":"debug","max_tokens":40,"prompt":"p"}`
	for i := range 2 {
		asks.Go(func() { r.whole("/v1/completions", "", body) })
		r.eventually("one more", func() bool { s := r.e.State(); return s.Running+s.Waiting == i+1 })
	}
	status, text := r.ask("/v1/completions", "", body)
	if want :=
		`{"error":{"message":"Failed to enqueue request, waiting requests queue is full","type":"RateLimitError","param":null,"code":429}}`; status != 429 || text != want {
		t.Errorf("%d %s", status, text)
	}
	asks.Wait()
	r.quiet()
}

func TestLowerPriorityValuesAreServedSooner(t *testing.T) {
	c := fast()
	c.MaxRunning, c.Step = 1, 2*time.Millisecond
	r := start(t, c)
	var asks sync.WaitGroup
	order := make(chan int, 3)
	for i, priority := range []int{-9, 9, 0} { // the first runs, the others wait
		asks.Go(func() {
			r.whole("/v1/completions", "",
				fmt.Sprintf(`{"model":"debug","max_tokens":20,"prompt":"p","priority":%d}`, priority))
			order <- priority
		})
		r.eventually("one more", func() bool { s := r.e.State(); return s.Running+s.Waiting == i+1 })
	}
	asks.Wait()
	if a, b, c := <-order, <-order, <-order; a != -9 || b != 0 || c != 9 {
		t.Errorf("served in the order %d, %d, %d", a, b, c)
	}
}

func TestWhatCannotBeServedIsRefusedAsVLLMDoes(t *testing.T) {
	r := start(t, fast())
	long := strings.Repeat("w ", 300)
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/v1/completions", `{"model":"gpt","prompt":"p"}`, 404,
			`{"error":{"message":"The model ` + "`gpt`" +
				` does not exist.","type":"NotFoundError","param":"model","code":404}}`},
		{"/v1/completions", `{"model":"debug","prompt":"` + long + `"}`, 400, "maximum context length is 256 tokens"},
		{"/v1/completions", `{"model":"debug","prompt":"p","max_tokens":1000}`, 400, "is too large: 1000"},
		{"/v1/completions", `{"model":"debug","prompt":"p","max_tokens":0}`, 400, "at least 1"},
		{"/v1/completions", `{"model":"debug","prompt":"p","n":0}`, 400, "n must be"},
		{"/v1/completions", `{"model":"debug","prompt":"p","n":1000}`, 400, "n must be"},
		{"/v1/completions", `{"model":"debug","prompt":"p","logprobs":2}`, 400, "logprobs"},
		{"/v1/completions", `{"model":"debug","prompt":"p","echo":true}`, 400, "echo"},
		{"/v1/completions", `{"model":"debug","prompt":"p","suffix":"x"}`, 400, "suffix"},
		{"/v1/completions", `{"model":"debug","prompt":"p","stop":""}`, 400, "stop"},
		{"/v1/completions", `{"model":"debug","prompt":"p","continue_from":9}`, 400, "continue_from"},
		{"/v1/completions", `{"model":"debug","prompt":"p","continue_from":-1}`, 400, "continue_from"},
		{"/v1/completions", `{"model":"debug","prompt":""}`, 400, "cannot be empty"},
		{"/v1/completions", `{"model":"debug","prompt":[]}`, 400, "prompt must be"},
		{"/v1/completions", `{"model":"debug","prompt":null}`, 400, "prompt must be"},
		{"/v1/completions", `{"model":"debug","prompt":[1,"a"]}`, 400, "prompt must be"},
		{"/v1/completions", `{"model":"debug"}`, 400, "prompt must be"},
		{"/v1/completions", `{"model":"debug","prompt":"p"`, 400, "invalid JSON"},
		{"/v1/completions", `{"model":"debug","prompt":"p","prompt":"q"}`, 400, "invalid JSON"},
		{"/v1/chat/completions", `{"model":"debug","messages":[]}`, 400, "at least one message"},
		{"/v1/chat/completions", `{"model":"debug","messages":[{"content":"x"}]}`, 400, "role"},
		{"/v1/chat/completions", `{"model":"debug","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400,
			"text only"},
		{"/v1/chat/completions", `{"model":"debug","logprobs":true,"messages":[{"role":"user","content":"x"}]}`, 400,
			"logprobs"},
		{
			"/v1/chat/completions",
			`{"model":"debug","continue_final_message":true,"messages":[{"role":"user","content":"x"}]}`, 400,
			"continue_final_message"},
		{"/tokenize", `{"model":"debug"}`, 400, "prompt or messages"},
		{"/detokenize", `{"tokens":[1]}`, 501, "one-way"},
		{"/v1/load_lora_adapter", `{"lora_name":"x"}`, 400, "must be provided"},
		{"/v1/load_lora_adapter", `{"lora_name":"asan","lora_path":"/p"}`, 400, "already been loaded"},
		{"/v1/unload_lora_adapter", `{"lora_name":"x"}`, 404, "cannot be found"},
	} {
		if status, text := r.ask(c.path, "", c.body); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %.80s: %d %s", c.path, c.body, status, text)
		}
	}
	r.quiet()
}

func TestFieldsThatChangeNothingAreAccepted(t *testing.T) {
	r := start(t, fast())
	for _, field := range []string{
		`"temperature":0`, `"top_p":0.5`, `"tools":[{"type":"function"}]`, `"response_format":{"type":"json_object"}`,
		`"stop":null`,
		`"logprobs":false`, `"user":"u"`, `"unknown":{"a":[1]}`, `"stream_options":null`, `"priority":-3`,
		`"model":"debug"`,
	} {
		if status, text := r.ask("/v1/chat/completions", "",
			`{"max_tokens":1,"messages":[{"role":"user","content":null}],`+field+`}`); status != http.StatusOK {
			t.Errorf("%s: %d %s", field, status, text)
		}
	}
}

func TestAnIllFormedRequestIDIsReplaced(t *testing.T) {
	r := start(t, fast())
	for _, id := range []string{"", "has space", strings.Repeat("x", 129), "\xc3\xa9"} {
		got := r.whole("/v1/completions", id, `{"prompt":"p","max_tokens":1}`)
		if id != "" && strings.Contains(got.ID, id) || len(got.ID) < 8 {
			t.Errorf("%q: %q", id, got.ID)
		}
	}
}
