package emulator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"octet/engine"
)

func (r *rig) get(path string) string {
	r.t.Helper()
	resp, err := http.Get(r.url + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
	}
	return string(b)
}

func TestTheOfficialClientIsAtHome(t *testing.T) {
	r := start(t, fast())
	client := openai.NewClient(option.WithBaseURL(r.url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0),
		option.WithHeader("X-Request-Id", "o"))
	params := openai.ChatCompletionNewParams{
		Model: "gdb-v2", MaxTokens: openai.Int(5),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("be brief"), openai.UserMessage("hi")},
	}
	answer, err := client.Chat.Completions.New(t.Context(), params)
	if err != nil || answer.Choices[0].Message.Content != marks("o", 0, 5) || answer.Usage.CompletionTokens != 5 {
		t.Fatalf("%v, %+v", err, answer)
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream, acc := client.Chat.Completions.NewStreaming(t.Context(), params), openai.ChatCompletionAccumulator{}
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Fatalf("the chunk does not fit: %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil || acc.Choices[0].Message.Content != marks("o", 0, 5) ||
		acc.Usage.PromptTokensDetails.CachedTokens == 0 {
		t.Errorf("%v, %+v", err, acc.ChatCompletion)
	}
	if acc.Choices[0].Message.Role != "assistant" || acc.Choices[0].FinishReason != "length" {
		t.Errorf("%+v", acc.Choices)
	}
	completion, err := client.Completions.New(t.Context(),
		openai.CompletionNewParams{Model: "debug",
			Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("p")}})
	if err != nil || completion.Choices[0].Text != marks("o", 0, 128) {
		t.Errorf("%v, %+v", err, completion)
	}
	var refused *openai.Error
	params.Model = "gpt"
	if _, err := client.Chat.Completions.New(t.Context(), params); !errors.As(err, &refused) ||
		refused.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown model: %v", err)
	}
	if models, err := client.Models.List(t.Context()); err != nil || len(models.Data) != 3 {
		t.Errorf("%v, %+v", err, models)
	}
}

func TestAdaptersComeAndGo(t *testing.T) {
	r := start(t, fast())
	ids := func() (out string) {
		var list struct {
			Data []struct {
				ID, Root string
				Parent   *string
			}
		}
		if err := json.Unmarshal([]byte(r.get("/v1/models")), &list); err != nil {
			t.Fatal(err)
		}
		for i, m := range list.Data {
			if base := i == 0; base != (m.Parent == nil) || !base && *m.Parent != "debug" {
				t.Errorf("%d: %+v", i, m)
			}
			out += m.ID + "=" + m.Root + " "
		}
		return out
	}
	if got, want := ids(), "debug=debug gdb-v2=built-in asan=built-in "; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	for _, c := range []struct{ path, body, says string }{
		{"/v1/load_lora_adapter", `{"lora_name":"rr","lora_path":"/rr"}`,
			"Success: LoRA adapter 'rr' added successfully."},
		{"/v1/unload_lora_adapter", `{"lora_name":"gdb-v2"}`, "Success: LoRA adapter 'gdb-v2' removed successfully."},
		{"/v1/load_lora_adapter", `{"lora_name":"asan","lora_path":"/asan2","load_inplace":true}`,
			"Success: LoRA adapter 'asan' added successfully."},
	} {
		if status, text := r.ask(c.path, "", c.body); status != 200 || text != c.says {
			t.Errorf("%d %q", status, text)
		}
	}
	if got, want := ids(), "debug=debug rr=/rr asan=/asan2 "; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if status, _ := r.ask("/v1/completions", "", `{"model":"gdb-v2","prompt":"p"}`); status != 404 {
		t.Errorf("an unloaded adapter answers %d", status)
	}
}

func TestTokenizeSaysWhatARequestIsComputedAs(t *testing.T) {
	r := start(t, fast())
	var got struct {
		Count  int
		MaxLen int `json:"max_model_len"`
		Tokens []uint32
	}
	_, text := r.ask("/tokenize", "", `{"model":"debug","messages":[{"role":"user","content":"a b"}]}`)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := engine.Tokenize(nil,
		engine.RenderChat(nil, []engine.Message{{Role: "user", Content: "a b"}}, engine.OpenAnswer))
	if fmt.Sprint(got.Tokens) != fmt.Sprint(want) || got.Count != len(want) || got.MaxLen != 256 {
		t.Errorf("%+v, not %v", got, want)
	}
	asked := r.whole("/v1/chat/completions", "",
		`{"model":"debug","max_tokens":1,"messages":[{"role":"user","content":"a b"}]}`)
	if asked.Usage.PromptTokens != got.Count {
		t.Errorf("computed as %d tokens, tokenized as %d", asked.Usage.PromptTokens, got.Count)
	}
}

// GAIE-05: what a scheduler asks of an endpoint: its models, queue depth and KV utilisation.
func TestMetricsHaveVLLMsNamesAndAddUp(t *testing.T) {
	r := start(t, fast())
	prompt := strings.Repeat("token ", 41)
	for range 2 {
		r.whole("/v1/completions", "", fmt.Sprintf(`{"model":"debug","max_tokens":3,"prompt":%q}`, prompt))
	}
	r.quiet()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(r.get("/metrics")))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, "vllm:kv_cache_usage_perc": 0,
		"vllm:prefix_cache_queries_total": 84, "vllm:prefix_cache_hits_total": 40, "vllm:num_preemptions_total": 0,
		"vllm:prompt_tokens_total": 84, "vllm:generation_tokens_total": 6, "vllm:request_success_total": 2,
		"vllm:time_to_first_token_seconds": 2, "vllm:inter_token_latency_seconds": 4,
		"vllm:e2e_request_latency_seconds": 2,
		"vllm:cache_config_info":           1,
	} {
		f := families[name]
		if f == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		m := f.GetMetric()[0]
		got := m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		if got != want {
			t.Errorf("%s is %v, not %v", name, got, want)
		}
		if l := fmt.Sprint(m.GetLabel()); !strings.Contains(l, "model_name") || !strings.Contains(l, "engine") {
			t.Errorf("%s has labels %s", name, l)
		}
	}
	if text := r.get("/metrics"); !strings.Contains(text, `block_size="4"`) ||
		!strings.Contains(text, `num_gpu_blocks="64"`) || !strings.Contains(text, `finished_reason="length"`) ||
		!strings.Contains(text, `running_lora_adapters=""`) {
		t.Error(text)
	}
}

func TestRunningAdaptersAreInTheMetrics(t *testing.T) {
	c := fast()
	c.MaxRunning, c.Step = 1, 4e6
	r := start(t, c)
	done := make(chan struct{})
	for i, model := range []string{"gdb-v2", "asan"} {
		go func() {
			r.whole("/v1/completions", "", `{"model":"`+model+`","max_tokens":30,"prompt":"p"}`)
			done <- struct{}{}
		}()
		r.eventually("one more", func() bool { s := r.e.State(); return s.Running+s.Waiting == i+1 })
	}
	r.eventually("a step", func() bool { return strings.Contains(r.get("/metrics"), `running_lora_adapters="gdb-v2"`) })
	if text := r.get("/metrics"); !strings.Contains(text, `waiting_lora_adapters="asan"`) {
		t.Error(text)
	}
	<-done
	<-done
}

func TestHealthAndVersionAnswer(t *testing.T) {
	r := start(t, fast())
	if got := r.get("/health") + r.get("/ping"); got != "" {
		t.Errorf("health says %q", got)
	}
	if got := r.get("/version"); got != `{"version":"octet-emulator"}` {
		t.Errorf("version %s", got)
	}
	if got := r.get("/admin/state"); !strings.Contains(got, `"total":64,"free":64,"used":0,"reserved":0,"cached":0`) {
		t.Errorf("state %s", got)
	}
}

// The two legs of a disaggregated request: the prefill engine says where the blocks are, the decode engine fetches
// them.
func TestBlocksAreHandedFromPrefillToDecode(t *testing.T) {
	prefill, c := start(t, fast()), fast()
	c.PrefillTPS, c.KVTransferPerBlock = 1e-3, -1 // computing the prompt here would take hours
	decode := start(t, c)
	body := `{"model":"debug","prompt":"a b c d e f g h i","max_tokens":%d,"kv_transfer_params":%s}`
	first := prefill.whole("/v1/completions", "pd",
		fmt.Sprintf(
			body, 1,
			`{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null}`))
	blocks, ok := first.Transfer["remote_block_ids"].([]any)
	if !ok || len(blocks) != 1 || len(blocks[0].([]any)) != 3 || !isTrue(first.Transfer["do_remote_prefill"]) ||
		first.Transfer["remote_engine_id"] != "debug-0" {
		t.Fatalf("%+v", first.Transfer)
	}
	params, _ := json.Marshal(first.Transfer)
	second := decode.whole("/v1/completions", "pd", fmt.Sprintf(body, 4, params))
	if second.Choices[0].Text != marks("pd", 0, 4) || second.Transfer != nil {
		t.Errorf("%+v", second)
	}
}
