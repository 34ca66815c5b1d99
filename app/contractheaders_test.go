package app_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// always are the headers of every answer, and what each looks like, to the letter.
var always = map[string]string{
	"X-Request-Id": `h\d+`, "X-Receipt-Id": `[0-9a-f]{32}`, "X-Specialist": `debug|systems`,
	"X-Replica": `[0-9a-f]{1,8}`, "X-Routed-By": `model|intent|classifier`,
	"X-Attempts": `1`, "X-Queue-Ms": `\d+`, "X-Cached-Tokens": `\d+`, "X-SLO-Window": `5m, samples=\d+, age=\d+`,
}

// measured are those that are there once enough was seen.
var measuredHeaders = map[string]string{
	"X-SLO-TTFT-Ms": `p50=\d+, p95=\d+, p99=\d+`, "X-SLO-ITL-Ms": `p50=\d+, p95=\d+, p99=\d+`,
	"X-SLO-Admission-TTFT-P95-Ms": `\d+`,
	"X-SLO-Correctness":           `rate=0\.750, floor=0\.500, samples=4, window=24h`,
	"X-SLO-Compile-Pass":          `rate=0\.750, samples=4, window=24h`,
	"X-SLO-Preempted-Once":        `0\.\d{3}`,
}

// MEGA-51, MEGA-52, MEGA-53, MEGA-54, MEGA-55, MEGA-56, MEGA-57: the response headers of the contract in full, as they
// stand on the wire: each in its form, once, in its case; what has too few samples is absent, and so is whatever an
// engine says of itself.
//
//nolint:lll // raw text that cannot be broken
func TestEveryResponseHeaderStandsOnTheWireAsTheContractSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Adapters: []string{"gdb-v2"}},
			{Name: "systems-0", Model: "systems"}})
		b.Serve(`
auth: {anonymous: true, tenants: [{name: judge, key_sha256: ` + keySHA + `}]}
intents: {review: {shadow_threshold: 0.85}}
specialists:
  - {name: debug, tokenizer: builtin, adapters: [{name: gdb-v2}], slo: {min_samples: 4, correctness: {floor: 0.5, min_samples: 4}}, replicas: [{name: debug-0, url: "http://debug-0"}]}
  - {name: systems, tokenizer: builtin, replicas: [{name: systems-0, url: "http://systems-0"}]}
`)
		time.Sleep(2 * time.Second)
		h := headings{b: b}
		h.holds("nothing is known yet", customer{stream: true, model: "debug", text: "x", tokens: 8}, always)
		for i := range 4 {
			receipt := h.of(customer{stream: true, model: "debug", text: "x", tokens: 8})["X-Receipt-Id"]
			resp, err := b.Ask(t.Context(), "POST", "http://data/v1/outcomes",
				fmt.Sprintf(`{"receipt":%q,"kind":"compile","pass":%t}`, receipt, i > 0), "Authorization",
				"Bearer "+key)
			if err != nil || resp.StatusCode >= 300 {
				t.Fatalf("%v %v", resp, err)
			}
			_ = resp.Body.Close() // the status is all
		}
		time.Sleep(time.Second)
		all := maps.Clone(always)
		maps.Copy(all, measuredHeaders)
		for _, stream := range []bool{true, false} {
			h.holds("all is known", customer{stream: stream, model: "debug", text: "x", tokens: 8}, all)
		}
		withAdapter := maps.Clone(all)
		withAdapter["X-Adapter"] = "gdb-v2"
		withAdapter["X-SLO-Window"] = always["X-SLO-Window"]
		h.holds("an adapter", customer{model: "debug:gdb-v2", text: "x", tokens: 8}, withAdapter)
		unsure := maps.Clone(always)
		unsure["X-Confidence"], unsure["X-Shadow"], unsure["Server-Timing"] = `0\.\d{3}`, "debug",
			`route;dur=[\d.]+, queue;dur=[\d.]+, first;dur=[\d.]+`
		h.holds("an unsure one", customer{model: "octet", text: unsureOfSystems, tokens: 8}, unsure, "X-Intent: review",
			"X-Explain: 1")
	})
}

// headings asks and looks at the heads of answers.
type headings struct {
	b     *bubble
	asked int
}

// of returns the lines of a head that begin with X-, and those of ours that do not.
func (h *headings) of(q customer, lines ...string) map[string]string {
	h.b.T.Helper()
	conn, err := h.b.Dial(h.b.T.Context(), "http://data")
	if err != nil {
		h.b.T.Fatal(err)
	}
	defer conn.Close()
	h.asked++
	body := q.body()
	lines = append(lines, "Host: data", "Authorization: Bearer "+key, "Connection: close",
		"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)),
		fmt.Sprint("X-Request-Id: h", h.asked))
	if _, err := io.WriteString(conn,
		"POST /v1/chat/completions HTTP/1.1\r\n"+strings.Join(lines, "\r\n")+"\r\n\r\n"+body); err != nil {
		h.b.T.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") {
		h.b.T.Fatalf("%v: %s", err, answer)
	}
	got := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(string(answer))); lines.Scan() && lines.Text() != ""; {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		if _, twice := got[name]; twice {
			h.b.T.Errorf("%s stands there twice", name)
		}
		if strings.HasPrefix(name, "X-") && name != "X-Accel-Buffering" || strings.HasPrefix(name, "Serv") {
			got[name] = value
		}
	}
	return got
}

func (h *headings) holds(when string, q customer, want map[string]string, lines ...string) {
	h.b.T.Helper()
	got := h.of(q, lines...)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !regexp.MustCompile("^(" + want[name] + ")$").MatchString(got[name]) {
			h.b.T.Errorf("%s: %s is %q", when, name, got[name])
		}
		delete(got, name)
	}
	if len(got) > 0 {
		h.b.T.Errorf("%s: there also are %v", when, got)
	}
}
