package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/gateway/doors"
	"octet/gateway/doors/doorstest"
	"octet/gateway/doors/messages"
	"octet/gateway/doors/responses"
	"octet/gateway/intake"
	"octet/gateway/receipt"
	"octet/gateway/wire"
)

// wordings are pieces of what is said: escapes, other scripts, and what other surfaces could take for their own.
var wordings = []string{"why does it crash", "std::vector<int> v;\n\tv.at(9);", `"quoted" \ and é and 日本語`, "",
	`{"type":"text","text":"x"}`, "<tool_call>\n{}</tool_call>", " \r\n ", "a\u0000b\u007f", "Error: ", "🙂 ok",
	strings.Repeat("the same prefix again and again; ", 12)}

// writer makes conversations of a seed.
type writer struct{ *rand.Rand }

func writerOf(seed uint64) writer { return writer{rand.New(rand.NewPCG(seed, 20))} }

func (w writer) words() string {
	text := wordings[w.IntN(len(wordings))]
	for w.IntN(3) == 0 {
		text += " " + wordings[w.IntN(len(wordings))]
	}
	return text
}

func (w writer) chance(n int) bool { return w.IntN(n) == 0 }

// begin makes a conversation of one question.
func (w writer) begin(model string) *conversation {
	c := &conversation{model: model, most: 4 + w.IntN(20), stream: w.chance(2)}
	if w.chance(2) {
		c.system = "be brief " + w.words()
	}
	for i := range w.IntN(4) {
		c.tools = append(c.tools, fmt.Sprint("tool_", i))
	}
	if w.chance(4) {
		c.stop = []string{"zq", `"\`}[:1+w.IntN(2)]
	}
	if w.chance(2) {
		c.session = fmt.Sprint("session ", w.IntN(1000))
	}
	c.turns = append(c.turns, w.question())
	return c
}

func (w writer) question() uttered {
	q := uttered{role: "user", text: "Q " + w.words()}
	if w.chance(2) { // of the emulated engine
		q.text += fmt.Sprintf(" [[reasoning=%d text=%d calls=%d rounds=2]]", w.IntN(3), w.IntN(4), w.IntN(3))
	}
	if w.chance(4) {
		q.image = []string{"https://example.com/a.png", "data:image/png;base64,eA=="}[w.IntN(2)]
	}
	return q
}

// goOn adds an answer, what its tools return, and the next question unless the loop goes on.
func (w writer) goOn(c *conversation, answer uttered) {
	c.turns = append(c.turns, answer)
	for _, call := range answer.calls {
		c.turns = append(c.turns, uttered{role: "tool", id: call.ID, text: w.words()})
	}
	if len(answer.calls) == 0 || w.chance(3) {
		c.turns = append(c.turns, w.question())
	}
	c.stream, c.most = w.chance(2), 4+w.IntN(60)
}

// invented is an answer as a client could have it from elsewhere.
func (w writer) invented(turn int) uttered {
	a := uttered{role: "assistant", text: "A " + w.words()}
	for i := range w.IntN(3) {
		arguments, _ := json.Marshal(object{"path": w.words(), "n": i})
		a.calls = append(a.calls, doorstest.Call{ID: fmt.Sprintf("call_%d_%d", turn, i), Name: fmt.Sprint("tool_", i),
			Arguments: string(arguments)})
	}
	return a
}

// speaks returns true if a surface has words for a conversation: Responses has no stop strings.
func (s *surface) speaks(c *conversation) bool { return len(c.stop) == 0 || s.name != "responses" }

// parsed is a conversation as the line sees it that comes by a surface.
func (s *surface) parsed(t *testing.T, c *conversation) *wire.Request {
	t.Helper()
	body := []byte(s.body(c))
	if door := map[string]doors.Door{"messages": messages.Door{}, "responses": responses.Door{}}[s.name]; door != nil {
		chat, _, err := doorstest.Translate(door, string(body))
		if err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		body = chat
	}
	r := new(wire.Request)
	if err := wire.Parse(wire.Chat, body, wire.Limits{}, r); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return r
}

// Issue 20: what a conversation hashes to does not depend on the door that it comes by.
func TestAConversationHasOneWordingAtAllDoors(t *testing.T) {
	longest := 0
	for seed := range uint64(300) {
		w := writerOf(seed)
		c := w.begin("debug")
		for turn := range 1 + w.IntN(6) {
			var want []byte
			for i := range surfaces {
				s := &surfaces[i]
				if !s.speaks(c) {
					continue
				}
				r := s.parsed(t, c)
				got := bytes.Join(r.Wording(nil, intake.Frames, wire.Shown{}), nil)
				got = fmt.Appendf(got, " %d %v %d %v", r.MaxTokens, r.Stream, r.Images(), r.Stop)
				if want == nil {
					want = bytes.Clone(got)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("seed %d, turn %d, %s:\n%s\nwant\n%s", seed, turn, s.name, got, want)
				}
			}
			longest = max(longest, len(want))
			w.goOn(c, w.invented(turn))
		}
	}
	if longest < 2000 {
		t.Errorf("the longest has %d bytes", longest)
	}
}

// doorWorld has two specialists that take images, with tools.
const doorWorld = `
auth: {anonymous: true}
fleet: {probe_interval: 1h}
specialists:
  - name: debug
    tokenizer: builtin
    modalities: [text, image]
    replicas:
      - {name: debug-0, url: "http://debug-0", blocks: 1024}
      - {name: debug-1, url: "http://debug-1", blocks: 1024}
  - name: systems
    tokenizer: builtin
    modalities: [text, image]
    replicas: [{name: systems-0, url: "http://systems-0", blocks: 1024}]
`

// tale is what of an answer is the same at all doors.
type tale struct {
	Text, Reasoning, Finish     string
	Calls                       []doorstest.Call
	Prompt, Completion, Cached  int
	Specialist, RoutedBy, Hint  string
	Session                     bool
	Tokens                      receipt.Prompt
	Replica                     string
	Predicted, Delivered, Tries int
}

// finishes are the ends of answers by the words of each surface.
var finishes = map[string]string{"stop": "end", "end_turn": "end", "stop_sequence": "end", "completed": "end",
	"length": "cut", "max_tokens": "cut", "incomplete: max_output_tokens": "cut", "tool_calls": "calls",
	"tool_use": "calls"}

// taleOf asks at a surface.
func (b *bubble) taleOf(s *surface, c *conversation, id string) *tale {
	b.T.Helper()
	resp, err := b.Ask(b.T.Context(), http.MethodPost, "http://data"+s.path, s.body(c, "temperature", "0"),
		"X-Request-Id", id)
	if err != nil {
		b.T.Fatal(err)
	}
	h := s.hear(resp, c.stream)
	if h.err != nil || !h.Done || h.code != http.StatusOK {
		b.T.Fatalf("%s, %s: %v, status %d: %s", id, s.name, h.err, h.code, h.raw)
	}
	time.Sleep(time.Second) // in a bubble: the receipt is kept, and what engines hold is known
	r := new(receipt.Receipt)
	if err := json.Unmarshal([]byte(b.Read("http://data/v1/receipts/"+h.head.Get("X-Receipt-Id"))), r); err != nil {
		b.T.Fatal(err)
	}
	a := &tale{Text: h.Text, Reasoning: h.Reasoning, Finish: finishes[h.Finish], Prompt: h.Prompt,
		Completion: h.Completion, Cached: h.Cached, Specialist: h.head.Get("X-Specialist"),
		RoutedBy: h.head.Get("X-Routed-By"), Hint: h.head.Get("X-Cached-Tokens"), Session: r.Asked.Session,
		Tokens: r.Prompt, Replica: r.Attempts[0].Replica, Predicted: r.Attempts[0].PredictedTokens,
		Delivered: *r.Attempts[0].DeliveredTokens, Tries: len(r.Attempts)}
	if a.Finish != "cut" { // what of a call that was cut is told differs between engines' own doors
		a.Calls = called(h.Calls)
	}
	if s.name == "responses" && a.Finish == "end" && len(a.Calls) > 0 {
		a.Finish = "calls" // it has one word for both
	}
	return a
}

// called are calls with their arguments in one form, as Messages has them as JSON.
func called(calls []doorstest.Call) []doorstest.Call {
	for i, call := range calls {
		var arguments any
		if err := json.Unmarshal([]byte(call.Arguments), &arguments); err == nil {
			compact, _ := json.Marshal(arguments)
			calls[i].Arguments = string(compact)
		}
	}
	return calls
}

// talesOf holds the conversations of all seeds at a surface of a world of its own, in virtual time: what goes by time
// goes alike.
func talesOf(t *testing.T, s *surface, text string) (tales []*tale) {
	synctest.Test(t, func(t *testing.T) {
		engines := smallEngines()
		if s.mode == "native" {
			engines = nativeEngines()
		}
		for i := range engines {
			engines[i].Text, engines[i].Blocks = text, 1024
		}
		b := newBubble(t, engines)
		b.Serve(doorWorld)
		time.Sleep(time.Second)
		for seed := range uint64(12) {
			w := writerOf(seed)
			c := w.begin([]string{"", "debug", "systems"}[w.IntN(3)])
			c.stop = nil // Responses has none
			for turn := range 4 {
				got := b.taleOf(s, c, fmt.Sprintf("s%d-%d", seed, turn))
				tales = append(tales, got)
				w.goOn(c, uttered{role: "assistant", text: got.Text, calls: got.Calls})
			}
		}
	})
	return tales
}

// Issue 20: the same conversation, turn by turn, has the same specialist, replica, hits, text, calls and usage at all
// doors, be it streamed or whole.
func TestAConversationIsTheSameAtAllDoors(t *testing.T) {
	for _, text := range []string{emulator.TextTiny, emulator.TextTools} {
		t.Run(text, func(t *testing.T) {
			want := talesOf(t, &surfaces[0], text)
			for _, s := range slices.Concat(surfaces[1:], natives()) {
				for n, got := range talesOf(t, &s, text) {
					if !reflect.DeepEqual(got, want[n]) {
						t.Fatalf("conversation %d, turn %d, %s %s:\n%+v\nwant\n%+v", n/4, n%4, s.mode, s.name, got,
							want[n])
					}
				}
			}
			hits, calls, at := 0, 0, map[string]bool{}
			for _, a := range want {
				hits += a.Delivered
				calls += len(a.Calls)
				at[a.Replica] = true
			}
			if hits < 500 || len(at) < 3 || text == emulator.TextTools && calls < 4 {
				t.Errorf("%d tokens were hit, %d calls, replicas %v", hits, calls, at)
			}
		})
	}
}
