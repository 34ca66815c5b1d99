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

	"octet/engine"
)

// reading turns the series of one metric into a part of Metrics.
type reading struct {
	field Field
	into  func(m *Metrics, series []sample)
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
	adaptersInfo:                          {0, adapters},
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

// adaptersInfo is said of all ranks of an engine alike.
const adaptersInfo = "vllm:lora_requests_info"

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

// geometry reads the pool's size off the labels of an info metric. Ranks that disagree on the block size leave it
// unknown.
func geometry(m *Metrics, series []sample) {
	blocks, size := 0, 0
	for _, s := range series {
		n, err := strconv.Atoi(s.label("num_gpu_blocks"))
		if err != nil || n <= 0 || n > math.MaxInt32 {
			return
		}
		each, err := strconv.Atoi(s.label("block_size"))
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
		return cmp.Or(cmp.Compare(a.value, b.value),
			cmp.Compare(a.label("running_lora_adapters"), b.label("running_lora_adapters")))
	})
	most, err := strconv.Atoi(newest.label("max_lora"))
	if err != nil || most < 0 {
		return
	}
	running, waiting := newest.label("running_lora_adapters"), newest.label("waiting_lora_adapters")
	if max(strings.Count(running, ","), strings.Count(waiting, ",")) >= maxAdapters {
		return
	}
	m.MaxAdapters, m.RunningAdapters, m.WaitingAdapters = most, list(running), list(waiting)
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

// parseMetrics reads a metrics page in Prometheus' text format, as far as it is of rank: ErrTooLarge where more of its
// series are read than maxSeries.
func parseMetrics(page []byte, rank engine.Rank) (Metrics, error) {
	families, err := known(page)
	if err != nil {
		return Metrics{}, fmt.Errorf("%w: metrics: %w", engine.ErrProtocol, err)
	}
	var m Metrics
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if s := samples(ofRank(families[name], rank, name == adaptersInfo)); len(s) > 0 {
			readings[name].into(&m, s)
			m.has |= readings[name].field
		}
	}
	return m, nil
}

// known returns the series of readings that page has.
func known(page []byte) (map[string][]sample, error) {
	families := make(map[string][]sample, len(readings))
	count := 0
	for line := range bytes.Lines(page) {
		line = bytes.TrimRight(line, "\r\n")
		end := bytes.IndexAny(line, "{ \t")
		if end < 0 {
			end = len(line)
		}
		if _, ok := readings[string(line[:end])]; !ok { // nothing is copied
			continue
		}
		name := string(line[:end])
		if count++; count > maxSeries {
			return nil, fmt.Errorf("%w: more than %d series", engine.ErrTooLarge, maxSeries)
		}
		s, err := parseSeries(line[end:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		families[name] = append(families[name], s)
	}
	return families, nil
}

// ofRank returns the series that are of a rank; all for the zero Rank. shared says that a series without a rank holds
// for each of them.
func ofRank(series []sample, rank engine.Rank, shared bool) []sample {
	n := rank.String()
	if n == "" {
		return series
	}
	return slices.DeleteFunc(series, func(s sample) bool {
		of := cmp.Or(s.label("dp_rank"), s.label("engine"))
		return of != n && (of != "" || !shared)
	})
}

// samples returns one sample for each data-parallel rank and, of info metrics, each set of labels. What cannot be a
// count is left out.
func samples(series []sample) []sample {
	out := series[:0]
	at := make(map[string]int)
	for _, s := range series {
		if math.IsNaN(s.value) || s.value < 0 || s.value > 1<<53 {
			continue
		}
		key := s.rank()
		if i, again := at[key]; again {
			out[i].value = max(out[i].value, s.value)
			continue
		}
		at[key] = len(out)
		out = append(out, s)
	}
	return out
}
