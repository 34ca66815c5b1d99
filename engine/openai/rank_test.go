package openai

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"octet/engine"
)

const rankPage = `vllm:num_requests_running{engine="0",model_name="m"} 3
vllm:num_requests_running{engine="1",model_name="m"} 5
vllm:num_requests_running{engine="10",model_name="m"} 50
vllm:num_requests_waiting{model_name="m"} 8
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.75
vllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="100"} 1
vllm:cache_config_info{engine="1",block_size="16",num_gpu_blocks="90"} 1
vllm:lora_requests_info{max_lora="4",running_lora_adapters="a,b",waiting_lora_adapters=""} 17
`

const sglangRanks = `sglang:num_running_reqs{model_name="m",dp_rank="0",tp_rank="0"} 3
sglang:num_running_reqs{model_name="m",dp_rank="1",tp_rank="2"} 4
sglang:num_running_reqs{model_name="m",dp_rank="1",tp_rank="3"} 4
`

// A rank's own series are read of it, and no sum over all. What is said of all alike holds for each.
func TestARankIsReadByItsOwnSeries(t *testing.T) {
	zero, one, two := 0, 1, 2
	for name, row := range map[string]struct {
		page            string
		rank            *int
		running, blocks int
		usage           float64
		has, hasNot     Field
	}{
		"all": {rankPage, nil, 58, 190, 0.5,
			HasRunning | HasWaiting | HasKVUsage | HasBlocks | HasAdapters, 0},
		"the first":    {rankPage, &zero, 3, 100, 0.25, HasRunning | HasKVUsage | HasBlocks | HasAdapters, HasWaiting},
		"the second":   {rankPage, &one, 5, 90, 0.75, HasRunning | HasKVUsage | HasBlocks | HasAdapters, HasWaiting},
		"one too many": {rankPage, &two, 0, 0, 0, HasAdapters, HasRunning | HasKVUsage | HasBlocks | HasWaiting},
		"of SGLang":    {sglangRanks, &one, 4, 0, 0, HasRunning, HasWaiting},
	} {
		m, err := parseMetrics([]byte(row.page), engine.RankOf(row.rank))
		if err != nil || m.Running != row.running || m.Blocks != row.blocks || m.KVUsage != row.usage ||
			!m.Has(row.has) || row.hasNot != 0 && m.has&row.hasNot != 0 {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// Every request of a rank's client names the rank, where the kind has a header for it.
func TestARanksClientNamesIt(t *testing.T) {
	var heard http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard = r.Header }))
	defer server.Close()
	three := 3
	for _, row := range []struct {
		kind string
		rank *int
		want []string
	}{{"vllm", &three, []string{"3"}}, {"vllm", nil, nil}, {"sglang", &three, nil}} {
		c, err := New(Config{URL: server.URL, Engine: row.kind, Rank: engine.RankOf(row.rank)})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(context.Background(), &engine.Request{Method: "POST", Path: "/v1/chat/completions",
			Segments: [][]byte{[]byte("{}")}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Close()
		got := heard.Values("X-Data-Parallel-Rank")
		if len(got) != len(row.want) || len(got) == 1 && got[0] != row.want[0] {
			t.Errorf("%s: %q, want %q", row.kind, got, row.want)
		}
		_ = c.Close()
	}
}
