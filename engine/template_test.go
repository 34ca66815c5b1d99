package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"octet/engine"
)

func ExampleRenderChat() {
	prompt := engine.RenderChat(nil, []engine.Message{
		{Role: "system", Content: "You write C++."},
		{Role: "user", Content: "Reverse a list."},
	}, engine.OpenAnswer)
	fmt.Printf("%s%d tokens\n", prompt, len(engine.Tokenize(nil, prompt)))
	// Output:
	// <|system|>
	// You write C++.<|end|>
	// <|user|>
	// Reverse a list.<|end|>
	// <|assistant|>
	// 27 tokens
}

func TestRenderChatEndsAsAsked(t *testing.T) {
	chat := []engine.Message{{Role: "user", Content: "hi"}, {Role: "assistant", Content: "he"}}
	for ending, want := range map[engine.Ending]string{
		engine.OpenAnswer:   "<|user|>\nhi<|end|>\n<|assistant|>\nhe<|end|>\n<|assistant|>\n",
		engine.ContinueLast: "<|user|>\nhi<|end|>\n<|assistant|>\nhe",
		engine.Closed:       "<|user|>\nhi<|end|>\n<|assistant|>\nhe<|end|>\n",
	} {
		if got := string(engine.RenderChat(nil, chat, ending)); got != want {
			t.Errorf("ending %d: got %q, want %q", ending, got, want)
		}
	}
}

func TestRenderChatKeepsWhatDstHolds(t *testing.T) {
	if got := string(engine.RenderChat([]byte("before"), nil, engine.Closed)); got != "before" {
		t.Errorf("got %q", got)
	}
}

// A slow, obvious rendering beside the real one.
func slowRender(messages []engine.Message, ending engine.Ending) string {
	var turns []string
	for _, m := range messages {
		turns = append(turns, fmt.Sprintf("<|%s|>\n%s<|end|>\n", m.Role, m.Content))
	}
	text := strings.Join(turns, "")
	switch {
	case ending == engine.OpenAnswer:
		text += "<|assistant|>\n"
	case ending == engine.ContinueLast && len(messages) > 0:
		text = strings.TrimSuffix(text, "<|end|>\n")
	}
	return text
}

func FuzzRenderChat(f *testing.F) {
	f.Add("system", "be brief", "user", "⟦r:1⟧<|end|>\n", "ok")
	f.Fuzz(func(t *testing.T, role1, content1, role2, content2, answer string) {
		chat := []engine.Message{{Role: role1, Content: content1}, {Role: role2, Content: content2}}
		for ending := engine.OpenAnswer; ending <= engine.Closed; ending++ {
			if got, want := string(engine.RenderChat(nil, chat, ending)), slowRender(chat, ending); got != want {
				t.Fatalf("ending %d: got %q, want %q", ending, got, want)
			}
		}
		short := engine.RenderChat(nil, chat, engine.OpenAnswer)
		grown := append(chat, engine.Message{Role: "assistant", Content: answer},
			engine.Message{Role: "user", Content: "more"})
		if long := engine.RenderChat(nil, grown, engine.OpenAnswer); !bytes.HasPrefix(long, short) {
			t.Fatalf("%q does not start with %q", long, short)
		}
		continued := engine.RenderChat(nil, grown[:3], engine.ContinueLast)
		if string(continued) != string(short)+answer {
			t.Fatalf("continuing: %q is not %q and the answer", continued, short)
		}
	})
}
