package openai

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"octet/engine"
	"octet/internal/allocs"
	"octet/internal/race"
)

// readers are what an answer of an engine's may be read as.
var readers = map[string]func([]byte) error{
	"models": func(text []byte) error {
		var list struct {
			Data modelList `json:"data"`
		}
		return readAnswer(text, &list)
	},
	"tokens":  func(text []byte) error { _, err := appendTokens(nil, text); return err },
	"metrics": func(text []byte) error { _, err := parseMetrics(text, engine.Rank{}); return err },
	"member":  func(text []byte) error { hasMember(text, "tp_size"); return nil },
	"error":   func(text []byte) error { statusError(400, text); return nil },
}

// allowed is what reading an answer of that many bytes may allocate.
func allowed(bytes int) uint64 { return 20*uint64(bytes) + 1<<20 }

func manyNames(n int) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		fmt.Fprintf(&b, `"%x":0,`, i)
	}
	return b.String() + `"tp_size":8}`
}

// series are so many of a metric that is read, with so many labels each.
func series(lines, labels int) string {
	var b strings.Builder
	for i := range labels {
		fmt.Fprintf(&b, `a%x="",`, i)
	}
	return strings.Repeat("vllm:num_requests_running{"+b.String()+"} 1\n", lines)
}

func TestAnswersAllocateByTheirBytes(t *testing.T) {
	race.Skip(t)
	const half = maxAnswer / 2
	short := strings.Repeat("vllm:num_preemptions 1\n", 300_000)
	for name, text := range map[string]string{
		"empty models":       `{"data":[{}` + strings.Repeat(",{}", half/3) + `]}`,
		"models allowed":     `{"data":[{}` + strings.Repeat(",{}", maxModels-1) + `]}`,
		"named models":       `{"data":[{"id":"a"}` + strings.Repeat(`,{"id":"a"}`, half/11) + `]}`,
		"deep":               strings.Repeat(`{"data":`, 9000) + "[]" + strings.Repeat("}", 9000),
		"many names":         manyNames(half / 9),
		"names in a model":   `{"data":[` + manyNames(half/9) + `]}`,
		"lists in lists":     `{"tp_size":[` + strings.Repeat("[],", half/3) + `[]],"tokens":[]}`,
		"names in tokens":    manyNames(3_000_000),
		"ids":                `{"tokens":[1` + strings.Repeat(",1", maxIDs-1) + `]}`,
		"ids over the bound": `{"tokens":[1` + strings.Repeat(",1", maxIDs+1) + `]}`,
		"labels":             series(1, 1<<20),
		"short series":       short,
		"series allowed":     series(maxSeries, 0),
		"labels allowed":     series(maxSeries, 128),
		"labels of many":     series(40_000, 30),
		"names of adapters": `vllm:lora_requests_info{max_lora="4",running_lora_adapters="` + strings.Repeat("a,",
			1<<20) + `",waiting_lora_adapters=""} 1` + "\n",
	} {
		for as, read := range readers {
			t.Run(name+" as "+as, func(t *testing.T) {
				body := []byte(text)
				var err error
				if got := allocs.Least(func() { err = read(body) }); got > allowed(len(body)) {
					t.Errorf("%d bytes made %d, %.1f times as many (%v)", len(body), got,
						float64(got)/float64(len(body)), err)
				}
			})
		}
	}
}

func TestAnswersOverACountAreRefused(t *testing.T) {
	ctx := context.Background()
	c, _ := page(t, "vllm", map[string]string{
		"GET /v1/models": `{"data":[{}` + strings.Repeat(",{}", maxModels) + `]}`,
		"POST /tokenize": `{"tokens":[1` + strings.Repeat(",1", maxIDs) + `]}`,
		"GET /metrics":   strings.Repeat("vllm:num_preemptions 1\n", maxSeries+1),
	})
	if _, err := c.Models(ctx); !errors.Is(err, engine.ErrProtocol) || !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("models: %v", err)
	}
	if ids, err := c.Tokenize(ctx, []uint32{7}, []byte("{}")); len(ids) != 1 || !errors.Is(err, engine.ErrProtocol) ||
		!errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("tokens: %d, %v", len(ids), err)
	}
	if _, err := c.Scrape(ctx); !errors.Is(err, engine.ErrProtocol) || !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("metrics: %v", err)
	}
	c, _ = page(t, "vllm", map[string]string{"GET /v1/models": `{"data":[{"id":"x"}` + strings.Repeat(`,{"id":"a"}`,
		maxModels-1) + `]}`})
	if list, err := c.Models(ctx); len(list) != maxModels || err != nil {
		t.Errorf("%d models, %v", len(list), err)
	}
}

func FuzzAnswersAllocateByWhatCame(f *testing.F) {
	for _, text := range []string{
		`{"data":[{"id":"a","max_model_len":8192},{}]}`, `{"tokens":[1,2],"count":2}`, `{"error":{"message":"no"}}`,
		`{"tp_size":8}`,
		"vllm:num_requests_running{engine=\"0\"} 1.0\n",
		`vllm:lora_requests_info{max_lora="4",running_lora_adapters="a,b"} 1` + "\n",
	} {
		f.Add([]byte(text), uint16(1))
		f.Add([]byte(text), uint16(50))
	}
	f.Fuzz(func(t *testing.T, piece []byte, times uint16) {
		if len(piece) == 0 {
			return
		}
		n := min(1+int(times), max(1, (64<<10)/len(piece)))
		repeated := strings.Repeat(string(piece), n)
		for _, text := range []string{repeated, `{"data":[` + repeated + `{}]}`, `{"tokens":[` + repeated + `1]}`,
			"vllm:num_requests_running{" + repeated + "} 1\n"} {
			body := []byte(text)
			for as, read := range readers {
				if got := allocs.Least(func() { _ = read(body) }); got > allowed(len(body)) {
					t.Errorf("%s: %d bytes made %d: %.100q", as, len(body), got, body)
				}
			}
		}
	})
}
