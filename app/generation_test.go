package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/config"
	"octet/engine/emulator"
	"octet/routing/index"
	"octet/routing/plugins"
)

// Generations: what is in a slot changes under requests that an earlier configuration has admitted. They are answered
// by that one's replicas.

// reload brings a configuration in force.
func (w *world) reload(yaml string, args ...any) {
	w.T.Helper()
	cfg, err := config.Parse("next.yaml", fmt.Appendf(nil, yaml, args...),
		config.Options{Presets: plugins.Presets(), Sets: w.Sets()})
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.App.Apply(w.T.Context(), cfg); err != nil {
		w.T.Fatal(err)
	}
}

// vacated waits until no slot that a reload has given back is still being swept.
func (w *world) vacated() {
	w.T.Helper()
	eventually(w.T, "the slots are free again", func() bool {
		for h := range len(w.Replicas()) + 1 {
			if id := index.HostID(h); !w.App.Fabric().Index().Alive().Has(id) && !w.App.Fabric().Index().Reusable(id) {
				return false
			}
		}
		return true
	})
}

// slow is a request whose body stops half way until it is told to go on.
type slow struct {
	t       *testing.T
	conn    net.Conn
	answers *bufio.Reader
	rest    string
}

// begin sends the head, and half of the body once the gateway has asked for it: by then a configuration has admitted
// the request.
func (w *world) begin(t *testing.T, path, body string, fields ...string) *slow {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.Data, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	head := fmt.Sprintf(
		"POST %s HTTP/1.1\r\nHost: octet\r\nContent-Type: application/json\r\nExpect: "+
			"100-continue\r\nContent-Length: %d\r\n", path, len(body))
	for _, f := range fields {
		head += f + "\r\n"
	}
	answers := bufio.NewReader(conn)
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatal(line, err)
	}
	if _, err := answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, body[:len(body)/2]); err != nil {
		t.Fatal(err)
	}
	return &slow{t, conn, answers, body[len(body)/2:]}
}

// finish sends the rest and reads the answer.
func (s *slow) finish() (*http.Response, string) {
	s.t.Helper()
	defer s.conn.Close()
	if _, err := io.WriteString(s.conn, s.rest); err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.ReadResponse(s.answers, &http.Request{Method: "POST"})
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, string(text)
}

// from is an engine that says its name.
//
//nolint:lll // raw text that cannot be broken
func from(t *testing.T, name string) string {
	t.Helper()
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"object":"list","data":[]}`)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprintf(
			w,
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"from %s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, name)
	}))
	t.Cleanup(engine.Close)
	return engine.URL
}

// The slots of three generations, in which the first two have a place each: open and private; open alone; open, where
// private was.
const (
	openAndPrivate = `
auth: {anonymous: true, tenants: [{name: acme, key_sha256: ` + keySHA + `, specialists: [open]}]}
fleet: {probe_interval: 50ms}
specialists:
  - {name: open, tokenizer: none, replicas: [{url: '%s', engine: openai}]}
  - {name: private, tokenizer: none, replicas: [{url: '%s', engine: openai}]}
`
	privateAndOpen = `
auth: {anonymous: true, tenants: [{name: acme, key_sha256: ` + keySHA + `, specialists: [open]}]}
fleet: {probe_interval: 50ms}
specialists:
  - {name: private, tokenizer: none, replicas: [{url: '%[2]s', engine: openai}]}
  - {name: open, tokenizer: none, replicas: [{url: '%[1]s', engine: openai}]}
`
	openAlone = `
auth: {anonymous: true, tenants: [{name: acme, key_sha256: ` + keySHA + `, specialists: [open]}]}
fleet: {probe_interval: 50ms}
specialists:
  - {name: open, tokenizer: none, replicas: [{url: '%s', engine: openai}]}
`
)

// A tenant's request is answered by the replicas of the configuration that admitted it, though its body takes two
// reloads and what is in their slots by then is, or was, another tenant's.
//
//nolint:lll // raw text that cannot be broken
func TestABodyThatTakesTwoReloadsIsAnsweredByItsOwnSpecialist(t *testing.T) {
	open, private := from(t, "open"), from(t, "private")
	w := newWorld(t, fmt.Sprintf(openAndPrivate, open, private), nil)
	slow := w.begin(t, "/v1/chat/completions", `{"model":"open","messages":[{"role":"user","content":"mine"}]}`,
		"Authorization: Bearer "+key)
	was := w.Replica("private-0").Host
	w.reload(openAlone, open)
	w.vacated()
	w.reload(openAlone, from(t, "the next open"))
	if now := w.Replica("open-0").Host; now != was {
		t.Fatalf("slot %d is not used again but %d", was, now)
	}
	if resp, text := slow.finish(); resp.StatusCode != 200 || !strings.Contains(text, "from open") {
		t.Errorf("status %d: %s", resp.StatusCode, text)
	}
	if resp, text := w.Post("/v1/chat/completions", `{"model":"open","messages":[{"role":"user","content":"mine"}]}`); !strings.Contains(string(text), "from the next open") {
		t.Errorf("the next request: status %d: %s", resp.StatusCode, text)
	}
}

// A reload that gives a specialist another replica refuses no request that is on its way, and breaks no decision.
func TestABodyThatTakesAReloadIsAnswered(t *testing.T) {
	for path, want := range map[string]string{"/v1/chat/completions": "from open", "/v1/route": `"replica":"open-0"`} {
		w := newWorld(t, fmt.Sprintf(openAlone, from(t, "open")), nil)
		slow := w.begin(t, path, `{"model":"open","messages":[{"role":"user","content":"mine"}]}`)
		w.reload(openAlone, from(t, "the next open"))
		if resp, text := slow.finish(); resp.StatusCode != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: status %d: %s", path, resp.StatusCode, text)
		}
	}
}

// debugAlone are two replicas of one specialist.
//
//nolint:lll // raw text that cannot be broken
const debugAlone = `
auth: {anonymous: true}
fleet: {probe_interval: 50ms}
limits: {idle_timeout: 1m, retry_budget: 1}
specialists:
  - {name: debug, tokenizer: builtin, context: 4096, adapters: [{name: gdb-v2}], replicas: [{url: '%s', blocks: 512, forward_priority: true}, {url: '%s', blocks: 512, forward_priority: true}]}
`

// A stream whose engine dies goes on at the other replica of the configuration that admitted it, not at what has had
// the slots since.
func TestATakeoverAfterTwoReloadsStaysWithItsGeneration(t *testing.T) {
	w := newWorld(t, smallWorld, speaking(emulator.TextIndex), "limits.idle_timeout=1m", "limits.retry_budget=1")
	body := continuable["/v1/chat/completions"]
	dying := w.next(body)
	w.Fault(dying, `{"kind":"hang_after_tokens","k":5,"times":1}`)
	resp := w.Ask(t.Context(), "/v1/chat/completions", body, "X-Request-Id", "cut")
	var read strings.Builder
	lines := bufio.NewReader(resp.Body)
	for !strings.Contains(read.String(), "cut:4") {
		line, err := lines.ReadString('\n')
		if read.WriteString(line); err != nil {
			t.Fatal(err, read.String())
		}
	}
	was := w.Replica("systems-0").Host
	w.reload(debugAlone, w.Engines["debug-0"].URL, w.Engines["debug-1"].URL)
	w.vacated()
	w.reload(debugAlone, from(t, "another"), from(t, "a third"))
	if now := w.Replica("debug-0").Host; now != was {
		t.Fatalf("slot %d is not used again but %d", was, now)
	}
	w.Engines[dying].Kill()
	rest, err := io.ReadAll(lines)
	s := readStream(strings.NewReader(read.String() + string(rest)))
	r := w.receiptOf(resp.Header)
	if err != nil || !s.done || s.text != indexText("cut", 40) || len(r.Attempts) != 2 ||
		r.Attempts[1].Replica == dying || !strings.HasPrefix(r.Attempts[1].Replica, "debug-") {
		t.Errorf("%v, %+v, attempts %+v", err, s, r.Attempts)
	}
}

// Two hundred reloads, each of which moves every replica to a slot that another specialist's has left, refuse and
// misdirect nothing: short requests, and bodies that take some reloads.
func TestTwoHundredReloadsUnderLoadMisdirectNothing(t *testing.T) {
	reloads := 200
	if testing.Short() {
		reloads = 30
	}
	var engines [2][2]string
	for i := range engines {
		engines[i] = [2]string{from(t, "open"), from(t, "private")}
	}
	w := newWorld(t, fmt.Sprintf(openAndPrivate, engines[0][0], engines[0][1]), nil)
	var clients sync.WaitGroup
	var over atomic.Bool
	var answered atomic.Int64
	for i := range 6 {
		model, bearer := [2]string{"open", "private"}[i%2],
			[2]string{"Authorization: Bearer " + key, "X-Priority: 0"}[i%2]
		clients.Go(func() {
			for !over.Load() {
				request := w.begin(t, "/v1/chat/completions",
					`{"model":"`+model+`","messages":[{"role":"user","content":"mine"}]}`, bearer)
				if i < 4 {
					time.Sleep(time.Duration(i) * 40 * time.Millisecond) // real time: reloads happen meanwhile
				}
				if resp, text := request.finish(); resp.StatusCode != 200 || !strings.Contains(text, "from "+model) {
					t.Errorf("%s: status %d: %s", model, resp.StatusCode, text)
				}
				answered.Add(1)
			}
		})
	}
	slots := map[index.HostID]map[string]bool{}
	for i := range reloads {
		at := engines[(i+1)%2]
		order := openAndPrivate // slots are given in the file's order
		if i/5%2 == 1 {
			order = privateAndOpen
		}
		w.reload(order, at[0], at[1])
		for name, r := range w.Replicas() {
			if slots[r.Host] == nil {
				slots[r.Host] = map[string]bool{}
			}
			slots[r.Host][name] = true
		}
		if i%5 == 0 {
			w.vacated()
		}
	}
	eventually(t, "as many answers as reloads", func() bool { return answered.Load() >= int64(reloads) })
	over.Store(true)
	clients.Wait()
	shared := 0
	for _, names := range slots {
		shared += len(names) / 2
	}
	if shared == 0 {
		t.Errorf("%d answers, %d of %d slots were used by both", answered.Load(), shared, len(slots))
	}
}
