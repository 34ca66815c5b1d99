package plan

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/tenant"
	"octet/gateway/wire"
	"octet/routing"
)

// GAIE-04, MOD3-51: what plugins know of a request is its model, its body by kind, and what its headers ask for; the
// clock is the gateway's.
func TestPluginsKnowWhatWasAskedFor(t *testing.T) {
	now := time.Unix(1000, 0)
	facts := func(kind wire.Kind, body string, in intake.Intent) (got struct {
		kind, prompt string
		ttft, total  time.Duration
	}) {
		p := Plan{Specialist: &ensemble.Specialist{Name: "debug"}, Adapter: "gdb-v2"}
		r := &intake.Request{Tenant: &tenant.Tenant{Name: "acme"}, Kind: kind, Body: &intake.Body{Bytes: []byte(body)},
			ID: "r1", Intent: in, Stream: true}
		if err := wire.Parse(kind, r.Bytes, wire.Limits{Depth: 64, Messages: 100}, &r.Parsed); err != nil {
			t.Fatal(err)
		}
		var f routing.Facts
		p.state(r, &Ask{Now: now}, &f)
		if f.RequestID != "r1" || f.Specialist != "debug" || f.Adapter != "gdb-v2" || f.Tenant != "acme" ||
			f.Session != "s" || f.Priority != 7 || f.Intent != "debug" ||
			f.Headers.Value("X-Region") != "eu" || f.Headers.Value("X-Zone") != "" ||
			f.MaxTokens != 5 || !f.Stream || f.Dry || f.Replica != "" || !f.Now.Equal(now) || string(f.Body) != body {
			t.Errorf("%+v", f)
		}
		if said := string(bytes.Join(f.Pieces(), nil)); said != string(f.Text(nil)) {
			t.Errorf("in pieces %q, rendered %q", said, f.Text(nil))
		}
		got.kind, got.prompt, got.ttft, got.total = f.Kind, string(f.Text(nil)), f.TTFT, f.Total
		return got
	}
	shown := routing.Headers{{Name: "X-Region", Value: "eu"}}
	asked := intake.Intent{Intent: "debug", Headers: shown, Session: "s", Priority: 7,
		TTFTDeadline: now.Add(200 * time.Millisecond),
		Deadline:     now.Add(3 * time.Second)}
	chat := facts(wire.Chat, `{"model":"debug","max_tokens":5,"messages":[{"role":"user","content":"why"}]}`, asked)
	if chat.kind != "chat" || !strings.Contains(chat.prompt, "why") || chat.ttft != 200*time.Millisecond ||
		chat.total != 3*time.Second {
		t.Errorf("a chat: %+v", chat)
	}
	done := facts(wire.Completion, `{"model":"debug","max_tokens":5,"prompt":"why"}`,
		intake.Intent{Intent: "debug", Headers: shown, Session: "s", Priority: 7, Deadline: now})
	if done.kind != "completion" || done.prompt != "why" || done.ttft != 0 || done.total >= 0 {
		t.Errorf("a completion that is late already: %+v", done)
	}
}
