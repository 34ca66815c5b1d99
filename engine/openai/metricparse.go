package openai

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"octet/engine"
)

// reading turns the series of one metric into a part of Metrics.
type reading struct {
	field Field
	into  func(m *Metrics, series []sample)
}

// sample is one series: the largest value that one data-parallel rank reports, for the tensor-parallel ranks below it
// report the same thing again.
type sample struct {
	labels map[string]string
	value  float64
}

// readings are the metric names that engines use for what we read. Where an engine renamed one, both stand here.
var readings = map[string]reading{
	"vllm:num_requests_running":           {HasRunning, func(m *Metrics, s []sample) { m.Running = int(sum(s)) }},
	"vllm:num_requests_waiting":           {HasWaiting, func(m *Metrics, s []sample) { m.Waiting = int(sum(s)) }},
	"vllm:kv_cache_usage_perc":            {HasKVUsage, usage},
	"vllm:gpu_cache_usage_perc":           {HasKVUsage, usage},
	"vllm:num_preemptions_total":          {HasPreemptions, preemptions},
	"vllm:num_preemptions":                {HasPreemptions, preemptions},
	"vllm:prefix_cache_queries_total":     {HasQueriedTokens, queried},
	"vllm:prefix_cache_queries":           {HasQueriedTokens, queried},
	"vllm:prefix_cache_hits_total":        {HasCachedTokens, cached},
	"vllm:prefix_cache_hits":              {HasCachedTokens, cached},
	"vllm:gpu_prefix_cache_queries_total": {HasQueriedTokens, queried},
	"vllm:gpu_prefix_cache_queries":       {HasQueriedTokens, queried},
	"vllm:gpu_prefix_cache_hits_total":    {HasCachedTokens, cached},
	"vllm:gpu_prefix_cache_hits":          {HasCachedTokens, cached},
	"vllm:cache_config_info":              {0, geometry},
	"vllm:lora_requests_info":             {0, adapters},
	"sglang:num_running_reqs":             {HasRunning, func(m *Metrics, s []sample) { m.Running = int(sum(s)) }},
	"sglang:num_queue_reqs":               {HasWaiting, func(m *Metrics, s []sample) { m.Waiting = int(sum(s)) }},
	"sglang:token_usage":                  {HasKVUsage, usage},
	"sglang:num_retracted_requests_total": {HasPreemptions, preemptions},
	"sglang:prompt_tokens_total":          {HasQueriedTokens, queried},
	"sglang:cached_tokens_total":          {HasCachedTokens, cached},
	"sglang:kv_available_tokens":          {0, capacity},
	"sglang:kv_evictable_tokens":          {0, capacity},
	"sglang:kv_used_tokens":               {0, capacity},
	"llamacpp:requests_processing":        {HasRunning, func(m *Metrics, s []sample) { m.Running = int(sum(s)) }},
	"llamacpp:requests_deferred":          {HasWaiting, func(m *Metrics, s []sample) { m.Waiting = int(sum(s)) }},
	"llamacpp:kv_cache_usage_ratio":       {HasKVUsage, usage},
}

func usage(m *Metrics, s []sample)       { m.KVUsage = min(max(sum(s)/float64(len(s)), 0), 1) }
func preemptions(m *Metrics, s []sample) { m.Preemptions = uint64(sum(s)) }
func queried(m *Metrics, s []sample)     { m.QueriedTokens = uint64(sum(s)) }
func cached(m *Metrics, s []sample)      { m.CachedTokens = uint64(sum(s)) }

// capacity adds up what is free, what could be and what is not. Only all three together tell.
func capacity(m *Metrics, s []sample) {
	m.CapacityTokens += int(sum(s))
	if m.parts++; m.parts == 3 {
		m.has |= HasCapacityTokens
	}
}

func sum(series []sample) (total float64) {
	for _, s := range series {
		total += s.value
	}
	return total
}

// geometry reads the pool's size off the labels of an info metric. Ranks that disagree on the block size leave it unknown.
func geometry(m *Metrics, series []sample) {
	blocks, size := 0, 0
	for _, s := range series {
		n, err := strconv.Atoi(s.labels["num_gpu_blocks"])
		if err != nil || n <= 0 || n > math.MaxInt32 {
			return
		}
		each, err := strconv.Atoi(s.labels["block_size"])
		if err != nil || each <= 0 || size != 0 && each != size {
			return
		}
		blocks, size = blocks+n, each
	}
	m.Blocks, m.BlockSize = blocks, size
	m.has |= HasBlocks | HasBlockSize
}

// adapters reads the newest of the series that vLLM leaves side by side, each valued with its time.
func adapters(m *Metrics, series []sample) {
	newest := slices.MaxFunc(series, func(a, b sample) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.labels["running_lora_adapters"], b.labels["running_lora_adapters"]))
	})
	most, err := strconv.Atoi(newest.labels["max_lora"])
	if err != nil || most < 0 {
		return
	}
	m.MaxAdapters = most
	m.RunningAdapters = list(newest.labels["running_lora_adapters"])
	m.WaitingAdapters = list(newest.labels["waiting_lora_adapters"])
	m.has |= HasAdapters
}

// list splits a comma separated list; nil for an empty one.
func list(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// parseMetrics reads a metrics page in Prometheus' text format.
func parseMetrics(page []byte) (Metrics, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(known(page)))
	if err != nil {
		return Metrics{}, fmt.Errorf("%w: metrics: %w", engine.ErrProtocol, err)
	}
	var m Metrics
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if s := samples(families[name].GetMetric()); len(s) > 0 {
			readings[name].into(&m, s)
			m.has |= readings[name].field
		}
	}
	return m, nil
}

// known returns the lines of page that are series of readings.
func known(page []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(page) {
		end := bytes.IndexAny(line, "{ \t\r\n")
		if end < 0 {
			end = len(line)
		}
		if _, ok := readings[string(line[:end])]; ok {
			kept = append(append(kept, bytes.TrimRight(line, "\r\n")...), '\n')
		}
	}
	return kept
}

// samples returns one sample for each data-parallel rank and, of info metrics, each set of labels. What cannot be a count is
// left out.
func samples(series []*dto.Metric) []sample {
	var out []sample
	at := make(map[string]int)
	for _, s := range series {
		v := s.GetUntyped().GetValue()
		if math.IsNaN(v) || v < 0 || v > 1<<53 {
			continue
		}
		labels := make(map[string]string, len(s.GetLabel()))
		for _, l := range s.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		key := rank(labels)
		if i, again := at[key]; again {
			out[i].value = max(out[i].value, v)
			continue
		}
		at[key] = len(out)
		out = append(out, sample{labels, v})
	}
	return out
}

// rank tells the series apart that count different things.
func rank(labels map[string]string) string {
	return strings.Join([]string{
		labels["engine"], labels["dp_rank"], labels["model_name"], labels["running_lora_adapters"], labels["waiting_lora_adapters"],
	}, "\x00")
}
