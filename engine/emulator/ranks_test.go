package emulator_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"octet/engine/emulator"
	"octet/routing/events"
)

// startRanks runs an engine of so many ranks.
func startRanks(t *testing.T, n int) (*emulator.Ranks, string) {
	t.Helper()
	e, err := emulator.NewRanks(fast(), make([]events.Publisher, n))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	s := httptest.NewServer(e.Handler())
	t.Cleanup(func() {
		s.Close()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ran until %v", err)
		}
	})
	return e, s.URL
}

// say sends a request, whose rank is a header's unless that is empty, and returns status and body.
func say(t *testing.T, method, url, rank, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if rank != "" {
		r.Header.Set("X-data-parallel-rank", rank)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

func TestARankIsAskedByHeaderOrBody(t *testing.T) {
	e, url := startRanks(t, 3)
	const prompt = `"model":"debug","max_tokens":2,"prompt":"one two three four five six seven eight nine ten"`
	cached := func() (all [3]int) {
		for i, r := range e.All() {
			all[i] = r.State().Cached
		}
		return all
	}
	for _, row := range []struct {
		header, member string
		rank           int
	}{{"1", "", 1}, {"", `,"routed_dp_rank":2`, 2}, {"0", "", 0}} {
		before := cached()
		if code, body := say(t, "POST", url+"/v1/completions", row.header, "{"+prompt+row.member+"}"); code != 200 {
			t.Fatalf("%d %s", code, body)
		}
		for i, n := range cached() {
			if (n > before[i]) != (i == row.rank) {
				t.Errorf("%+v: rank %d has %d blocks, had %d", row, i, n, before[i])
			}
		}
	}
	for _, bad := range []string{"3", "-1", "x", "99999999999999999999"} {
		code, body := say(t, "POST", url+"/v1/completions", bad, "{"+prompt+"}")
		if code != 400 || !strings.Contains(body, `"BadRequestError"`) ||
			!strings.Contains(body, "out of range [0, 3)") {
			t.Errorf("rank %s: %d %s", bad, code, body)
		}
	}
	if code, _ := say(t, "POST", url+"/v1/completions", "", "{"+prompt+`,"routed_dp_rank":7}`); code != 400 {
		t.Errorf("rank 7 by the body: %d", code)
	}
	if code, body := say(t, "POST", url+"/v1/completions", "", "{"+prompt+"}"); code != 200 {
		t.Errorf("no rank: %d %s", code, body)
	}
	_, page := say(t, "GET", url+"/metrics", "", "")
	for _, series := range []string{`vllm:num_requests_running{engine="0"`, `vllm:num_requests_running{engine="2"`,
		`vllm:cache_config_info{block_size="4",engine="1"`} {
		if !strings.Contains(page, series) {
			t.Errorf("the metrics have no %s", series)
		}
	}
	if code, _ := say(t, "POST", url+"/reset_prefix_cache", "1", ""); code != 200 {
		t.Errorf("reset: %d", code)
	}
	if code, _ := say(t, "POST", url+"/sleep", "", ""); code != 200 {
		t.Errorf("sleep: %d", code)
	}
	for i := range e.All() {
		if code, _ := say(t, "POST", url+"/v1/completions", string(rune('0'+i)), "{"+prompt+"}"); code != 503 {
			t.Errorf("rank %d of an engine that sleeps: %d", i, code)
		}
	}
	code, state := say(t, "GET", url+"/admin/state", "2", "")
	if code != 200 || !strings.Contains(state, "debug-0-r2") {
		t.Errorf("%d %s", code, state)
	}
}

func TestRanksThatCannotBeAreRefused(t *testing.T) {
	if _, err := emulator.NewRanks(fast(), nil); !errors.Is(err, emulator.ErrConfig) {
		t.Errorf("no ranks: %v", err)
	}
	c := fast()
	c.Mode = emulator.ModePrefill
	if _, err := emulator.NewRanks(c, make([]events.Publisher, 2)); !errors.Is(err, emulator.ErrConfig) {
		t.Errorf("one of a pair: %v", err)
	}
}
