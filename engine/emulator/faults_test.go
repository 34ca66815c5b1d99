package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"octet/engine/emulator"
)

// outcome is what a client saw of one answer.
type outcome struct {
	status int    // 0 when there was no answer
	text   string // of the tokens that arrived, or the whole body when not streamed
	done   bool   // [DONE] came
	failed bool   // an error object came
	broken bool   // the connection ended before the body did
}

// meet sends one request of 6 tokens and reports what came of it within wait.
func (r *rig) meet(wait time.Duration, stream bool) (o outcome) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), wait)
	defer cancel()
	resp, err := r.post(ctx, "/v1/completions", "f",
		fmt.Sprintf(`{"model":"debug","max_tokens":6,"prompt":"p","stream":%v}`, stream))
	if err != nil {
		return outcome{broken: true}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	o = outcome{status: resp.StatusCode, broken: err != nil, text: string(b)}
	if !stream {
		return o
	}
	o.text = ""
	for _, event := range strings.Split(string(b), "\n\n") {
		switch data := strings.TrimPrefix(event, "data: "); {
		case data == "[DONE]":
			o.done = true
		case strings.Contains(data, `"error"`):
			o.failed = true
		case strings.Contains(data, "not json"):
			o.text += "garbage"
		case strings.HasPrefix(data, `{"id"`):
			o.text += decode(r.t, data).Choices[0].Text
		}
	}
	return o
}

const patience = 40 * time.Millisecond // until a client gives up on an engine that hangs

// Every kind of fault, on a stream.
func TestFaultsStrikeStreamsAsTheySay(t *testing.T) {
	three, all := marks("f", 0, 3), marks("f", 0, 6)
	for _, c := range []struct {
		fault emulator.Fault
		want  outcome
	}{
		{emulator.Fault{Kind: "die_before_headers"}, outcome{broken: true}},
		{emulator.Fault{Kind: "die_after_headers"}, outcome{status: 200, broken: true}},
		{emulator.Fault{Kind: "die_after_tokens", K: 3}, outcome{status: 200, text: three, broken: true}},
		{emulator.Fault{Kind: "die_after_tokens", K: 99}, outcome{status: 200, text: all, broken: true}},
		{emulator.Fault{Kind: "hang"}, outcome{broken: true}},
		{emulator.Fault{Kind: "hang_after_tokens", K: 3}, outcome{status: 200, text: three, broken: true}},
		{emulator.Fault{Kind: "garbage", K: 3}, outcome{status: 200, text: three + "garbage"}},
		{emulator.Fault{Kind: "error_event", K: 3}, outcome{status: 200, text: three, done: true, failed: true}},
		{emulator.Fault{Kind: "error_event", K: 6}, outcome{status: 200, text: all, done: true, failed: true}},
		{emulator.Fault{Kind: "slow"}, outcome{status: 200, text: all, done: true}},
		{emulator.Fault{Kind: "close", K: 3}, outcome{status: 200, text: three, broken: true}},
		{emulator.Fault{Kind: "cut", K: 3}, outcome{status: 200, text: three}},
		{emulator.Fault{Kind: "half_event", K: 3}, outcome{status: 200, text: three, broken: true}},
		{emulator.Fault{Kind: "bad_frame", K: 3}, outcome{status: 200, text: three, broken: true}},
		{emulator.Fault{Kind: "overrun", K: 2}, outcome{status: 200, text: marks("f", 0, 8), done: true}},
		{emulator.Fault{Kind: "status", K: 404}, outcome{status: 404, failed: true}},
		{emulator.Fault{Kind: "bad_head"}, outcome{broken: true}},
		{emulator.Fault{Kind: "half_head"}, outcome{broken: true}},
	} {
		t.Run(fmt.Sprint(c.fault.Kind, c.fault.K), func(t *testing.T) {
			r := armedRig(t, c.fault)
			if got := r.meet(wait(c.fault), true); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if got, want := r.meet(time.Minute, true), (outcome{status: 200, text: all, done: true}); got != want {
				t.Errorf("the next request: %+v", got)
			}
			r.quiet()
		})
	}
}

// Every kind of fault, on an answer in one piece.
func TestFaultsStrikeUnaryAnswersAsTheySay(t *testing.T) {
	for _, c := range []struct {
		fault  emulator.Fault
		status int
		broken bool
		holds  string // text that the body has
		lacks  string // and has not
	}{
		{emulator.Fault{Kind: "die_before_headers"}, 0, true, "", ""},
		{emulator.Fault{Kind: "die_after_headers"}, 200, true, "", "f"},
		{emulator.Fault{Kind: "die_after_tokens", K: 3}, 200, true, `{"id":"cmpl-f"`, "⟦f:5⟧"},
		{emulator.Fault{Kind: "hang"}, 0, true, "", ""},
		{emulator.Fault{Kind: "hang_after_tokens", K: 3}, 0, true, "", ""},
		{emulator.Fault{Kind: "garbage", K: 3}, 200, false, "not json", "cmpl-f"},
		{emulator.Fault{Kind: "error_event", K: 3}, 500, false, `{"error":{`, "cmpl-f"},
		{emulator.Fault{Kind: "error_event", K: 99}, 500, false, `{"error":{`, "cmpl-f"},
		{emulator.Fault{Kind: "slow"}, 200, false, marks("f", 0, 6), "error"},
	} {
		t.Run(fmt.Sprint(c.fault.Kind, c.fault.K), func(t *testing.T) {
			r := armedRig(t, c.fault)
			got := r.meet(wait(c.fault), false)
			if got.status != c.status || got.broken != c.broken || !strings.Contains(got.text, c.holds) ||
				c.lacks != "" && strings.Contains(got.text, c.lacks) {
				t.Errorf("got %+v", got)
			}
			if got := r.meet(time.Minute, false); got.status != 200 || !strings.Contains(got.text, marks("f", 0, 6)) {
				t.Errorf("the next request: %+v", got)
			}
			r.quiet()
		})
	}
}

func armedRig(t *testing.T, f emulator.Fault) *rig {
	c := fast()
	f.Times = 1
	c.Faults = []emulator.Fault{f}
	return start(t, c)
}

func wait(f emulator.Fault) time.Duration {
	if strings.HasPrefix(f.Kind, "hang") {
		return patience
	}
	return time.Minute
}

func TestFaultsAreArmedListedAndClearedOverHTTP(t *testing.T) {
	r := start(t, fast())
	send := func(method, body string) (int, string) {
		req, _ := http.NewRequestWithContext(t.Context(), method, r.url+"/admin/faults", strings.NewReader(body))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	for _, c := range []struct {
		method, body string
		status       int
		answer       string
	}{
		{"POST", `{"kind":"explode"}`, 400, "BadRequestError"},
		{"POST", `{"kind":"slow","k":-1}`, 400, "negative"},
		{"POST", `{"kind":`, 400, "invalid JSON"},
		{"POST", `{"kind":"die_after_tokens","k":3}`, 200, `{"faults":[{"kind":"die_after_tokens","k":3,"times":1}]}`},
		{"POST", `{"kind":"error_event","times":0}`, 200, `"kind":"error_event","k":0,"times":0`},
		{"GET", "", 200, `"times":1},{`},
	} {
		if status, answer := send(c.method, c.body); status != c.status || !strings.Contains(answer, c.answer) {
			t.Errorf("%s %s: %d %s", c.method, c.body, status, answer)
		}
	}
	if got := r.meet(time.Minute, true); !got.broken || got.text != marks("f", 0, 3) {
		t.Errorf("the first: %+v", got)
	}
	for range 3 {
		if got := r.meet(time.Minute, true); !got.failed {
			t.Errorf("a later one: %+v", got)
		}
	}
	if status, answer := send("DELETE", ""); status != 200 || answer != `{"faults":[]}` {
		t.Errorf("DELETE: %d %s", status, answer)
	}
	if got := r.meet(time.Minute, true); !got.done || got.failed {
		t.Errorf("after clearing: %+v", got)
	}
}

func TestAFaultStrikesAsOftenAsItSays(t *testing.T) {
	c := fast()
	c.Faults = []emulator.Fault{{Kind: emulator.ErrorEvent, Times: 2}, {Kind: emulator.DieAfterHeaders, Times: 1}}
	r := start(t, c)
	for i, want := range []outcome{{failed: true}, {failed: true}, {broken: true}, {}} {
		if got := r.meet(time.Minute, true); got.failed != want.failed || got.broken != want.broken {
			t.Errorf("request %d: %+v", i, got)
		}
	}
}

func TestAFaultEndsAllChoicesOfItsRequest(t *testing.T) {
	r := armedRig(t, emulator.Fault{Kind: emulator.ErrorEvent, K: 4})
	resp, err := r.post(t.Context(), "/v1/completions", "", `{"prompt":"p","n":3,"max_tokens":50,"stream":true}`)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r.quiet()
	if chunks, done, err := readEvents(t, resp.Body); len(chunks) != 5 || chunks[4].Error == nil || !done ||
		err != nil {
		t.Errorf("%d chunks, done %v, %v", len(chunks), done, err)
	}
}

func TestADeathIsAResetAndNotAnEnd(t *testing.T) {
	r := armedRig(t, emulator.Fault{Kind: emulator.DieAfterTokens, K: 2})
	resp, err := r.post(t.Context(), "/v1/completions", "", `{"prompt":"p","stream":true}`)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the body ended with %v", err)
	}
}

func TestAHangEndsWithTheEngine(t *testing.T) {
	c := fast()
	c.Faults = []emulator.Fault{{Kind: emulator.Hang}}
	e, err := emulator.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, hung := startServer(t, e), make(chan error, 1)
	go func() {
		_, err := http.Post(s+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"p"}`))
		hung <- err
	}()
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := e.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	if err := <-hung; err == nil {
		t.Error("a hanging request was answered")
	}
	resp, err := http.Get(s + "/health")
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("health of a stopped engine: %v, %v", resp, err)
	}
}
