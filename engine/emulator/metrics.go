package emulator

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"octet/scheduler/core"
)

// vLLM's own buckets, in seconds.
var (
	ttftBuckets = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160,
		640, 2560}
	itlBuckets = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	e2eBuckets = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// metrics are the engine's metrics under vLLM's names: what is counted here, and what is asked of the engine at a
// scrape.
type metrics struct {
	registry          *prometheus.Registry
	prompt, generated prometheus.Counter
	ttft, itl, e2e    prometheus.Observer
	finished          *prometheus.CounterVec
	hinted            *prometheus.CounterVec // what gateways believed to be cached
	steps             steps
	prefilled         *prometheus.CounterVec // where prompts for which a prefiller was named were computed
}

// timing is what a choice's latencies are measured from.
type timing struct {
	arrival, latest time.Time // latest is when the token before came
}

func newMetrics(e *Emulator) *metrics {
	labels := prometheus.Labels{"model_name": e.cfg.Model, "engine": strconv.Itoa(e.cfg.Rank)}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels})
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets,
			ConstLabels: labels})
	}
	prompt := counter("vllm:prompt_tokens_total", "Number of prefill tokens processed.")
	generated := counter("vllm:generation_tokens_total", "Number of generation tokens processed.")
	ttft := histogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.", ttftBuckets)
	itl := histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", itlBuckets)
	e2e := histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", e2eBuckets)
	finished := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vllm:request_success_total", Help: "Count of successfully processed requests.", ConstLabels: labels,
	}, []string{"finished_reason"})
	hinted := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "octet_engine_hinted_total",
		Help: "What requests said of the cache: requests, tokens, blocks, and blocks by tier.", ConstLabels: labels,
	}, []string{"of"})
	prefilled := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "octet_engine_prefiller_total",
		Help: "Requests that named a prefiller, by where their prompt was computed.", ConstLabels: labels,
	}, []string{"prefill"})
	registry := prometheus.NewRegistry()
	registry.MustRegister(prompt, generated, ttft, itl, e2e, finished, hinted, prefilled, newGauges(e, labels))
	s := steps{
		took: histogram("octet_engine_step_seconds", "Histogram of the time of one step, in seconds.", itlBuckets),
		requests: histogram("octet_engine_step_requests", "Histogram of requests in one step.",
			prometheus.ExponentialBuckets(1, 2, 10)),
		tokens: histogram("vllm:iteration_tokens_total", "Histogram of number of tokens per engine_step.",
			[]float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}),
	}
	registry.MustRegister(s.took, s.requests, s.tokens)
	return &metrics{registry, prompt, generated, ttft, itl, e2e, finished, hinted, s, prefilled}
}

// steps are what one step of the engine was.
type steps struct{ took, requests, tokens prometheus.Histogram }

// stepped notes a step.
func (m *metrics) stepped(r core.Report) {
	m.steps.took.Observe(r.Took.Seconds())
	m.steps.requests.Observe(float64(r.Requests))
	m.steps.tokens.Observe(float64(r.Computed))
}

// token notes that c has one more token of its answer to a prompt of so many tokens.
func (m *metrics) token(c *choice, prompt int) {
	now := time.Now()
	m.generated.Inc()
	if c.tokens == 1 {
		m.prompt.Add(float64(prompt))
		m.ttft.Observe(now.Sub(c.timing.arrival).Seconds())
	} else {
		m.itl.Observe(now.Sub(c.timing.latest).Seconds())
	}
	c.timing.latest = now
	if c.finish != "" {
		m.e2e.Observe(now.Sub(c.timing.arrival).Seconds())
		m.finished.WithLabelValues(c.finish).Inc()
	}
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// gauges asks the scheduler and the sequences when it is collected.
type gauges struct {
	e                          *Emulator
	running, waiting, usage    *prometheus.Desc
	queries, hits, preemptions *prometheus.Desc
	cacheConfig, loraInfo      *prometheus.Desc
}

func newGauges(e *Emulator, labels prometheus.Labels) *gauges {
	desc := func(name, help string, variable ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, variable, labels)
	}
	return &gauges{
		e:       e,
		running: desc("vllm:num_requests_running", "Number of requests in model execution batches."),
		waiting: desc("vllm:num_requests_waiting", "Number of requests waiting to be processed."),
		usage:   desc("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage."),
		queries: desc("vllm:prefix_cache_queries_total",
			"Prefix cache queries, in terms of number of queried tokens."),
		hits:        desc("vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens."),
		preemptions: desc("vllm:num_preemptions_total", "Cumulative number of preemption from the engine."),
		cacheConfig: desc("vllm:cache_config_info", "Information of the LLMEngine CacheConfig.", "block_size",
			"num_gpu_blocks"),
		loraInfo: desc("vllm:lora_requests_info", "Running stats on lora requests.", "max_lora",
			"running_lora_adapters", "waiting_lora_adapters"),
	}
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, to) }

// Collect implements prometheus.Collector.
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	s := g.e.loop.Stats()
	put := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	put(g.running, prometheus.GaugeValue, float64(s.Running))
	put(g.waiting, prometheus.GaugeValue, float64(s.Waiting))
	put(g.usage, prometheus.GaugeValue, float64(s.Used+s.Reserved)/float64(s.Total))
	put(g.queries, prometheus.CounterValue, float64(s.PromptTokens))
	put(g.hits, prometheus.CounterValue, float64(s.CachedTokens))
	put(g.preemptions, prometheus.CounterValue, float64(s.Preemptions))
	put(g.cacheConfig, prometheus.GaugeValue, 1, strconv.Itoa(g.e.cfg.BlockSize), strconv.Itoa(s.Total))
	running, waiting := g.e.sequences.adapters()
	put(g.loraInfo, prometheus.GaugeValue, float64(time.Now().UnixNano())/1e9,
		strconv.Itoa(g.e.cfg.AdapterSlots), strings.Join(running, ","), strings.Join(waiting, ","))
}
