package openai

import (
	"context"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"octet/engine"
)

const all = HasRunning | HasWaiting | HasKVUsage | HasBlocks | HasBlockSize | HasCapacityTokens |
	HasPreemptions | HasQueriedTokens | HasCachedTokens | HasAdapters

// metricPages are pages as engines of several kinds and ages send them.
var metricPages = map[string]struct {
	file, text string
	want       Metrics
	has        Field
}{
	"a vLLM-compatible simulator, recorded": {
		file: "testdata/vllm_like_metrics.txt",
		want: Metrics{Running: 4, Waiting: 6, KVUsage: 0.5, Blocks: 32, BlockSize: 16, QueriedTokens: 1500,
			CachedTokens: 128, MaxAdapters: 2, RunningAdapters: []string{"code-lora"}},
		has: all &^ (HasCapacityTokens | HasPreemptions),
	},
	"llama.cpp, recorded": {
		file: "testdata/llamacpp_metrics.txt",
		want: Metrics{Running: 4, KVUsage: 0.00415039},
		has:  HasRunning | HasWaiting | HasKVUsage,
	},
	"vLLM with two data-parallel ranks": {
		text: `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0",model_name="m"} 1.0
vllm:num_requests_waiting{engine="1",model_name="m"} 0.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.2
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.4
vllm:num_preemptions_total{engine="0",model_name="m"} 5.0
vllm:num_preemptions_created{engine="0",model_name="m"} 1.7e+09
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 1e6
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 2.5e+05
vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="1000",sliding_window="None"} 1.0
vllm:cache_config_info{block_size="16",engine="1",num_gpu_blocks="1024",sliding_window="None"} 1.0
vllm:lora_requests_info{max_lora="4",running_lora_adapters="a, b",waiting_lora_adapters="c"} 1.7e+09
`,
		want: Metrics{
			Running: 7, Waiting: 1, KVUsage: 0.30000000000000004, Blocks: 2024, BlockSize: 16, Preemptions: 5,
			QueriedTokens: 1_000_000, CachedTokens: 250_000,
			MaxAdapters: 4, RunningAdapters: []string{"a", "b"}, WaitingAdapters: []string{"c"},
		},
		has: all &^ HasCapacityTokens,
	},
	"an older vLLM": {
		text: "vllm:gpu_cache_usage_perc{model_name=\"m\"} 0.25\r\nvllm:num_preemptions{model_name=\"m\"} " +
			"2\r\nvllm:num_requests_running 1\r\n" +
			"vllm:gpu_prefix_cache_queries_total 90\nvllm:gpu_prefix_cache_hits_total 30\n",
		want: Metrics{KVUsage: 0.25, Preemptions: 2, Running: 1, QueriedTokens: 90, CachedTokens: 30},
		has:  HasKVUsage | HasPreemptions | HasRunning | HasQueriedTokens | HasCachedTokens,
	},
	"SGLang, each tensor-parallel rank reporting": {
		text: `sglang:num_running_reqs{model_name="m",tp_rank="0",dp_rank="0"} 5
sglang:num_running_reqs{model_name="m",tp_rank="1",dp_rank="0"} 5
sglang:num_running_reqs{model_name="m",tp_rank="0",dp_rank="1"} 2
sglang:num_queue_reqs{model_name="m"} 9
sglang:token_usage{model_name="m"} 0.75
sglang:num_retracted_requests_total{model_name="m"} 4
sglang:prompt_tokens_total{model_name="m"} 100
sglang:cached_tokens_total{model_name="m"} 40
sglang:kv_available_tokens{model_name="m"} 100
sglang:kv_evictable_tokens{model_name="m"} 200
sglang:kv_used_tokens{model_name="m"} 300
`,
		want: Metrics{Running: 7, Waiting: 9, KVUsage: 0.75, Preemptions: 4, QueriedTokens: 100, CachedTokens: 40,
			CapacityTokens: 600},
		has: all &^ (HasBlocks | HasBlockSize | HasAdapters),
	},
	"values that say nothing": {
		text: `vllm:num_requests_running NaN
vllm:num_requests_waiting +Inf
vllm:kv_cache_usage_perc -1
vllm:num_preemptions_total 1e300
vllm:cache_config_info{block_size="None",num_gpu_blocks="100"} 1
sglang:kv_used_tokens 5
`,
		want: Metrics{CapacityTokens: 5},
	},
	"ranks that disagree": {
		text: `vllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="100"} 1
vllm:cache_config_info{engine="1",block_size="32",num_gpu_blocks="100"} 1
`,
	},
	"nothing of ours, and much that is broken": {text: "garbage{ 1\nvllm:other{x= 3\n# TYPE\n\n\x00\n"},
	"an empty page": {},
}

func TestMetricsOfEveryEngineAreUnderstood(t *testing.T) {
	for name, c := range metricPages {
		text := c.text
		if c.file != "" {
			b, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		cl, _ := page(t, "vllm", map[string]string{"GET /metrics": text})
		got, err := cl.Scrape(context.Background())
		if err != nil || got.has != c.has || !got.Has(c.has) || got.Has(c.has|^all) {
			t.Errorf("%s: has %b, want %b, %v", name, got.has, c.has, err)
		}
		got.has, got.parts = 0, 0
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAPoolIsCountedInTheBlocksAskedFor(t *testing.T) {
	told := HasBlocks | HasBlockSize
	for name, c := range map[string]struct {
		m         Metrics
		size, out int
	}{
		"its own":         {Metrics{Blocks: 100, BlockSize: 16, has: told}, 16, 100},
		"larger":          {Metrics{Blocks: 100, BlockSize: 16, has: told}, 64, 25},
		"tokens":          {Metrics{CapacityTokens: 1000, has: HasCapacityTokens}, 16, 62},
		"nothing is told": {Metrics{}, 16, 0},
		"no size":         {Metrics{Blocks: 100, BlockSize: 16, has: told}, 0, 100},
	} {
		if got := c.m.Pool(c.size); got != c.out {
			t.Errorf("%s: %d, want %d", name, got, c.out)
		}
	}
}

func TestABrokenSeriesOfOursIsAnError(t *testing.T) {
	for _, text := range []string{"vllm:num_requests_running x\n", "vllm:num_requests_running{a=1} 2\n",
		"vllm:num_requests_running{a=\"b\" 2\n", "vllm:num_requests_running\n"} {
		cl, _ := page(t, "vllm", map[string]string{"GET /metrics": text})
		if _, err := cl.Scrape(context.Background()); !errors.Is(err, engine.ErrProtocol) {
			t.Errorf("%q: %v", text, err)
		}
	}
	cl, _ := page(t, "openai", nil)
	if _, err := cl.Scrape(context.Background()); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func FuzzMetricsPages(f *testing.F) {
	for _, c := range metricPages {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseMetrics(text, engine.Rank{})
		if err == nil && (m.Running < 0 || m.Waiting < 0 || m.KVUsage < 0 || m.KVUsage > 1 || m.Blocks < 0 ||
			m.BlockSize < 0 || m.CapacityTokens < 0) {
			t.Errorf("%q: %+v", text, m)
		}
	})
}

// A line that Prometheus' own parser takes is read as it reads it.
func FuzzSeriesAreReadAsPrometheusReadsThem(f *testing.F) {
	for _, text := range []string{
		` 1`, `{engine="0",model_name="a\\b\"c\nd"} 1e3 1700000000`, `{ a = "b" , block_size="16", } +Inf`, `{} 0x10`,
		`{engine="é"}	-0`, `{a="}"} NaN`, ` 1 2 3`, ` 1_0`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		if strings.ContainsAny(rest, "\r\n") || rest == "" || !strings.ContainsAny(rest[:1], "{ \t") {
			return
		}
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(strings.NewReader("m" + rest + "\n"))
		if err != nil || len(families["m"].GetMetric()) != 1 || len(rest) > maxValue {
			_, _ = parseSeries([]byte(rest))
			return
		}
		theirs := families["m"].GetMetric()[0]
		ours, err := parseSeries([]byte(rest))
		if value := theirs.GetUntyped().GetValue(); err != nil || ours.value != value &&
			!(math.IsNaN(value) && math.IsNaN(ours.value)) {
			t.Fatalf("%q: %v, %v; it is %v", rest, ours.value, err, value)
		}
		for _, l := range theirs.GetLabel() {
			if slices.Contains(readLabels, l.GetName()) && ours.label(l.GetName()) != l.GetValue() {
				t.Fatalf("%q: %s is %q, not %q", rest, l.GetName(), ours.label(l.GetName()), l.GetValue())
			}
		}
	})
}
