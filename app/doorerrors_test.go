package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"octet/engine/emulator"
	"octet/gateway/apierr"
	"octet/gateway/doors"
	"octet/gateway/doors/doorstest"
	"octet/gateway/doors/messages"
	"octet/gateway/doors/responses"
)

// pageCode is a row of the page's table of errors.
type pageCode struct {
	status int
	types  [2]string // OpenAI's, and that of Messages
	code   apierr.Code
	seenAt map[string]bool // surfaces and modes
}

// pageCodes reads the table, which is made of the code.
func pageCodes(t *testing.T) map[apierr.Code]*pageCode {
	t.Helper()
	page, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[apierr.Code]*pageCode{}
	row := regexp.MustCompile("(?m)^\\| (\\d{3}) \\| `(\\w+)` \\| `(\\w+)` \\| `(\\w+)` \\|")
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		status, _ := strconv.Atoi(r[1])
		all[apierr.Code(r[2])] = &pageCode{status: status, code: apierr.Code(r[2]), types: [2]string{r[3], r[4]},
			seenAt: map[string]bool{}}
	}
	if len(all) < 30 {
		t.Fatalf("the page has %d codes", len(all))
	}
	return all
}

// typeAt returns the type that a surface gives a code.
func (c *pageCode) typeAt(s *surface) string {
	if s.name == "messages" {
		return c.types[1]
	}
	return c.types[0]
}

// Issue 20: every code is spelled in the shape of each door, as the whole answer and as the last event of a stream: its
// type, our code beside it, the message and the request's id.
func TestEveryCodeIsSpelledAtEachDoor(t *testing.T) {
	doorOf := map[string]doors.Door{"messages": messages.Door{}, "responses": responses.Door{}}
	for code, row := range pageCodes(t) {
		e := apierr.New(code, "messages[0].content", `no "way"`)
		if e.Status() != row.status {
			t.Errorf("%s has status %d, on the page %d", code, e.Status(), row.status)
		}
		for i := range surfaces {
			s := &surfaces[i]
			whole := e.AppendJSON(nil, "r1")
			event := append(append([]byte("data: "), whole...), "\n\n"...)
			if door := doorOf[s.name]; door != nil {
				_, answer, err := doorstest.Translate(door, s.body(ask("debug", "x", 4, true)))
				if err != nil {
					t.Fatal(err)
				}
				whole, event = door.AppendError(nil, e, "r1"), answer.Failure(e, "r1")
			}
			said, err := s.whole(whole)
			spelled(t, s, row, whole, said, err)
			said, err = s.stream(string(event))
			_, data, _ := strings.Cut(string(event), "data: ")
			spelled(t, s, row, []byte(data), said, err)
		}
	}
}

// spelled holds an error to have its code, its request's id and, unless Responses tells it as an event, its type.
func spelled(t *testing.T, s *surface, row *pageCode, body []byte, said *doorstest.Said, err error) {
	t.Helper()
	var e struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if bad := json.Unmarshal(body, &e); bad != nil {
		t.Fatalf("%s: %v in %s", s.name, bad, body)
	}
	event := s.name == "responses" && e.Type == "error"
	if err != nil || said.Code != string(row.code) || said.RequestID != "r1" || said.Done ||
		!event && (e.Error.Type != row.typeAt(s) || !strings.HasSuffix(e.Error.Message, `no "way"`)) {
		t.Errorf("%s: %v, %+v, want type %s: %s", s.name, err, said, row.typeAt(s), body)
	}
}

// provocation is what a client or an engine does for a code. Params are those of chat, Messages and Responses; one
// stands for all.
type provocation struct {
	code    apierr.Code
	params  []string
	ask     func(stream bool) *conversation // nil: a short question to systems
	change  func(body string) string
	more    []string // members
	headers []string
	fault   string // of the engine of systems
	before  bool   // no specialist is chosen yet; else it is the one that is asked for
	chat    bool   // of OpenAI's older doors alone
}

func putIn(member string) func(string) string {
	return func(body string) string { return "{" + member + "," + body[1:] }
}

func wordy(model, word string, n int) func(bool) *conversation {
	return func(stream bool) *conversation { return ask(model, strings.Repeat(word+" ", n), 9, stream) }
}

// provocations are of one world, where nothing else is asked meanwhile.
var provocations = []provocation{
	{code: apierr.InvalidJSON, before: true, change: func(body string) string { return body + "}" }},
	{code: apierr.DuplicateKey, before: true, change: putIn(`"model":"systems"`)},
	{code: apierr.JSONTooDeep, before: true, change: putIn(`"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40))},
	{code: apierr.InvalidUTF8, before: true, change: putIn("\"x\":\"\xff\"")},
	{code: apierr.InvalidRequest, before: true, change: func(string) string { return "[]" }},
	{code: apierr.UnsupportedParameter, before: true, params: []string{"audio"}, more: []string{"audio", "{}"}},
	{code: apierr.MissingParameter, before: true, params: []string{"messages", "messages", "input"},
		change: func(body string) string { return without(body, "messages", "input", "prompt") }},
	{code: apierr.InvalidValue, before: true, params: []string{"temperature"}, more: []string{"temperature", `"hot"`}},
	{code: apierr.InvalidValue, before: true, params: []string{"X-Priority"}, headers: []string{"X-Priority", "101"}},
	{code: apierr.ContextLength, params: []string{"max_tokens", "max_tokens", "max_output_tokens"},
		ask: func(stream bool) *conversation { return ask("debug", "x", 5000, stream) }},
	{code: apierr.ExceedsPool, ask: wordy("systems", "word", 9000)},
	{code: apierr.UnsupportedContent, params: []string{"messages[0].content[1]", "messages[0].content", "input[0]"},
		ask: func(stream bool) *conversation {
			c := ask("debug", "what is it", 4, stream)
			c.turns[0].image = "https://example.com/a.png"
			return c
		}},
	{code: apierr.ModelNotFound, before: true, params: []string{"model"},
		ask: func(stream bool) *conversation { return ask("gpt", "x", 4, stream) }},
	{code: apierr.IdempotencyConflict, before: true, params: []string{"Idempotency-Key"},
		headers: []string{"Idempotency-Key", "used"}},
	{code: apierr.PayloadTooLarge, before: true, ask: wordy("systems", "word", 14000)},
	{code: apierr.UnsupportedMediaType, before: true, params: []string{"Content-Type"},
		headers: []string{"Content-Type", "text/plain"}},
	{code: apierr.HeaderTooLarge, before: true, headers: []string{"X-Filler", strings.Repeat("x", 40<<10)}},
	{code: apierr.PriorityFloor, headers: []string{"X-Intent", "review", "X-Priority", "2"}},
	{code: apierr.DeadlineExceeded, headers: []string{"X-Deadline-Ms", "150"}, fault: `"hang"`},
	{code: apierr.QueueFull, fault: `"status","k":429`},
	{code: apierr.Overloaded, fault: `"status","k":503`},
	{code: apierr.UpstreamReset, fault: `"die_before_headers"`},
	{code: apierr.UpstreamProtocolError, fault: `"garbage"`},
	{code: apierr.UpstreamTimeout, fault: `"hang"`},
}

// provoke asks at each surface, whole and streamed, and notes the codes that were answered.
func (w *world) provoke(rows map[apierr.Code]*pageCode, p provocation) {
	w.T.Helper()
	if p.fault != "" {
		w.Fault("systems-0", `{"times":0,"kind":`+p.fault+`}`)
		defer w.clearFaults("systems-0")
	}
	for i := range surfaces {
		s := &surfaces[i]
		if p.chat && s.mode != "" {
			continue
		}
		for _, stream := range []bool{false, true} {
			body, model := p.request(s, stream)
			param := ""
			if len(p.params) > 0 {
				param = p.params[min(i, len(p.params)-1)]
			}
			h := w.askAt(s, body, stream, append(slices.Clone(p.headers), "X-Request-Id", "r1")...)
			h.failsWith(w.T, p.code, param, "r1")
			w.names(p, s, h, model)
			if h.Code == string(p.code) {
				rows[p.code].seenAt[fmt.Sprint(s.name, stream)] = true
			}
		}
	}
	w.provokeBeside(p)
}

// Issue 20, contract §12: whatever can be provoked comes in the shape of the door, whole and streamed. It names the
// specialist in X-Specialist if one was chosen, and none before.
func TestEveryCodeIsAnsweredInTheShapeOfItsDoor(t *testing.T) {
	rows := pageCodes(t)
	w := newWorld(t, smallWorld, smallEngines(), impatient("limits.body_bytes=64KiB", "limits.json_depth=16",
		"limits.max_queue_wait=100ms", "limits.ttft_timeout=700ms", "limits.answer_timeout=700ms",
		"limits.body_timeout=300ms", "intents.review.priority_floor=3")...)
	w.Post("/v1/chat/completions", hello, "Idempotency-Key", "used")
	for _, p := range provocations {
		w.provoke(rows, p)
	}
	w.provokeLate(rows)
	provokeFull(t, rows)
	provokeKeys(t, rows)
	provokeDeath(t, rows)
	provokeChosen(t, rows)
	foreign, _ := newBuiltinWorld(t, "router.reject=refuse")
	foreign.provoke(rows, provocation{code: apierr.NoSpecialist, before: true, ask: func(stream bool) *conversation {
		return ask("", "Simmer the onions in butter and add the rice, then stir for twenty minutes.", 9, stream)
	}})
	// What is at no door: TestEveryCodeIsSpelledAtEachDoor spells it.
	elsewhere := []apierr.Code{apierr.ReceiptNotFound, apierr.RouteNotFound}
	for code, row := range rows {
		if n := len(row.seenAt); n != 2*len(surfaces) && !slices.Contains(elsewhere, code) {
			t.Errorf("%s was answered at %d of %d: %v", code, n, 2*len(surfaces), row.seenAt)
		}
	}
}

// provokeLate sends bodies that do not come, and asks in a way that no door has.
func (w *world) provokeLate(rows map[apierr.Code]*pageCode) {
	w.T.Helper()
	for i := range surfaces {
		s := &surfaces[i]
		for _, head := range []string{"GET %s HTTP/1.1\r\nHost: x\r\nX-Request-Id: r1\r\n\r\n",
			"POST %s HTTP/1.1\r\nHost: x\r\nX-Request-Id: r1\r\nContent-Type: application/json\r\n" +
				"Content-Length: 100\r\n\r\n{"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.Data, "http://"))
			if err != nil {
				w.T.Fatal(err)
			}
			fmt.Fprintf(conn, head, s.path)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				w.T.Fatal(err)
			}
			buf := make([]byte, resp.ContentLength)
			n, _ := resp.Body.Read(buf)
			conn.Close()
			said, err := s.whole(buf[:n])
			row := rows[apierr.Code(said.Code)]
			if err != nil || row == nil || row.status != resp.StatusCode || said.RequestID != "r1" {
				w.T.Errorf("%s: %v, status %d: %s", s.name, err, resp.StatusCode, buf[:n])
				continue
			}
			row.seenAt[s.name+"false"], row.seenAt[s.name+"true"] = true, true // nothing tells that it is to stream
		}
	}
}

// provokeFull asks while a stream holds most of the pool.
func provokeFull(t *testing.T, rows map[apierr.Code]*pageCode) {
	t.Helper()
	w := newWorld(t, smallWorld, smallEngines(), "limits.max_queue_wait=100ms", "limits.idle_timeout=1m")
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1,"times":0}`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	w.Ask(ctx, "/v1/chat/completions", surfaces[0].body(wordy("systems", "first", 6000)(true)))
	w.provoke(rows, provocation{code: apierr.KVExhausted, ask: wordy("systems", "word", 6000)})
	w.provoke(rows, provocation{code: apierr.DeadlineUnachievable, ask: wordy("systems", "word", 6000),
		headers: []string{"X-Deadline-Ms", "50"}})
}

// provokeKeys asks with keys that may not.
func provokeKeys(t *testing.T, rows map[apierr.Code]*pageCode) {
	t.Helper()
	auth := []string{"Authorization", "Bearer " + key}
	w := newWorld(t, smallWorld, smallEngines(), append(tenants("auth.tenants[0].priority_policy=refuse"),
		"auth.tenants[0].specialists[0]=systems")...)
	w.provoke(rows, provocation{code: apierr.InvalidAPIKey, before: true, params: []string{"Authorization"}})
	w.provoke(rows, provocation{code: apierr.PriorityNotAllowed, before: true, params: []string{"X-Priority"},
		headers: append(auth, "X-Priority", "6")})
	w.provoke(rows, provocation{code: apierr.PermissionDenied, params: []string{"model"}, headers: auth,
		ask: func(stream bool) *conversation { return ask("debug", "x", 4, stream) }})
	spent := newWorld(t, smallWorld, smallEngines(), tenants("auth.tenants[0].rate.tokens_per_minute=20")...)
	spent.Post("/v1/chat/completions", hello, auth...)
	spent.provoke(rows, provocation{code: apierr.QuotaExceeded, headers: auth})
}

// provokeDeath asks for an engine whose breaker is open, and for one that is gone.
func provokeDeath(t *testing.T, rows map[apierr.Code]*pageCode) {
	t.Helper()
	w := newWorld(t, smallWorld, smallEngines(), "fleet.breaker.open_for=1h")
	w.Fault("systems-0", `{"kind":"`+emulator.DieBeforeHeaders+`","times":0}`)
	answers := func(code apierr.Code) func() bool {
		return func() bool {
			_, answer := w.Post("/v1/chat/completions", systems)
			return strings.Contains(string(answer), string(code))
		}
	}
	eventually(t, "the breaker is open", answers(apierr.BreakerOpen))
	w.provoke(rows, provocation{code: apierr.BreakerOpen})
	w.Engines["systems-0"].Kill()
	eventually(t, "the engine is known to be gone", answers(apierr.NoHealthyReplica))
	w.provoke(rows, provocation{code: apierr.NoHealthyReplica})
}
