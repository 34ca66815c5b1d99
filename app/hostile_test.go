package app_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// hostileBodies are made to be dear to read.
func hostileBodies() map[string]string {
	many := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	chat := func(content string) string { return `{"messages":[{"role":"user","content":"` + content + `"}]}` }
	member := func(m string) string { return strings.Replace(chat("x"), "{", "{"+m+",", 1) }
	rng := rand.New(rand.NewPCG(1, 2))
	letters := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(byte('a' + rng.IntN(26)))
		}
		return b.String()
	}
	call := `{"type":"function","function":{"name":"f","arguments":"{\"a\":[[[{}]],0]}"}}`
	return map[string]string{
		"letters": chat(letters(200_000)),
		"tool calls": `{"messages":[{"role":"assistant","content":null,"tool_calls":[` +
			strings.Repeat(call+",", 3000) + call + `]}]}`,
		"tools": member(`"tools":[` +
			strings.TrimSuffix(strings.Repeat(`{"type":"function","function":{"name":"f","parameters":{"a":[0,0,0]}}},`,
				3000), ",") + `]`),
		"template's own":   member(`"chat_template_kwargs":{` + many(`"%d":[[]],`, 20_000) + `}`),
		"deep arrays":      member(`"x":` + strings.Repeat("[", 200_000)),
		"deep objects":     strings.Repeat(`{"a":`, 60_000),
		"100k members":     member(many(`"%d":0,`, 100_000)),
		"repeated members": member(strings.Repeat(`"a":0,`, 50_000) + `"b":0`),
		"escaped names":    member(many(`"\u0061%d":0,`, 30_000)),
		"many messages": `{"messages":[` + strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"x"},`,
			4096), ",") + `]}`,
		"too many messages": `{"messages":[` + strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"x"},`,
			30_000), ",") + `]}`,
		"empty parts": `{"messages":[{"role":"user","content":[` + strings.Repeat(`{},`, 60_000) + `{}]}]}`,
		"text parts": `{"messages":[{"role":"user","content":[` +
			strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"x"},`, 4000), ",") + `]}]}`,
		"no messages":        `{"messages":[` + strings.Repeat(`0,`, 100_000) + `0]}`,
		"one word":           chat(strings.Repeat("x", 200_000)),
		"one-letter words":   chat(strings.Repeat("x ", 100_000)),
		"marks":              chat(strings.Repeat("⟦a:1⟧", 20_000)),
		"spaces":             chat(strings.Repeat(" ", 200_000)),
		"new lines":          chat(strings.Repeat(`\n`, 100_000)),
		"escapes":            chat(strings.Repeat(`\u00e9`, 40_000)),
		"pairs of escapes":   chat(strings.Repeat(`\ud83d\ude00`, 20_000)),
		"backslashes":        chat(strings.Repeat(`\\`, 100_000)),
		"quotes":             chat(strings.Repeat(`\"`, 100_000)),
		"code":               chat(strings.Repeat(`template<class T> struct A { std::vector<T> v; };\n`, 4000)),
		"open braces":        chat(strings.Repeat("{(<[", 50_000)),
		"open comments":      chat(strings.Repeat("/*", 100_000)),
		"open strings":       chat(strings.Repeat(`\"'`, 60_000)),
		"diagnostics":        chat(strings.Repeat(`a.cpp:1:1: error: x\n`, 10_000)),
		"token ids":          `{"prompt":[` + strings.Repeat(`0,`, 100_000) + `0]}`,
		"many prompts":       `{"prompt":[` + strings.Repeat(`"",`, 60_000) + `""]}`,
		"lists of token ids": `{"prompt":[` + strings.Repeat(`[0],`, 50_000) + `[0]]}`,
		"long number":        member(`"temperature":0.` + strings.Repeat("0", 200_000)),
		"long model":         member(`"model":"` + strings.Repeat("m", 200_000) + `"`),
		"long stop":          member(`"stop":[` + strings.Repeat(`"x",`, 50_000) + `"x"]`),
		"long role":          `{"messages":[{"role":"` + strings.Repeat("r", 200_000) + `","content":"x"}]}`,
		"no UTF-8":           chat(strings.Repeat("\xff", 100_000)),
		"nothing":            strings.Repeat(" ", 200_000),
		"no JSON":            strings.Repeat("x", 200_000),
		"snippets":           member(`"repo_snippets":[` + strings.Repeat(`"",`, 60_000) + `""]`),
		"empty snippets":     member(`"repo_snippets":[` + strings.Repeat(`"",`, 4000) + `""]`),
		"short outputs":      member(`"tool_outputs":[` + strings.Repeat(`"\u00e9",`, 4000) + `""]`),
	}
}

// Promise 3: whatever a client sends, what the gateway allocates to read, decide and route it is no more than 100 times
// its size; and nothing is dialled for what is refused.
func TestNoInputCostsMoreThanAHundredTimesItsSize(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "fleet.probe_interval=1h")
	withinAHundredTimes(t, w)
	dialled := int32(0)
	data := w.App.Server().DataHandler()
	for _, e := range w.Engines {
		dialled -= e.Conns.Load()
	}
	for name, body := range hostileBodies() {
		r, rec := posted("/v1/route", body), httptest.NewRecorder()
		if data.ServeHTTP(rec, r); rec.Code == 200 {
			continue
		}
		r, rec = posted("/v1/chat/completions", body), httptest.NewRecorder()
		if data.ServeHTTP(rec, r); rec.Code != 400 && rec.Code != 404 {
			t.Errorf("%s: status %d", name, rec.Code)
		}
	}
	for _, e := range w.Engines {
		dialled += e.Conns.Load()
	}
	if dialled != 0 {
		t.Errorf("%d connections to engines were opened for what was refused", dialled)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// The same where prompts are rendered and tokenized in the gateway.
func TestNoInputCostsMoreThanAHundredTimesItsSizeInTokens(t *testing.T) {
	engines := smallEngines()
	for i := range engines {
		engines[i].Tokenizer = bpeFile
	}
	w := newWorld(t, smallWorld, engines, "specialists[0].tokenizer="+bpeFile, "specialists[1].tokenizer="+bpeFile,
		"fleet.probe_interval=1h", "specialists[0].context=1048576",
		"specialists[0].tokenizer_check=0", "limits.tokenizer_cache=1MiB")
	withinAHundredTimes(t, w)
	if s, _ := w.App.Tokenizers().Cache(); s.Prompts < 10 {
		t.Error("hardly a prompt was tokenized")
	}
}

func withinAHundredTimes(t *testing.T, w *world) {
	t.Helper()
	data := w.App.Server().DataHandler()
	route := func(body string) (int, uint64) {
		r, rec := posted("/v1/route", body), httptest.NewRecorder()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		data.ServeHTTP(rec, r)
		runtime.ReadMemStats(&after)
		return rec.Code, after.TotalAlloc - before.TotalAlloc
	}
	route(hello) // pools and tables
	worst := 0.0
	for name, body := range hostileBodies() {
		status, bytes := route(body)
		times := float64(bytes) / float64(len(body))
		if worst = max(worst, times); times > 100 || status != 200 && status != 400 && status != 404 {
			t.Errorf("%s: status %d, %.1f bytes allocated for each byte of %d", name, status, times, len(body))
		}
	}
	t.Logf("at most %.1f bytes for a byte", worst)
}

// posted is a request for an answer, as a client sends it.
func posted(path, body string) *http.Request {
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}
